"""`ppl format`: one layout for every program."""

from pathlib import Path
from typing import Annotated

import click

from ppl.cli.arguments import ModelPaths, read_program, write_program
from ppl.cli.options import STDIN
from ppl.cli.signatures import Option

UNFORMATTED = 1
"""The exit status where `--check` finds a program laid out otherwise."""


def format(
    models: ModelPaths,
    write: Annotated[bool, Option("--write", "-w", help="Change the files instead.")] = False,
    check: Annotated[bool, Option("--check", help="Change nothing; exit with 1 if it would.")] = False,
) -> None:
    """Print MODEL in the canonical layout; keep its comments.

    \b
    First example:
      ppl format eight_schools/eight_schools.model --write

    \b
    Two spaces per level, one statement per line, and at most 80 columns where
    a bracket or an operator allows a break. Only whitespace between words
    changes: parentheses and braces remain, and comments behind statements
    keep their columns. Several files require --write or --check.
    """
    if not (write or check) and len(models) > 1:
        raise click.BadParameter("several programs require --write or --check.", param_hint="MODEL...")
    if write and STDIN in models:
        raise click.BadParameter("standard input cannot be changed; omit --write.", param_hint="--write")
    same = [is_formatted(model, write, check) for model in models]
    if check and not all(same):
        raise click.exceptions.Exit(UNFORMATTED)


def is_formatted(model: Path, write: bool, check: bool) -> bool:
    """Whether a program is in the canonical layout already; prints it, or writes it, or says so."""
    from ppl.cli.output import print_text
    from ppl.programs.format import format_program

    source = read_program(model)
    text = format_program(source, [model.parent])
    same = text == source.text
    if check:
        click.echo(f"{source.name}: {'already formatted' if same else 'would change'}")
    elif not write:
        print_text(text)
    elif not same:
        write_program(model, text)
        click.echo(f"Wrote {model}.")
    return same
