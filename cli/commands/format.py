"""`ppl format`: one layout for every program."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ppl.cli.arguments import ModelPath

UNFORMATTED = 1
"""The exit status where `--check` finds a program laid out otherwise."""


def format(
    model: ModelPath,
    write: Annotated[bool, typer.Option("--write", "-w", help="Change the file instead.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit with 1 if it would.")] = False,
) -> None:
    """Print MODEL in the canonical layout, its comments kept.

    \b
    First example:
      ppl format models/eight_schools/eight_schools.model --write

    \b
    Two spaces a level, one statement a line, at most 80 columns where a
    bracket or an operator allows a break. Only the space between words
    changes: parentheses, braces and their order stay.
    """
    from ppl.files import write_whole
    from ppl.frontend.format import format_program
    from ppl.source import read_source

    source = read_source(Path(model))
    text = format_program(source, [model.parent])
    if check:
        done = text == source.text
        typer.echo(f"{model}: {'as it should be' if done else 'would change'}")
        raise typer.Exit(0 if done else UNFORMATTED)
    if not write:
        sys.stdout.write(text)
    elif text != source.text:
        write_whole(model, [text])
        typer.echo(f"Wrote {model}.")
