"""The program text and places in it: every diagnostic is drawn from these two records."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SourceText:
    """A program as read: `name` is the path, or "<string>" for text handed over in Python."""

    text: str
    name: str = "<string>"

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its end; empty past the last line."""
        lines = self.text.splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else ""


@dataclass(frozen=True)
class Span:
    """A stretch of a SourceText; lines and columns are 1-based, the end is exclusive."""

    source: SourceText
    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, other: "Span") -> "Span":
        """The stretch from the start of this span to the end of the other."""
        return Span(self.source, self.line, self.column, other.end_line, other.end_column)

    def describe(self) -> str:
        """`file:line:column` and the line itself with carets under the span."""
        return f"{self.source.name}:{self.line}:{self.column}\n{self.excerpt()}"

    def excerpt(self) -> str:
        text = self.source.line(self.line).replace("\t", " ")
        last = self.end_column if self.end_line == self.line else len(text) + 1
        carets = " " * (self.column - 1) + "^" * max(1, last - self.column)
        gutter = f"{self.line:>5} | "
        return f"{gutter}{text}\n{' ' * (len(gutter) - 2)}| {carets}"
