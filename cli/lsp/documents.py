"""The texts that are open in the editor, each analysed once a version."""

from collections.abc import Iterator, Sequence

from ppl.cli.lsp.analysis import Analysis, analysis
from ppl.cli.lsp.symbols import Name
from ppl.records import dataclass, field
from ppl.source import SourceText

NO_LINE = 0
"""The line of a place that an earlier version did not have."""


@dataclass
class Document:
    """An open text, its analysis, and that of the last version without an error."""

    source: SourceText
    found: Analysis | None = None
    good: Analysis | None = None

    @property
    def analysis(self) -> Analysis:
        """Of the text as it is now."""
        if self.found is None:
            self.found = analysis(self.source)
            if not self.found.errors:
                self.good = self.found
        return self.found


@dataclass(frozen=True)
class View:
    """A place of a file, and the word there, as an analysis sees it; `earlier` than the text is now."""

    analysis: Analysis
    file: str
    line: int
    column: int
    word: str
    earlier: bool = False

    @property
    def name(self) -> Name | None:
        """The name there; in an earlier version the same word there, on its line or where declared."""
        name = self.analysis.name_at(self.file, self.line, self.column)
        if not self.earlier or (name is not None and name.text == self.word):
            return name
        alike = [n for n in self.analysis.names if n.text == self.word]
        on_line = (n for n in alike if n.span.line == self.line and n.span.source.name == self.file)
        return next(on_line, next((n for n in alike if n.declares), None))


@dataclass
class Documents:
    """The open texts by their file."""

    open: dict[str, Document] = field(default_factory=dict)

    def update(self, file: str, text: str) -> None:
        """A text as it was opened or changed; the last good version stays at hand."""
        before = self.open.get(file)
        source = SourceText(text, file)
        if before is None or before.source != source:
            self.open[file] = Document(source, good=before.good if before else None)

    def at(self, file: str) -> Document:
        """The text of a file: of one that is closed there is none, as an editor that asks late finds."""
        return self.open.get(file) or Document(SourceText("", file))

    def refresh(self) -> None:
        """To be called when files have changed that a text may include."""
        for document in self.open.values():
            document.found = None

    def close(self, file: str) -> None:
        self.open.pop(file, None)

    def includers(self, file: str) -> list[Document]:
        """The open programs that include a file."""
        return [d for name, d in self.open.items() if name != file and file in d.analysis.files]

    def views(self, file: str, line: int, column: int, word: str) -> Iterator[View]:
        """A place as the text now says, then as its last good version did, then as part of other programs."""
        document = self.at(file)
        yield View(document.analysis, file, line, column, word)
        good = document.good
        if good is not None and good is not document.found:
            line_then = corresponding_line(document.source, good.source, line)
            yield View(good, file, line_then or NO_LINE, column, word, earlier=True)
        for other in self.includers(file):
            yield View(other.analysis, file, line, column, word)


def corresponding_line(now: SourceText, then: SourceText, line: int) -> int | None:
    """Where a line was before lines in one stretch of the text changed; None for one of these.

    Of a stretch with as many lines as before each is taken for the one it was.
    """
    new, old = now.lines, then.lines
    head = common(new, old)
    tail = min(common(new[::-1], old[::-1]), len(new) - head, len(old) - head)
    if line <= head or len(new) == len(old):
        return line
    return line + len(old) - len(new) if line > len(new) - tail else None


def common(a: Sequence[str], b: Sequence[str]) -> int:
    """How many items two lists begin with alike."""
    return next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
