"""The program text and places in it: every diagnostic is drawn from two records."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ppl.errors import Fix, Located, ModelError
from ppl.files import require_file

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OTHER_ENCODINGS = (
    *(("UTF-32", b"\xff\xfe\x00\x00"), ("UTF-32", b"\x00\x00\xfe\xff")),
    *(("UTF-16", b"\xff\xfe"), ("UTF-16", b"\xfe\xff")),
)
"""What files in them begin with."""
WIDTH = 80
"""Columns an excerpt keeps within."""


@dataclass(frozen=True)
class SourceText:
    """A program as read: `name` is the path, or "<string>" for text handed over in Python."""

    text: str
    name: str = "<string>"

    @cached_property
    def lines(self) -> Sequence[str]:
        return self.text.split("\n")

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its end; empty past the last line."""
        lines = self.lines
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


@dataclass(frozen=True)
class Span:
    """A stretch of a SourceText; lines and columns are 1-based, the end is exclusive."""

    source: SourceText
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def place(self) -> str:
        """`file:line:column`."""
        return f"{self.source.name}:{self.line}:{self.column}"

    def holds(self, line: int, column: int) -> bool:
        """Whether a place is in it; the place after its last character is."""
        return (self.line, self.column) <= (line, column) <= (self.end_line, self.end_column)

    @property
    def text(self) -> str:
        """What stands there."""
        lines = [self.source.line(number) for number in range(self.line, self.end_line + 1)]
        lines[-1] = lines[-1][: self.end_column - 1]
        lines[0] = lines[0][self.column - 1 :]
        return "\n".join(lines)

    def to(self, end: "Span") -> "Span":
        """From the end of this to the start of another that follows in the same file."""
        return Span(self.source, self.end_line, self.end_column, end.line, end.column)

    def describe(self) -> str:
        """`file:line:column` and the line itself with carets under the span."""
        return f"{self.place}\n{self.excerpt()}"

    def excerpt(self) -> str:
        """The line with its number and, under it, carets; of a long line the part around the span."""
        text = "".join(c if c.isprintable() else " " for c in self.source.line(self.line))
        gutter = f"{self.line:>5} | "
        start, end = self.column - 1, self.end_column - 1 if self.end_line == self.line else len(text)
        text, shift = window(text, start, WIDTH - len(gutter))
        start, end = start - shift, min(end - shift, len(text))
        carets = " " * start + "^" * max(1, end - start)
        return f"{gutter}{text}\n{' ' * (len(gutter) - 2)}| {carets}"


def with_fixes(text: str, fixes: Iterable[Fix]) -> str:
    """The text with changes that do not overlap."""
    for fix in sorted(fixes, key=lambda f: (f.span.line, f.span.column), reverse=True):
        start, end = offset(text, fix.span.line, fix.span.column), offset(text, *end_of(fix.span))
        text = text[:start] + fix.text + text[end:]
    return text


def end_of(span: Located) -> tuple[int, int]:
    return span.end_line, span.end_column


def offset(text: str, line: int, column: int) -> int:
    """Where a place stands; lines and columns count from 1."""
    return sum(len(each) + 1 for each in text.split("\n")[: line - 1]) + column - 1


def window(text: str, at: int, width: int) -> tuple[str, int]:
    """A part of `text` no longer than `width` that holds position `at`, and how far it is shifted."""
    if len(text) <= width:
        return text, 0
    first = max(0, min(at - width // 3, len(text) - width + 3))
    left, right = "..." if first else "", "..." if first + width < len(text) else ""
    middle = text[first + len(left) : first + width - len(right)]
    return left + middle + right, first


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
        what = (
            f"it begins as {encoding} does" if mark else f"byte {error.start + 1} is not part of a character"
        )
        raise ModelError(
            f"The file is not UTF-8 text: {what}.",
            Span(source, line, column, line, column + 1),
            "Save it as UTF-8.",
            "PPL182",
        ) from None
    return SourceText(text.replace("\r\n", "\n").replace("\r", "\n"), str(path))
