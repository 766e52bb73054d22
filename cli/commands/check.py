"""`ppl check`: is the program well formed, and does it do what was meant?"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ppl.cli.arguments import ModelPaths, read_program
from ppl.cli.required import Format
from ppl.errors import ModelError


def check(
    models: ModelPaths,
    pedantic: Annotated[bool, typer.Option("--pedantic", help="Also report possible problems.")] = False,
    format: Annotated[Format, typer.Option(help="text, or json: one line for each.")] = Format.text,
) -> None:
    """Report errors and likely bugs in each MODEL, without data.

    \b
    First example:
      ppl check eight_schools/eight_schools.model

    \b
    Checks syntax, names, types and blocks.
    Exit status: 0 without errors (warnings are allowed), 1 with errors.
    `ppl explain CODE` explains a message.
    """
    good = [is_good(model, pedantic, format) for model in models]
    if not all(good):
        raise typer.Exit(1)


def is_good(model: Path, pedantic: bool, format: Format) -> bool:
    """Whether a program has no error; prints what there is to say of it."""
    from ppl.cli.diagnostics import as_json, show
    from ppl.discrete.check import checked
    from ppl.frontend.lints import Lint
    from ppl.frontend.pedantic import lints

    source = read_program(model)
    errors, reported = list[ModelError](), list[Lint]()
    try:
        reported = [lint for lint in lints(*checked(source)) if lint.likely or pedantic]
    except ModelError as error:
        errors = [error, *error.others]
    if format is Format.json:
        for each in (*errors, *reported):
            typer.echo(as_json(each))
    elif errors:
        show(errors, sys.stderr)
    else:
        show(reported, sys.stdout)
        typer.echo(("\n" if reported else "") + summary(source.name, len(reported)))
    return not errors


def summary(model: str, warnings: int) -> str:
    if not warnings:
        return f"{model}: no errors found"
    return f"{model}: no errors, {warnings} warning{'' if warnings == 1 else 's'}"
