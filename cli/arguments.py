"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from ppl.cli.options import named_files


def is_program(path: Path) -> Path:
    """Refuse data where the program belongs, the commonest slip."""
    if path.suffix in (".json", ".gz", ".npz", ".csv"):
        raise typer.BadParameter(
            f"'{path}' holds data; MODEL is a program (.model or .stan), and comes first."
        )
    return path


ModelPath = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        exists=True,
        dir_okay=False,
        readable=True,
        callback=is_program,
        help="The program (.model or .stan).",
    ),
]

Arrays = Annotated[list[str], named_files("Variable from .npy, .parquet, .arrow.", "--data")]

DataPath = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DATA]",
        exists=True,
        dir_okay=False,
        readable=True,
        help="Its data (JSON), if it declares any.",
    ),
]
