"""Arguments that several commands share."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ppl.cli.options import STDIN, data_files, one_of
from ppl.files import exists, is_file
from ppl.source import SourceText, read_source


class Missing(StrEnum):
    """What becomes of missing data."""

    refuse = "refuse"
    model = "model"


def is_program(path: Path | None) -> Path | None:
    """Refuse data where the program belongs, the commonest slip."""
    if path is not None and path.suffix in (".json", ".gz", ".npz", ".csv", ".parquet", ".R"):
        raise typer.BadParameter(
            f"'{path}' holds data; MODEL is a program (.model or .stan), and comes first."
        )
    return path


def programs_there(paths: list[Path]) -> list[Path]:
    """Refuse a program that is not there; `-` is standard input."""
    for path in paths:
        if path != STDIN and not is_file(path):
            raise typer.BadParameter(f"there is no file '{path}'.")
        is_program(path)
    return paths


def read_program(path: Path) -> SourceText:
    """The text of a program, of standard input for `-`."""
    return SourceText(sys.stdin.read(), "<stdin>") if path == STDIN else read_source(path)


def existing(metavar: str, text: str, **more: Any) -> Any:
    """An argument that names a file, or several, that must be there."""
    return typer.Argument(metavar=metavar, exists=True, dir_okay=False, readable=True, help=text, **more)


def program(text: str) -> Any:
    """An option that names a program that must be there."""
    return typer.Option(
        metavar="MODEL", exists=True, dir_okay=False, readable=True, help=text, callback=is_program
    )


def programs(text: str) -> Any:
    """An option that names programs that must be there."""
    return typer.Option(metavar="MODEL", callback=programs_there, help=text)


def data_files_there(paths: Path | list[Path] | None) -> Path | list[Path] | None:
    """Refuse a file that is not there; `-` is standard input, which Typer's own check takes for a file."""
    for path in [paths] if isinstance(paths, Path) else paths or []:
        if path != STDIN and (not exists(path) or path.is_dir()):
            raise typer.BadParameter(f"there is no file '{path}'.")
    return paths


def data(metavar: str) -> Any:
    """An argument that names files of data."""
    text = "Its data: .json, .csv, .R, .npz, .parquet; -: stdin."
    return typer.Argument(metavar=metavar, callback=data_files_there, help=text)


ModelPath = Annotated[Path, existing("MODEL", "The program (.model or .stan).", callback=is_program)]

ModelPaths = Annotated[
    list[Path],
    typer.Argument(metavar="MODEL...", callback=programs_there, help="Programs (.model or .stan); -: stdin."),
]

Arrays = Annotated[list[str], data_files("More data; x=FILE: one variable.", "--data")]

DataPaths = Annotated[list[Path] | None, data("DATA")]

DataFile = Annotated[Path, data("DATA")]

MissingData = Annotated[Missing, one_of("Missing data: refuse, model (as parameters).", "--missing")]

ITS_DATA = "Its data, if FILE does not name them."

OwnData = Annotated[
    list[Path],
    typer.Option("--data", metavar="FILE", exists=True, dir_okay=False, readable=True, help=ITS_DATA),
]

DrawsFiles = Annotated[list[Path], existing("FILE...", "Draws: .csv, .npz, .nc, .parquet; or saved fits.")]
