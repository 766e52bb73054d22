"""The pages of messages, by what they are about."""

from collections.abc import Iterator
from typing import NamedTuple

from ppl.cli.site.markdown import fenced, heading, prose, table
from ppl.programs.pages import Page, pages

LANGUAGES = dict.fromkeys(("program", "wrong", "right", "before", "after"), "stan")


class MessageSubject(NamedTuple):
    """The name of its page, its title, and its first code: others have it until that of the next subject."""

    name: str
    title: str
    first: str


SUBJECTS = (
    MessageSubject("likely-bugs", "Likely bugs", "PPL000"),
    MessageSubject("findings", "Findings of the doctor", "PPL020"),
    MessageSubject("syntax", "Syntax", "PPL100"),
    MessageSubject("names", "Names", "PPL200"),
    MessageSubject("assignments", "Assignments", "PPL300"),
    MessageSubject("types", "Types, sizes and indices", "PPL400"),
    MessageSubject("calls", "Function calls", "PPL500"),
    MessageSubject("distributions", "Distributions", "PPL600"),
    MessageSubject("discrete", "Discrete parameters", "PPL700"),
    MessageSubject("functions", "Functions of your own", "PPL800"),
    MessageSubject("data", "Data", "PPL900"),
    MessageSubject("running", "Fits that fail", "PPL970"),
)


def subject(code: str) -> MessageSubject:
    """The subject of a message."""
    return [s for s in SUBJECTS if s.first <= code][-1]


def about(s: MessageSubject) -> list[Page]:
    """The messages of a subject."""
    return [page for page in pages().values() if subject(page.code) == s]


def overview() -> Iterator[str]:
    """All codes by subject, each with a link to its page."""
    yield "# Messages"
    yield prose(
        "The cause of each error and warning, with wrong and right programs; in the terminal, `ppl explain`."
    )
    for s in SUBJECTS:
        rows = ((f"[`{p.code}`]({s.name}.md#{p.code.lower()})", prose(p.title)) for p in about(s))
        yield f"## [{s.title}]({s.name}.md)\n\n{table(('code', 'meaning'), rows)}"


def page(s: MessageSubject) -> Iterator[str]:
    """The messages of a subject, with their examples."""
    yield heading(s.title, 1)
    for message in about(s):
        yield f"{heading(f'{message.code}: {message.title}')} {{ #{message.code.lower()} }}"
        yield prose(message.text)
        for label, example in message.examples.items():
            yield f"{label.capitalize()}:\n\n{fenced(example, LANGUAGES.get(label, 'text'))}"
