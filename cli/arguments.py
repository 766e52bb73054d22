"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ppl.cli.options import named_files


def is_program(path: Path) -> Path:
    """Refuse data where the program belongs, the commonest slip."""
    if path.suffix in (".json", ".gz", ".npz", ".csv"):
        raise typer.BadParameter(
            f"'{path}' holds data; MODEL is a program (.model or .stan), and comes first."
        )
    return path


def existing(metavar: str, text: str, **more: Any) -> Any:
    """An argument that names a file, or several, that must be there."""
    return typer.Argument(metavar=metavar, exists=True, dir_okay=False, readable=True, help=text, **more)


ModelPath = Annotated[Path, existing("MODEL", "The program (.model or .stan).", callback=is_program)]

Arrays = Annotated[list[str], named_files("Variable from .npy, .parquet, .arrow.", "--data")]

DataPath = Annotated[Path | None, existing("[DATA]", "Its data (.json, .csv, .npz), if any.")]

DataFile = Annotated[Path, existing("DATA", "Its data (.json, .csv, .npz).")]

DrawsFiles = Annotated[list[Path], existing("FILE...", "Draws: .csv, .npz, .nc, .parquet.")]
