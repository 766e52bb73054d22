"""`ppl show`: any stage of the compiler, or the functions of the language, printed."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

FUNCTIONS = "functions"


class Stage(StrEnum):
    """What the compiler makes on its way, in order."""

    ast = "ast"
    program = "program"
    ir = "ir"
    python = "python"
    plan = "plan"


def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The program; or the word 'functions'.")],
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A function, after that word.")] = None,
    stage: Annotated[
        Stage, typer.Option(help="Which stage; the emitted text unless told otherwise.")
    ] = Stage.python,
    data: Annotated[
        Path | None, typer.Option(help="Data, where discrete parameters meet as they say.")
    ] = None,
) -> None:
    """Print one stage of compiling MODEL, or the functions of the language.

    \b
    First example:
      ppl show models/eight_schools/eight_schools.model --stage python

    \b
    --stage program is the program with its discrete parameters summed out,
    which Stan takes too; plan says how.

    \b
    ppl show functions lists every function with its meaning; with a NAME,
    its signatures and the code that computes it.
    """
    if model == FUNCTIONS and not Path(model).is_file():
        show_functions(name)
        return
    if name is not None:
        raise typer.BadParameter(f"unexpected '{name}' after the program.", param_hint="NAME")
    if not Path(model).is_file():
        raise typer.BadParameter(f"File '{model}' does not exist.", param_hint="MODEL")
    from ppl.compile import show_stage

    typer.echo(show_stage(Path(model), stage.value, data))


def show_functions(name: str | None) -> None:
    from ppl.frontend.scope import nearest
    from ppl.stdlib.reference import one_line, reference
    from ppl.stdlib.signatures import library

    if name is None:
        typer.echo("\n".join(map(one_line, library())))
    elif name in reference():
        typer.echo(reference()[name])
    else:
        near = nearest(name, reference())
        hint = f"; did you mean {near}?" if near else "."
        raise typer.BadParameter(f"there is no function {name}{hint}", param_hint="NAME")
