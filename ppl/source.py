"""The program text and places in it: every diagnostic is drawn from two records."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ppl.printable import printable

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


@dataclass(frozen=True, slots=True)
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
        return printable(f"{self.source.name}:{self.line}:{self.column}")

    def holds(self, line: int, column: int) -> bool:
        """Whether a place is in it; the place after its last character is."""
        return (self.line, self.column) <= (line, column) <= (self.end_line, self.end_column)

    @property
    def text(self) -> str:
        """The text of the span."""
        lines = [self.source.line(number) for number in range(self.line, self.end_line + 1)]
        lines[-1] = lines[-1][: self.end_column - 1]
        lines[0] = lines[0][self.column - 1 :]
        return "\n".join(lines)

    def to(self, end: "Span") -> "Span":
        """From the end of this to the start of another that follows in the same file."""
        return Span(self.source, self.end_line, self.end_column, end.line, end.column)

    def through(self, end: "Span") -> "Span":
        """From the start of this to the end of another that follows in the same file."""
        return Span(self.source, self.line, self.column, end.end_line, end.end_column)

    def on_line_of(self, whole: "Span") -> "Span":
        """This, or the whole that it is part of where that begins on an earlier line."""
        return self if self.line == whole.line else whole

    def describe(self) -> str:
        """`file:line:column` and the line itself with carets under the span."""
        return f"{self.place}\n{self.excerpt()}"

    def excerpt(self) -> str:
        """The line with its number and, under it, carets; of a long line the part around the span."""
        text = printable(self.source.line(self.line), kept="", replace=lambda character: " ")
        gutter = f"{self.line:>5} | "
        start, end = self.column - 1, self.end_column - 1 if self.end_line == self.line else len(text)
        text, shift = window(text, start, WIDTH - len(gutter))
        start, end = start - shift, min(end - shift, len(text))
        carets = " " * start + "^" * max(1, end - start)
        return f"{gutter}{text}\n{' ' * (len(gutter) - 2)}| {carets}"


def window(text: str, at: int, width: int) -> tuple[str, int]:
    """A part of `text` no longer than `width` that holds position `at`, and how far it is shifted."""
    if len(text) <= width:
        return text, 0
    first = max(0, min(at - width // 3, len(text) - width + 3))
    left, right = "..." if first else "", "..." if first + width < len(text) else ""
    middle = text[first + len(left) : first + width - len(right)]
    return left + middle + right, first
