"""Places as the protocol counts them, from 0 in code units, and as we do, from 1 in characters."""

import re
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

from lsprotocol import types
from pygls import uris

from ppl.records import dataclass
from ppl.source import SourceText, Span

URI = re.compile(r"[A-Za-z][\w+.-]+:")
"""How a URI begins; a drive of Windows has one letter."""


@dataclass(frozen=True)
class Positions:
    """`units` counts the code units of a text: of UTF-16, unless the client asked for others."""

    units: Callable[[str], int]

    def range(self, span: Span) -> types.Range:
        """Where a span is."""
        start = self.position(span.source, span.line, span.column)
        return types.Range(start, self.position(span.source, span.end_line, span.end_column))

    def position(self, source: SourceText, line: int, column: int) -> types.Position:
        return types.Position(line - 1, self.units(source.line(line)[: column - 1]))

    def at_offset(self, source: SourceText, offset: int) -> types.Position:
        line = source.text.count("\n", 0, offset) + 1
        return self.position(source, line, offset - source.text.rfind("\n", 0, offset))

    def place(self, source: SourceText, position: types.Position) -> tuple[int, int]:
        """Line and column; a place after the end of a line is its end."""
        text = source.line(position.line + 1)
        ends = range(1, len(text) + 1)
        column = bisect_right(ends, position.character, key=lambda end: self.units(text[:end]))
        return position.line + 1, column + 1

    def offset(self, source: SourceText, position: types.Position) -> int:
        line, column = self.place(source, position)
        return min(sum(len(text) + 1 for text in source.lines[: line - 1]) + column - 1, len(source.text))


def file_of(uri: str) -> str:
    """The path that a URI stands for; a text that is no file yet goes by its URI."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return path or uri


def uri_of(file: str) -> str:
    """The URI of a file."""
    if URI.match(file):
        return file
    return uris.from_fs_path(str(Path(file).resolve())) or file
