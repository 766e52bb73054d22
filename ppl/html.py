"""Pieces of HTML for notebooks; every text is escaped, so that no program, name or datum becomes a tag."""

from collections.abc import Iterable, Sequence

from ppl.late import html

LEVELS = {"good": "#1a7f37", "usable": "#9a6700", "poor": "#cf222e", "unknown": "#6e7781"}
"""The colour of each level of a verdict; the word stands beside it."""


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def preformatted(text: str) -> str:
    """Text whose spaces and line ends stay."""
    return f"<pre>{html.escape(text)}</pre>"


def program(text: str) -> str:
    """A program's text in the colours of Jupyter's theme."""
    from pygments import highlight, token
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.modeling import StanLexer
    from pygments.style import Style

    styles = {
        token.Comment: "var(--jp-mirror-editor-comment-color)",
        token.String: "var(--jp-mirror-editor-string-color)",
        token.Number: "var(--jp-mirror-editor-number-color)",
        token.Keyword: "var(--jp-mirror-editor-keyword-color)",
        token.Keyword.Type: "var(--jp-mirror-editor-builtin-color)",
        token.Name.Builtin: "var(--jp-mirror-editor-def-color)",
    }
    theme = type("Theme", (Style,), {"styles": styles})
    lexer = StanLexer(stripnl=False, ensurenl=False)
    return f"<pre>{highlight(text, lexer, HtmlFormatter(nowrap=True, noclasses=True, style=theme))}</pre>"


def folded(title: str, inside: str) -> str:
    """HTML under a title that opens it."""
    return f"<details><summary>{html.escape(title)}</summary>{inside}</details>"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts; the first of each row is its name."""
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, rows))}</tbody></table>"


def _row(texts: Sequence[str]) -> str:
    name, *others = map(html.escape, texts)
    return f"<tr><th>{name}</th>{''.join(f'<td>{other}</td>' for other in others)}</tr>"


def judged(level: str, sentence: str) -> str:
    """A verdict, the word of its level in the colour of the level."""
    before, word, after = sentence.partition(level)
    coloured = f'<b style="color: {LEVELS[level]}">{html.escape(word)}</b>' if word else ""
    return f"<p>{html.escape(before)}{coloured}{html.escape(after)}</p>"


def notes(sentences: Iterable[str]) -> str:
    """A list of sentences, nothing where there are none."""
    items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""
