"""`ppl check`: is the program well formed, and does it do what was meant?"""

import re
import sys
from pathlib import Path
from typing import Annotated

import click

from ppl.cli.arguments import ModelPaths, read_program
from ppl.cli.required import Format
from ppl.cli.signatures import Option
from ppl.errors import ModelError


def minor_version(text: str) -> int:
    """35 of 2.35."""
    if re.fullmatch(r"2\.[0-9]{1,3}", text) is None:
        raise click.BadParameter(f"`{text}` is not a version of Stan. Write it as 2.35.")
    return int(text.removeprefix("2."))


def check(
    models: ModelPaths,
    pedantic: Annotated[bool, Option("--pedantic", help="Also report possible problems.")] = False,
    stan_version: Annotated[
        int | None,
        Option(metavar="2.N", help="Also report what CmdStan of this version lacks.", parser=minor_version),
    ] = None,
    format: Annotated[Format, Option(help="text, or json: one line for each.")] = Format.text,
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
    good = [is_good(model, pedantic, stan_version, format) for model in models]
    if not all(good):
        raise click.exceptions.Exit(1)


def is_good(model: Path, pedantic: bool, stan_version: int | None, format: Format) -> bool:
    """Whether a program has no error; prints what there is to say of it."""
    from ppl.cli.diagnostics import as_json, show
    from ppl.programs.lints import NEWER_STAN, Lint
    from ppl.programs.newer_stan import ASSUMED
    from ppl.programs.pedantic import lints
    from ppl.structure.discrete.check import checked

    source = read_program(model)
    errors, reported, possible = list[ModelError](), list[Lint](), 0
    try:
        warnings = lints(*checked(source), ASSUMED if stan_version is None else stan_version)
        required = {NEWER_STAN} if stan_version is not None else set()
        reported = [w for w in warnings if w.likely or pedantic or w.code in required]
        possible = sum(not (w.likely or pedantic or w.code == NEWER_STAN) for w in warnings)
    except ModelError as error:
        errors = [error, *error.others]
    if format is Format.json:
        for each in (*errors, *reported):
            click.echo(as_json(each))
    elif errors:
        show(errors, sys.stderr)
    else:
        show(reported, sys.stdout)
        click.echo(("\n" if reported else "") + summary(source.name, len(reported), possible))
    return not errors


def summary(model: str, warnings: int, possible: int) -> str:
    """The last line; `possible` problems are left to --pedantic, such as parameters without priors."""
    counts = ((warnings, "warning", ""), (possible, "possible problem", " (see --pedantic)"))
    each = [f"{n} {what}{'' if n == 1 else 's'}{where}" for n, what, where in counts if n]
    return f"{model}: " + ", ".join(["no errors", *each] if each else ["no errors found"])
