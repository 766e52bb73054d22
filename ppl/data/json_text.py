"""JSON read one piece at a time, so that a long array of numbers never exists as Python objects.

The format is RFC 8259 with NaN, Inf and Infinity as further numbers, and no name twice in an object.
"""

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ppl.data.bounded_read import BadText
from ppl.data.values import NOT_FINITE, compact
from ppl.errors import in_a_line

PARSED_BYTES = 1 << 16
"""Bytes of an array that are parsed at a time."""
DEEPEST_JSON = 200
"""Levels of arrays and objects inside an array: from 3.13 on Python decodes any number of them."""
WHITESPACE = re.compile(rb"[ \t\r\n]*")
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
WORD = re.compile(rb'[^\s,:\[\]{}"]++')
WORD_OR_STRING = re.compile(STRING.pattern + b"|" + WORD.pattern, re.DOTALL)
OVERFLOWS = re.compile(rb"-?\d++(?:\.\d++)?[eE]\+?\d{2,}|-?\d{309,}+\.\d++")
"""A number with an exponent or digits by which it may be beyond double precision."""
BARE_INF = re.compile(r'("(?:[^"\\]++|\\.)*+")|\bInf\b', re.DOTALL)
WORD_OF_LETTERS = re.compile(rb"[A-Za-z]\w*(?=[\s:])")
LITTLE = 100
"""Bytes before a sign in which a comma is looked for."""
DELIMITER = re.compile(r'[\s,:\[\]{}"]')
MISSING = "in JSON a missing value is null"
FOREIGN_WORDS = {
    **dict.fromkeys(("NA", "None", "NULL", "missing"), MISSING),
    **dict.fromkeys(("TRUE", "FALSE", "True", "False"), "write 1 or 0"),
    **dict.fromkeys(("inf", "infinity", "+inf", "+Inf", "+Infinity"), "write Infinity"),
    **dict.fromkeys(("-inf", "-infinity"), "write -Infinity"),
    **dict.fromkeys(("nan", "NAN"), "write NaN"),
}
"""Values as R, Python and others write them."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Repeated(Exception):
    """An object has a name twice."""


def parse_json(text: bytes) -> dict[str, Any]:
    """The object that `text` is; rectangular arrays of numbers are ndarrays.

    Raises:
        BadText: no JSON, not an object, or a name given twice.
    """
    start = skip(text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0)
    if text[start : start + 1] != b"{":
        words = text[start : start + 12].decode(errors="replace").split()
        shown = "nothing" if start == len(text) else f"`{' '.join(words)}`"
        rows = "; of rows pandas makes it by frame.to_dict('list')" if shown.startswith("`[") else ""
        fail(f'data are one JSON object, {{"name": value, ...}}; found {shown}{rows}', text, start)
    values, end = read_object(text, start, outermost=True)
    if skip(text, end) != len(text):
        fail("unexpected text after the end of the object", text, skip(text, end))
    return values


def skip(text: bytes, here: int) -> int:
    space = WHITESPACE.match(text, here)
    return space.end() if space else here


def fail(message: str, text: bytes, offset: int) -> NoReturn:
    line, start = text.count(b"\n", 0, offset) + 1, text.rfind(b"\n", 0, offset) + 1
    raise BadText(message, line, len(text[start:offset].decode(errors="replace")) + 1)


def read_any(text: bytes, here: int) -> tuple[Any, int]:
    """The value that begins at `here`, and where it ends."""
    match text[here : here + 1]:
        case b"{":
            return read_object(text, here)
        case b"[":
            return read_array(text, here)
        case _:
            token = STRING.match(text, here) or WORD.match(text, here)
            if token is None:
                fail("a value is expected: a number, a string, `[` or `{`", text, here)
            require_doubles(text, here, token.end())
            return decode(text, here, token.end()), token.end()


def read_object(text: bytes, start: int, outermost: bool = False) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    here = skip(text, start + 1)
    if text[here : here + 1] == b"}":
        return values, here + 1
    while True:
        name, end = read_name(text, here)
        if name in values:
            fail(f"`{name}` appears twice; give each variable once", text, here)
        try:
            values[name], end = read_any(text, end)
        except RecursionError:
            if not outermost:
                raise
            fail(f"the value of `{name}` is nested too deeply", text, here)
        here = skip(text, end)
        if text[here : here + 1] == b"}":
            return values, here + 1
        if text[here : here + 1] != b",":
            fail("`,` or `}` is expected after a value", text, here)
        here = skip(text, here + 1)


def read_name(text: bytes, here: int) -> tuple[str, int]:
    """The name in front of a colon, and where its value begins."""
    string = STRING.match(text, here)
    if string is None:
        advice = instead(text, here) or quoted(text, here)
        fail(f"the name of a variable, in double quotes, is expected{advice}", text, here)
    colon = skip(text, string.end())
    if text[colon : colon + 1] != b":":
        fail("`:` is expected after a name", text, colon)
    return decode(text, here, string.end()), skip(text, colon + 1)


def read_array(text: bytes, start: int) -> tuple[Any, int]:
    pieces: list[Any] = []
    here = start + 1
    while True:
        end = last_boundary(text, here)
        if end is None:  # the next element is longer than a window
            element, end = read_any(text, skip(text, here))
            pieces.append(compact([numeric(element)]))
            end = skip(text, end)
        else:
            values = compact(read_piece(text, start, here, end, alone=not pieces))
            if not (isinstance(values, np.ndarray) and np.isfinite(values).all()):
                require_doubles(text, here, end)
            pieces.append(values)
        match text[end : end + 1]:
            case b"]":
                return join(pieces), end + 1
            case b",":
                here = end + 1
            case _:
                fail("`,` or `]` is expected after an element", text, end)


def last_boundary(text: bytes, here: int) -> int | None:
    """Where the array that `here` is in ends, or the last comma between its elements in the window."""
    window = text[here : here + PARSED_BYTES]
    if b"\\" in window:
        window = re.sub(rb"\\.", b"__", window, flags=re.DOTALL)
    code = np.frombuffer(window, np.uint8)
    outside = ~np.logical_xor.accumulate(code == ord('"'))
    # "[" and "{", "]" and "}" differ in one bit
    bracket = code & ~np.uint8(ord("{") ^ ord("["))
    opened = (bracket == ord("[")) & outside
    closed = (bracket == (ord("]"))) & outside
    depth = np.cumsum(opened.astype(np.int8) - closed.astype(np.int8), dtype=np.int32)
    ends = np.flatnonzero(depth < 0)
    if depth[: ends[0] if len(ends) else None].max(initial=0) > DEEPEST_JSON:
        raise RecursionError
    if len(ends):
        return here + int(ends[0])
    commas = np.flatnonzero((code == ord(",")) & outside & (depth == 0))
    return here + int(commas[-1]) if len(commas) else None


def read_piece(text: bytes, start: int, here: int, end: int, alone: bool) -> list[Any]:
    """The elements between two boundaries of the array that begins at `start`."""
    try:
        values: list[Any] = decode(text, here, end, "[", "]")
    except Repeated as error:
        fail(f"an object in this array has the name `{error}` twice", text, start)
    if not values and not (alone and text[end : end + 1] == b"]"):
        fail(f"an element is missing here{instead(text, end)}", text, end)
    return [numeric(v) for v in values] if b'"' in text[here:end] else values


def require_doubles(text: bytes, here: int, end: int) -> None:
    """Refuse numbers beyond double precision, which Python reads as infinite."""
    for word in WORD_OR_STRING.finditer(text, here, end):
        if OVERFLOWS.fullmatch(word[0]) and math.isinf(float(word[0])):
            fail(f"{in_a_line(word[0].decode())} is beyond double precision", text, word.start())


def numeric(value: Any) -> Any:
    """Nested lists with "NaN", "-Inf" and the like as floats."""
    if isinstance(value, list):
        return [numeric(v) for v in value]
    return float(value) if isinstance(value, str) and NOT_FINITE.fullmatch(value) else value


def decode(text: bytes, here: int, end: int, before: str = "", after: str = "") -> Any:
    """The value of a stretch of the text, between `before` and `after`."""
    try:
        piece = text[here:end].decode()
        return DECODER.decode(before + spell_out_inf(piece) + after)
    except UnicodeDecodeError as error:
        fail("the text is not UTF-8", text, here + error.start)
    except json.JSONDecodeError as error:
        offset = here + len(piece[: error.pos - len(before)].encode())
        wrong = in_words(error, piece, error.pos - len(before))
        fail(f"not JSON: {wrong}{instead(text, offset)}", text, offset)
    except ValueError:  # Python converts no integer of more than 4300 digits
        fail("a number here has too many digits", text, here)


def in_words(error: json.JSONDecodeError, piece: str, here: int) -> str:
    """The fault at `here`: a word of R or Python, another that is no number, else what Python says."""
    before, after = DELIMITER.split(piece[:here])[-1], DELIMITER.split(piece[here:])[0]
    word = before + after
    if word in FOREIGN_WORDS:
        return f"found `{word}`; {FOREIGN_WORDS[word]}"
    if before or (after and error.msg == "Expecting value"):
        return f"`{word}` is not a number" + ("; write an array as [1, 2]" if "(" in word else "")
    if error.msg == "Expecting value":
        return "a value is expected"
    return f"{error.msg[0].lower()}{error.msg[1:]}"


def spell_out_inf(piece: str) -> str:
    """R writes Inf for what Python's JSON calls Infinity."""
    return BARE_INF.sub(lambda m: m[1] or "Infinity", piece) if "Inf" in piece else piece


def instead(text: bytes, here: int) -> str:
    """The advice on a sign that begins no value and no name."""
    match text[here : here + 1]:
        case b"}" | b"]" | b"," if text[max(0, here - LITTLE) : here].rstrip().endswith(b","):
            return "; remove the comma before it"
        case b"'":
            return "; write double quotes, not single ones"
        case b"/" | b"#":
            return "; JSON has no comments"
    return ""


def quoted(text: bytes, here: int) -> str:
    """The name that stands there without quotes, in quotes."""
    word = WORD_OF_LETTERS.match(text, here)
    return f'; write "{word[0].decode()}"' if word else ""


def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise Repeated(name)
        values[name] = value
    return values


DECODER = json.JSONDecoder(object_pairs_hook=unique)


def join(pieces: list[NDArray[Any] | list[Any]]) -> Any:
    """The elements of all pieces: an ndarray where every piece is one, and of the same shape."""
    shapes = {p.shape[1:] if isinstance(p, np.ndarray) else None for p in pieces}
    if len(shapes) == 1 and None not in shapes:
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return [v for p in pieces for v in (p.tolist() if isinstance(p, np.ndarray) else p)]
