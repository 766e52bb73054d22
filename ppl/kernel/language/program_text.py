"""The text of a program: read from a file, and changed by fixes."""

import re
from collections.abc import Iterable
from pathlib import Path

from ppl.errors import Fix, ModelError
from ppl.files import require_file
from ppl.source import SourceText, Span

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OTHER_ENCODINGS = (
    *(("UTF-32", b"\xff\xfe\x00\x00"), ("UTF-32", b"\x00\x00\xfe\xff")),
    *(("UTF-16", b"\xff\xfe"), ("UTF-16", b"\xfe\xff")),
)
"""What files in them begin with."""


def with_fixes(text: str, fixes: Iterable[Fix]) -> str:
    """The text with changes that do not overlap."""
    for fix in sorted(fixes, key=lambda f: (f.span.line, f.span.column), reverse=True):
        start = offset(text, fix.span.line, fix.span.column)
        end = offset(text, fix.span.end_line, fix.span.end_column)
        text = text[:start] + fix.text + text[end:]
    return text


def offset(text: str, line: int, column: int) -> int:
    """Where a place stands; lines and columns count from 1."""
    return sum(len(each) + 1 for each in text.split("\n")[: line - 1]) + column - 1


def read_source(program: str | Path) -> SourceText:
    """A path names a file; text with a block, a line break or nothing but a comment is the program itself."""
    if isinstance(program, str) and (re.search(r"[{\n]", program) or re.match(r"\s*($|//\s|/\*)", program)):
        return SourceText(program)
    return read_text(Path(program))


def read_text(path: Path) -> SourceText:
    """A file of UTF-8 text; the byte order mark that some editors put first is no part of it.

    Raises:
        ModelError: it is in another encoding; at the first byte that shows it.
        MissingFile: it is not there.
        OSError: it cannot be read.
    """
    held = require_file(path).read_bytes().removeprefix(BYTE_ORDER_MARK)
    encoding, mark = next((known for known in OTHER_ENCODINGS if held.startswith(known[1])), ("", b""))
    try:
        if mark:
            raise UnicodeDecodeError("utf-8", held, 0, 1, encoding)
        text = held.decode("utf-8")
    except UnicodeDecodeError as error:
        before = held[: error.start].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        source = SourceText(held.decode("latin-1") if not mark else "", str(path))
        no_character = f"byte {error.start + 1} is not part of a character"
        what = f"The file is not UTF-8 text: {f'it begins as {encoding} does' if mark else no_character}."
        place = Span(source, line, column, line, column + 1)
        raise ModelError(what, place, "Save it as UTF-8.", "PPL182") from None
    return SourceText(text.replace("\r\n", "\n").replace("\r", "\n"), str(path))
