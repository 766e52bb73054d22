"""Arguments that several commands share."""

import sys
from pathlib import Path
from typing import Annotated, Any

import click

from ppl.cli.options import (
    DRAWS,
    STDIN,
    data_files,
    file_to_read,
    flag,
    main_output,
    one_of,
    probability,
    whole,
)
from ppl.cli.settings import choice
from ppl.cli.signatures import Argument, Option
from ppl.files import exists, is_file, write_whole
from ppl.kernel.language.include import BYTE_ORDER_MARK, read_source
from ppl.source import SourceText

Missing = choice("Missing", "refuse", "model", "drop")
"""The treatment of missing data."""
MissingInSimulations = choice("MissingInSimulations", "refuse", "model")
"""The treatment of missing data where others are simulated."""


def is_program(path: Path | None) -> Path | None:
    """Refuse data where the program belongs, the commonest slip."""
    if path is not None and path.suffix in (".json", ".gz", ".npz", ".csv", ".tsv", ".txt", ".parquet", ".R"):
        raise click.BadParameter(
            f"'{path}' holds data; MODEL is a program (.model or .stan), and comes first."
        )
    return path


def programs_there(paths: list[Path]) -> list[Path]:
    """Refuse a program that is not there; `-` is standard input."""
    for path in paths:
        if path != STDIN and not is_file(path):
            raise click.BadParameter(f"there is no file '{path}'.")
        is_program(path)
    return paths


def read_program(path: Path) -> SourceText:
    """The text of a program, of standard input for `-`."""
    return SourceText(sys.stdin.read(), "<stdin>") if path == STDIN else read_source(path)


def write_program(path: Path, text: str) -> None:
    """Write a changed program with the line ends and the byte order mark that its file has."""
    before = path.read_bytes()
    mark = BYTE_ORDER_MARK.decode() if before.startswith(BYTE_ORDER_MARK) else ""
    ends = "\r\n" if b"\r\n" in before else "\n"
    write_whole(path, [mark + text.replace("\n", ends)])


def existing(metavar: str, text: str, **more: Any) -> Any:
    """An argument that names a file, or several, that must be there."""
    return Argument(metavar=metavar, exists=True, dir_okay=False, readable=True, help=text, **more)


def program(text: str) -> Any:
    """An option that names a program that must be there."""
    return file_to_read(text, metavar="MODEL", callback=is_program)


def programs(text: str) -> Any:
    """An option that names programs that must be there."""
    return Option(metavar="MODEL", callback=programs_there, help=text)


def data_files_there(paths: Path | list[Path] | None) -> Path | list[Path] | None:
    """Refuse a file that is not there; `-` is standard input, which Typer's own check takes for a file."""
    for path in [paths] if isinstance(paths, Path) else paths or []:
        if path != STDIN and (not exists(path) or path.is_dir()):
            raise click.BadParameter(f"there is no file '{path}'.")
    return paths


def files_of_data(metavar: str, text: str = "Its data: .json, .csv, .R, .npz, .parquet; -: stdin.") -> Any:
    """An argument that names files of data."""
    return Argument(metavar=metavar, callback=data_files_there, help=text)


ModelPath = Annotated[Path, existing("MODEL", "The program (.model or .stan).", callback=is_program)]

ModelPaths = Annotated[
    list[Path],
    Argument(metavar="MODEL...", callback=programs_there, help="Programs (.model or .stan); -: stdin."),
]

Arrays = Annotated[list[str], data_files("More data; x=FILE: one variable.", "--data")]

DataPaths = Annotated[list[Path] | None, files_of_data("DATA...")]

DataFiles = Annotated[list[Path], files_of_data("DATA...")]

MissingSimulated = Annotated[MissingInSimulations, one_of("Missing data: refuse, or model it.", "--missing")]

MissingData = Annotated[Missing, one_of("Missing data: refuse, model, drop.", "--missing")]

OwnData = Annotated[list[Path], file_to_read("Its data, if FILE does not name them.", "--data")]

FitData = Annotated[list[Path], file_to_read("Data of the fit, if FIT names none.", "--fit-data")]

Simulator = Annotated[Path | None, file_to_read("Program that simulates the data.", metavar="MODEL")]


def share_of_interval(**more: Any) -> Any:
    """The option for the probability of an interval."""
    return probability("Probability of the interval shown.", "--interval", **more)


Interval = Annotated[float, share_of_interval()]

Hdi = Annotated[bool, flag("--hdi", "Show the shortest interval (highest density).", hidden=True)]

SigFigs = Annotated[
    int | None, whole(1, "Significant digits; default: certain ones.", "--sig-figs", hidden=True)
]

DrawsOutput = Annotated[Path, main_output("Draws: .csv, .npz, .nc or .parquet.", suffixes=DRAWS)]

DrawsFiles = Annotated[list[Path], existing("FILE...", "Draws: .csv, .npz, .nc, .parquet; or saved fits.")]
