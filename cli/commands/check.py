"""`ppl check`: is the program well formed?"""

import typer

from ppl.cli.arguments import ModelPath


def check(model: ModelPath) -> None:
    """Check MODEL without data: syntax, names, types, blocks.

    \b
    First example:
      ppl check models/eight_schools/eight_schools.model
    """
    from ppl.compile import compile_model

    compile_model(model)
    typer.echo(f"{model}: no errors found")
