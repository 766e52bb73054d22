"""`ppl explain`: what a message means."""

import textwrap
from typing import Annotated

import typer

COLUMNS = 80


def explain(code: Annotated[str, typer.Argument(metavar="CODE", help="As in an error: PPL104.")]) -> None:
    """Explain the message with CODE, with a wrong and a right example.

    \b
    First example:
      ppl explain PPL173
    """
    from ppl.frontend.pages import pages
    from ppl.frontend.scope import nearest

    page = pages().get(code.upper())
    if page is None:
        near = nearest(code.upper(), pages())
        raise typer.BadParameter(f"there is no message {code}" + (f"; did you mean {near}?" if near else ""))
    typer.echo(f"{page.code}: {page.title}\n\n{textwrap.fill(page.text, COLUMNS)}")
    for label, example in page.examples.items():
        typer.echo(f"\n{label.capitalize()}:\n\n{textwrap.indent(example, '  ')}", nl=False)
