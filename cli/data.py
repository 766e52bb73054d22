"""The data that a command is given, and what is said of them."""

import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ppl.cli.options import STDIN, as_names, whole_files

if TYPE_CHECKING:
    from ppl.data import Inputs


def inputs_from(files: Iterable[Path], more: Iterable[str] = ()) -> "Inputs":
    """The data in all of these files, and in those that --data names; `-` is JSON on standard input.

    Raises:
        DataError: a file cannot be read, or a variable is in two of them.
    """
    from ppl.data import load_data, merged, with_arrays

    parts = [_of_stdin() if file == STDIN else load_data(file) for file in (*files, *whole_files(more))]
    return with_arrays(merged(parts), as_names(more))


def _of_stdin() -> "Inputs":
    from ppl.data import of_json, read_stream

    label = "standard input"
    return of_json(read_stream(sys.stdin.buffer, label), label)


def recorded(files: Iterable[Path], more: Iterable[str] = ()) -> str:
    """The data as the comments of a file name them."""
    return " ".join([*map(str, files), *more])


def say_misspelt(inputs: "Inputs", declared: Collection[str]) -> None:
    """Says on standard error which names in the data go unused and are nearly a declared one."""
    from ppl.data import misspelt

    for name, near in misspelt(inputs, declared).items():
        where = inputs.label_of(name)
        said = f"{where}: `{name}` is not used; the program declares `{near}`: did you mean that?"
        typer.echo(said, err=True)


def spare(inputs: "Inputs", declared: Collection[str]) -> Iterator[str]:
    """A sentence for what the data hold and the program does not declare."""
    from ppl.data import unknown_names

    if names := ", ".join(f"`{name}`" for name in unknown_names(inputs, declared)):
        yield f"{inputs.label}: the program declares no {names}, and goes without."
