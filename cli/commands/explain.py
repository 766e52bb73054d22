"""`ppl explain`: what a message means."""

import textwrap
from typing import TYPE_CHECKING, Annotated

import click

from ppl.cli.options import unknown
from ppl.cli.output import LINE_LENGTH
from ppl.cli.signatures import Argument

if TYPE_CHECKING:
    from ppl.programs.pages import Page


def explain(
    code: Annotated[str, Argument(metavar="CODE", help="Code of a message: PPL104, or 104.")],
) -> None:
    """Explain a message code, with a wrong and a right example.

    \b
    First example:
      ppl explain PPL173
    """
    from ppl.programs.pages import pages

    known = code.upper() if not code.isdecimal() else f"PPL{code}"
    page = pages().get(known)
    if page is None:
        raise unknown("message", known, pages(), "ppl docs")
    click.echo(page_text(page))


def page_text(page: "Page") -> str:
    """The page as the terminal shows it."""
    examples = (
        f"{label.capitalize()}:\n\n{textwrap.indent(e.rstrip(), '  ')}" for label, e in page.examples.items()
    )
    parts = [f"{page.code}: {page.title}", textwrap.fill(page.text, LINE_LENGTH), *examples]
    return "\n\n".join(parts).rstrip()
