"""The text of a program: read from a file, its `#include`s in place, and changed by fixes."""

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from ppl.errors import Fix, ModelError
from ppl.files import require_file
from ppl.records import dataclass
from ppl.source import SourceText, Span

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OTHER_ENCODINGS = (
    *(("UTF-32", b"\xff\xfe\x00\x00"), ("UTF-32", b"\x00\x00\xfe\xff")),
    *(("UTF-16", b"\xff\xfe"), ("UTF-16", b"\xfe\xff")),
)
"""The first line of files in them."""


def with_fixes(text: str, fixes: Iterable[Fix]) -> str:
    """The text with changes that do not overlap."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]  # lines and columns count from 1
    parts, end = list[str](), 0
    for fix in sorted(fixes, key=lambda f: (f.span.line, f.span.column)):
        parts += [text[end : starts[fix.span.line - 1] + fix.span.column - 1], fix.text]
        end = starts[fix.span.end_line - 1] + fix.span.end_column - 1
    return "".join([*parts, text[end:]])


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


# An include inside a comment or a string is none, so those are matched first and passed over.
INCLUDE = re.compile(
    r'//[^\n]*|/\*[\s\S]*?\*/|"[^"\n]*"'
    r'|#include[ \t]+(?:"(?P<quoted>[^"\n]*)"|<(?P<angled>[^>\n]*)>|(?P<bare>\S+))'
)
LONGEST_NAME = 60
"""Characters of a file's name that a message shows."""


@dataclass(frozen=True)
class IncludedLine:
    """A line of the whole text: the file it is from, its number there and the column it starts after."""

    text: str
    source: SourceText
    number: int
    column: int = 0


class Expanded:
    """A program with its includes in place."""

    def __init__(self, lines: Sequence[IncludedLine], text: str | None = None):
        self.lines = lines
        self.text = "".join(line.text for line in lines) if text is None else text
        self.starts = list(accumulate((len(line.text) for line in lines[:-1]), initial=0))

    def with_text(self, text: str) -> "Expanded":
        """Another text at the same places: the one to go on with after an error."""
        return Expanded(self.lines, text)

    def span(self, start: int, end: int) -> Span:
        """The Span of the text between two offsets; what runs over into another file ends with its line."""
        first, column = self.locate(start)
        if end - start < len(first.text) - column + first.column:  # most end on their line
            return Span(first.source, first.number, column, first.number, column + end - start)
        last, end_column = self.locate(end)
        if last.source is not first.source:
            last, end_column = first, column + len(first.text.rstrip("\n"))
        return Span(first.source, first.number, column, last.number, end_column)

    def locate(self, offset: int) -> tuple[IncludedLine, int]:
        """The line that an offset is on and its 1-based column there."""
        index = bisect_right(self.starts, offset) - 1
        line = self.lines[index]
        return line, offset - self.starts[index] + 1 + line.column


def expand(source: SourceText, include_paths: Sequence[str | Path] = ()) -> Expanded:
    """Replace every `#include` by its file, looked for beside the including file, then in `include_paths`.

    Only files in the program's own folder, in `include_paths` and below these are read.

    Raises ModelError at the include when a file is missing, lies elsewhere, cannot be read or includes
    itself, or when there are too many.
    """
    reader = IncludeReader([*own_folder(source), *map(Path, include_paths)], include_paths)
    return Expanded(list(reader.expanded(source, (source,))) or [IncludedLine("", source, 1)])


def own_folder(source: SourceText) -> list[Path]:
    """The folder of a program that is a file."""
    return [Path(source.name).parent] if Path(source.name).is_file() else []


# A file may be included twice, so that sizes can double file by file.
MOST_NESTED_INCLUDES = 50
"""Files within each other."""
MOST_INCLUDES = 1000
"""Includes of a program, those in included files counted each time."""
MOST_INCLUDED_CHARACTERS = 10_000_000
"""Characters of all included text."""


@dataclass
class IncludeReader:
    """Reads the files that a program includes, from `folders` and below, and counts them."""

    folders: Sequence[Path]
    paths: Sequence[str | Path]
    files: int = 0
    characters: int = 0

    def expanded(self, source: SourceText, within: tuple[SourceText, ...]) -> Iterator[IncludedLine]:
        """The lines of a file, which is `within` others and last among them, with its includes in place."""
        done, whole = 0, None
        for match in INCLUDE.finditer(source.text):
            name = match["quoted"] or match["angled"] or match["bare"]
            if name is None:
                continue
            yield from lines_between(source, done, match.start())
            whole = whole or Expanded(list(lines_between(source, 0, len(source.text))))
            at = whole.span(match.start(), match.end())
            included = self.read(name, at)
            self.refuse_endless(name, included, at, within)
            yield from self.expanded(included, (*within, included))
            done = match.end()
        yield from lines_between(source, done, len(source.text))

    def refuse_endless(
        self, name: str, included: SourceText, at: Span, within: tuple[SourceText, ...]
    ) -> None:
        """Count a file that is included, and refuse it where there is no end of them."""
        if any(included.name == outer.name for outer in within):
            hint = "Remove the include of the file from itself."
            raise ModelError(f"`{shortened(name)}` includes itself.", at, hint, "PPL181")
        self.files += 1
        self.characters += len(included.text)
        for count, most, what in (
            (len(within), MOST_NESTED_INCLUDES, "files included within each other"),
            (self.files, MOST_INCLUDES, "includes"),
            (self.characters, MOST_INCLUDED_CHARACTERS, "characters of included text"),
        ):
            if count > most:
                text = f"The program has more than {most} {what}."
                raise ModelError(text, at, "Include each file once.", "PPL184")

    def read(self, name: str, at: Span) -> SourceText:
        """The included file."""
        folders = [*own_folder(at.source), *map(Path, self.paths)]
        files = [Path(os.path.normpath(folder / name)) for folder in folders]
        inside = [file for file in files if self.may_read(file)]
        for file in inside:
            try:
                if file.is_file():
                    return read_text(file)
            except ModelError as trouble:
                raise ModelError(f"`{file}`: {trouble.message}", at, trouble.hint, "PPL182") from None
            except (OSError, ValueError) as trouble:  # such as a name that is too long, or holds a zero byte
                why = getattr(trouble, "strerror", None) or trouble
                raise ModelError(f"`{shortened(name)}` cannot be read: {why}.", at, None, "PPL182") from None
        searched, short_name = ", ".join(map(str, folders)), shortened(name)
        if len(inside) < len(files):
            may = ", ".join(f"`{folder}`" for folder in self.folders)
            text = f"`{short_name}` lies outside the folders that includes may read: {may}."
            raise ModelError(text, at, "Copy the file into one of them.", "PPL183")
        looked = f"; looked in {searched}" if searched else ""
        text = f"There is no file `{short_name}` to include{looked}."
        hint = None if searched else "A program given as text has no folder of its own: give include paths."
        raise ModelError(text, at, hint, "PPL180")

    def may_read(self, file: Path) -> bool:
        """Whether a file lies in one of the folders, or below it."""
        return any(Path(os.path.abspath(file)).is_relative_to(os.path.abspath(one)) for one in self.folders)


def lines_between(source: SourceText, start: int, end: int) -> Iterator[IncludedLine]:
    """The lines of a stretch of a file, the last one closed."""
    number = source.text.count("\n", 0, start) + 1
    column = start - (source.text.rfind("\n", 0, start) + 1)
    for text in source.text[start:end].split("\n"):
        yield IncludedLine(text + "\n", source, number, column)
        number, column = number + 1, 0


def shortened(name: str) -> str:
    """The name of a file, of a very long one the beginning."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."
