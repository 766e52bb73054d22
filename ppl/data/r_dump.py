"""R's dump of data: `name <- value`, a value a number, `c(...)`, `a:b` or `structure(..., .Dim = c(...))`.

The text is read, never run. Sources: CmdStan User's Guide, "RDump Format for CmdStan"; R's pages `dump` and
`.deparseOpts`: R 4 writes `dim =` for `.Dim =`, names inside `c(...)`, and every other attribute.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from ppl.data.bounded_read import BadText, characters, room, too_much
from ppl.data.values import MOST_AXES
from ppl.errors import in_a_line

NUMBER = r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?L?|(?:Inf|NaN)\b)"
TOKEN = re.compile(
    rf"""(?P<space>[\s;]+|\#[^\n]*)
      | (?P<row>c\s*\(\s*{NUMBER}(?:\s*,\s*{NUMBER})*+\s*\))
      | (?P<missing>(?:NA(?:_integer_|_real_|_character_)?|NULL)\b)
      | (?P<logical>(?:TRUE|FALSE)\b)
      | (?P<number>{NUMBER})
      | (?P<name>[A-Za-z.][\w.]*)
      | (?P<quoted>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|`[^`\n]*`)
      | (?P<sign><-|[=(),:\[\]{{}}])
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
FRACTION = re.compile("[.eEIN]")
MOST_DIGITS = 18
"""Longer numbers are read as doubles: they may be beyond 64 bits."""
MOST_LEVELS = 100
"""Levels of c(...) and structure(...) inside each other."""
BYTES_A_VALUE = 8
"""Memory of a value that is not written out, as of `1:n`."""
SIZES = (".Dim", "dim")
"""The attribute that is read; all others are ignored."""
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")
END = ("end", "the end of the text", 0)


def parse_r_dump(text: bytes) -> dict[str, Any]:
    """The variables of a dump: numbers, and ndarrays whose axes are those of `.Dim`; None for NA.

    Raises:
        BadText: something else stands there, or there is no room for all values.

    Example:
        >>> parse_r_dump(b"N <- 2L\\nX <- structure(1:4, .Dim = c(2, 2))")
        {'N': 2, 'X': array([[1, 3],
               [2, 4]])}
    """
    return dict(TokenReader(characters(text)).variables())


class TokenReader:
    """The tokens of a text, (kind, text, place), read one after the other; a row of numbers is one token."""

    def __init__(self, text: str):
        self.text, matches = text, TOKEN.finditer(text)
        self.tokens = ((str(m.lastgroup), m.group(), m.start()) for m in matches if m.lastgroup != "space")
        self.now = next(self.tokens, END)
        self.depth, self.most = 0, room()
        self.room = self.most

    def wrong(self, message: str, token: tuple[str, str, int]) -> BadText:
        at = len(self.text) if token is END else token[2]
        return BadText(message, self.text.count("\n", 0, at) + 1)

    def found(self, token: tuple[str, str, int], needs: str) -> BadText:
        return self.wrong(f"found {in_a_line(token[1])}, where {needs} should stand", token)

    def take(self) -> tuple[str, str, int]:
        taken, self.now = self.now, next(self.tokens, END)
        return taken

    def expect(self, *texts: str) -> str:
        taken = self.take()
        if taken[1] not in texts:
            raise self.found(taken, " or ".join(texts))
        return taken[1]

    def variables(self) -> Iterator[tuple[str, Any]]:
        names: set[str] = set()
        while self.now is not END:
            kind, name, _ = token = self.take()
            if kind not in ("name", "quoted"):
                raise self.found(token, "the name of a variable")
            name = unquoted(name)
            if name in names:
                raise self.wrong(f"`{in_a_line(name)}` is given twice", token)
            names.add(name)
            self.expect("<-", "=")
            yield name, self.value()

    def value(self) -> Any:
        return self.value_from(self.take())

    def value_from(self, token: tuple[str, str, int]) -> Any:
        """The value that begins with a token already taken."""
        kind, word, _ = token
        match kind:
            case "row":
                return self.numbers(token)
            case "number":
                first = self.number(token)
                return self.range_from(first, token) if self.now[1] == ":" else first
            case "missing":
                return None
            case "logical":
                return int(word == "TRUE")
            case "quoted" if word[0] != "`":
                return unquoted(word)
        call = self.calls().get(word)
        if call is None:
            raise self.found(token, "a number, c(...) or structure(...)")
        self.expect("(")
        self.depth += 1
        if self.depth > MOST_LEVELS:
            raise self.wrong(f"values are nested more than {MOST_LEVELS} deep", token)
        value = call()
        self.depth -= 1
        return value

    def calls(self) -> Mapping[str, Callable[[], Any]]:
        return {
            "c": self.combined,
            "list": self.listed,
            "structure": self.structure,
            "integer": lambda: self.zeros(np.int64),
            "double": lambda: self.zeros(float),
            "numeric": lambda: self.zeros(float),
        }

    def number(self, token: tuple[str, str, int]) -> int | float:
        word = token[1].replace("L", "")
        if len(word) <= MOST_DIGITS and not FRACTION.search(word):
            return int(word)
        if math.isinf(value := float(word)) and "Inf" not in word:
            raise self.wrong(f"{in_a_line(word)} is beyond double precision", token)
        return value

    def numbers(self, token: tuple[str, str, int]) -> Any:
        """Those of a row: int64 where all are whole, else doubles."""
        _, text, place = token
        words = text[text.index("(") + 1 : -1].replace("L", "").split(",")
        if not FRACTION.search(text) and len(max(words, key=len)) <= MOST_DIGITS:
            return np.array(list(map(int, words)))
        values = np.array(list(map(float, words)))
        for k in np.flatnonzero(np.isinf(values)):
            self.number(("number", words[k].strip(), place + text.find(words[k].strip())))
        return values

    def range_from(self, first: int | float, token: tuple[str, str, int]) -> Any:
        self.take()
        last_token = self.take()
        last = self.number(last_token) if last_token[0] == "number" else None
        if not (isinstance(first, int) and isinstance(last, int)):
            raise self.wrong("a range goes from one integer to another, such as 1:10", token)
        step = 1 if last >= first else -1
        self.make_room(abs(last - first) + 1, token)
        return np.arange(first, last + step, step)

    def make_room(self, count: int, token: tuple[str, str, int]) -> None:
        """Refuse so many values that are not written out where memory does not hold them."""
        self.room -= BYTES_A_VALUE * count
        if self.room < 0:
            what = f"with these {count} values the file holds more than"
            raise self.wrong(too_much(what, self.most), token)

    def combined(self) -> Any:
        """The values after `c(`, in one row; one value with a name is what R writes for a named number."""
        names, parts = self.items()
        if any(isinstance(part, str | list | dict) for part in parts):
            return parts
        if len(parts) == 1 and names[0] and np.isscalar(parts[0]):
            return parts[0]
        runs = [
            run
            for scalar, group in groupby(parts, lambda part: part is None or np.isscalar(part))
            for run in ([list(group)] if scalar else group)
        ]
        return np.concatenate([np.ravel(run, order="F") for run in runs]) if runs else np.zeros(0)

    def listed(self) -> list[Any] | dict[str, Any]:
        """The values after `list(`: by name where all have one, as the columns of a data frame do."""
        names, parts = self.items()
        return dict(zip(names, parts, strict=True)) if parts and all(names) else parts

    def items(self) -> tuple[list[str], list[Any]]:
        """The names, "" for none, and values up to the end of a call."""
        names, parts = list[str](), list[Any]()
        more = self.now[1] != ")" or self.expect(")") == ","
        while more:
            token, name = self.take(), ""
            if token[0] in ("name", "quoted") and self.now[1] == "=":
                self.take()
                token, name = self.take(), unquoted(token[1])
            names.append(name)
            parts.append(self.value_from(token))
            more = self.expect(",", ")") == ","
        return names, parts

    def structure(self) -> Any:
        """The value after `structure(`, with the sizes among its attributes."""
        value = self.value()
        while self.expect(",", ")") == ",":
            attribute = unquoted(self.take()[1])
            self.expect("=")
            if attribute in SIZES:
                value = self.sized(value)
            else:
                self.skip_value()
        return value

    def sized(self, value: Any) -> Any:
        token, values = self.now, np.atleast_1d(value)
        sizes = [self.whole(size, "a size in .Dim", token) for size in np.ravel(self.value()).tolist()]
        if math.prod(sizes) != values.size or len(sizes) > MOST_AXES:
            shape = in_a_line("x".join(map(str, sizes)))
            raise self.wrong(f"{values.size} values have no .Dim of {shape}", token)
        return values.reshape(sizes, order="F")

    def skip_value(self) -> None:
        """Whatever stands up to the next comma or the end of this call: an attribute may be any R code."""
        depth = 0
        while depth or self.now[1] not in (",", ")"):
            token = self.take()
            if token is END:
                raise self.found(token, ")")
            depth += (token[1] in OPENING) - (token[1] in CLOSING)

    def zeros(self, dtype: Any) -> Any:
        """The zeros of `integer(` and the like, by their number."""
        token = self.now
        count = self.whole(self.value(), "the number of zeros", token)
        self.expect(")")
        self.make_room(count, token)
        return np.zeros(count, dtype)

    def whole(self, number: Any, what: str, token: tuple[str, str, int]) -> int:
        if not (isinstance(number, int | float) and 0 <= number < math.inf and number % 1 == 0):
            raise self.wrong(f"{what} must be an integer of at least 0", token)
        return int(number)


def unquoted(name: str) -> str:
    return name[1:-1] if name[0] in "\"'`" else name
