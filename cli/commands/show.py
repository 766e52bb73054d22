"""`ppl show`: any stage of the compiler, printed."""

from enum import StrEnum
from typing import Annotated

import typer

from ppl.cli.arguments import ModelPath


class Stage(StrEnum):
    """What the compiler makes on its way, in order."""

    ast = "ast"
    ir = "ir"
    python = "python"
    plan = "plan"


def show(
    model: ModelPath,
    stage: Annotated[Stage, typer.Option(help="Checked tree, lowered tree, or emitted text.")] = Stage.python,
) -> None:
    """Print one stage of compiling MODEL.

    \b
    First example:
      ppl show models/eight_schools/eight_schools.model --stage python
    """
    from ppl.compile import show_stage

    typer.echo(show_stage(model, stage.value))
