"""`ppl check`: is the program well formed, and does it do what was meant?"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ppl.cli.arguments import ModelPath
from ppl.errors import ModelError


class Format(StrEnum):
    """How diagnostics are printed."""

    text = "text"
    json = "json"


def check(
    model: ModelPath,
    pedantic: Annotated[bool, typer.Option("--pedantic", help="Warn of everything doubtful.")] = False,
    format: Annotated[Format, typer.Option(help="text, or json: one line for each.")] = Format.text,
) -> None:
    """Check MODEL without data: syntax, names, types, blocks, likely bugs.

    \b
    First example:
      ppl check models/eight_schools/eight_schools.model

    \b
    Exit status: 0 no errors (warnings or not), 1 errors.
    `ppl explain CODE` says more of a message.
    """
    from ppl.cli.diagnostics import as_json, show
    from ppl.compile import checked
    from ppl.frontend.pedantic import lints
    from ppl.source import read_source

    try:
        found = lints(*checked(read_source(Path(model))))
    except ModelError as error:
        if format is Format.text:
            raise
        for each in (error, *error.others):
            typer.echo(as_json(each))
        raise typer.Exit(1) from None
    shown = [lint for lint in found if lint.likely or pedantic]
    if format is Format.json:
        for lint in shown:
            typer.echo(as_json(lint))
        return
    show(shown, sys.stdout)
    typer.echo(("\n" if shown else "") + summary(model, len(shown)))


def summary(model: Path, warnings: int) -> str:
    if not warnings:
        return f"{model}: no errors found"
    return f"{model}: no errors, {warnings} warning{'' if warnings == 1 else 's'}"
