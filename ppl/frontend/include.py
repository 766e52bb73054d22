"""`#include`: one text out of several files, each line of which remembers where it came from."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from ppl.errors import ModelError
from ppl.source import SourceText, Span, read_text

# An include inside a comment or a string is none, so those are matched first and passed over.
INCLUDE = re.compile(
    r'//[^\n]*|/\*[\s\S]*?\*/|"[^"\n]*"'
    r'|#include[ \t]+(?:"(?P<quoted>[^"\n]*)"|<(?P<angled>[^>\n]*)>|(?P<bare>\S+))'
)
LONGEST_NAME = 60
"""Characters of a file's name that a message shows."""


@dataclass(frozen=True)
class Line:
    """A line of the whole text: the file it is from, its number there and the column it starts after."""

    text: str
    source: SourceText
    number: int
    column: int = 0


class Expanded:
    """A program with its includes in place."""

    def __init__(self, lines: Sequence[Line], text: str | None = None):
        self.lines = lines
        self.text = "".join(line.text for line in lines) if text is None else text
        self.starts = list(accumulate((len(line.text) for line in lines[:-1]), initial=0))

    def with_text(self, text: str) -> "Expanded":
        """Another text at the same places: the one to go on with after an error."""
        return Expanded(self.lines, text)

    def span(self, start: int, end: int) -> Span:
        """The Span of the text between two offsets; what runs over into another file ends with its line."""
        (first, column), (last, end_column) = self.locate(start), self.locate(end)
        if last.source is not first.source:
            last, end_column = first, column + len(first.text.rstrip("\n"))
        return Span(first.source, first.number, column, last.number, end_column)

    def locate(self, offset: int) -> tuple[Line, int]:
        """The line that an offset is on and its 1-based column there."""
        index = bisect_right(self.starts, offset) - 1
        line = self.lines[index]
        return line, offset - self.starts[index] + 1 + line.column


def expand(source: SourceText, include_paths: Sequence[str | Path] = ()) -> Expanded:
    """Replace every `#include` by its file, looked for beside the including file, then in `include_paths`.

    Raises ModelError at the include when a file is missing, cannot be read or includes itself.
    """
    return Expanded(list(expanded(source, include_paths, (source,))) or [Line("", source, 1)])


def expanded(
    source: SourceText, paths: Sequence[str | Path], within: tuple[SourceText, ...]
) -> Iterator[Line]:
    done = 0
    for match in INCLUDE.finditer(source.text):
        name = match["quoted"] or match["angled"] or match["bare"]
        if name is None:
            continue
        yield from lines_between(source, done, match.start())
        at = Expanded(list(lines_between(source, 0, len(source.text)))).span(match.start(), match.end())
        included = read(name, at, paths)
        if any(included.name == outer.name for outer in within):
            raise ModelError(
                f"`{name}` includes itself.", at, "Take the file out of its own includes.", "PPL181"
            )
        yield from expanded(included, paths, (*within, included))
        done = match.end()
    yield from lines_between(source, done, len(source.text))


def lines_between(source: SourceText, start: int, end: int) -> Iterator[Line]:
    """The lines of a stretch of a file, the last one closed."""
    number = source.text.count("\n", 0, start) + 1
    column = start - (source.text.rfind("\n", 0, start) + 1)
    for text in source.text[start:end].split("\n"):
        yield Line(text + "\n", source, number, column)
        number, column = number + 1, 0


def read(name: str, at: Span, paths: Sequence[str | Path]) -> SourceText:
    """The included file."""
    beside = [Path(at.source.name).parent] if Path(at.source.name).is_file() else []
    folders = [*beside, *map(Path, paths)]
    for file in (folder / name for folder in folders):
        try:
            if file.is_file():
                return read_text(file)
        except ModelError as trouble:
            raise ModelError(f"`{file}`: {trouble.message}", at, trouble.hint, "PPL182") from None
        except (OSError, ValueError) as trouble:  # such as a name that is too long, or holds a zero byte
            why = getattr(trouble, "strerror", None) or trouble
            raise ModelError(f"`{shortened(name)}` cannot be read: {why}.", at, None, "PPL182") from None
    where = ", ".join(map(str, folders))
    raise ModelError(
        f"There is no file `{shortened(name)}` to include" + (f"; looked in {where}." if where else "."),
        at,
        None if where else "A program given as text has no folder of its own: give include paths.",
        "PPL180",
    )


def shortened(name: str) -> str:
    """The name of a file, of a very long one the beginning."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."
