"""The data that a command is given, and what is said of them."""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ppl.cli.options import STDIN, as_names, outputs, split_names, whole_files
from ppl.files import is_file, refuse_overwriting

if TYPE_CHECKING:
    from ppl.data import Inputs
    from ppl.model import Model
    from ppl.posterior import Posterior
    from ppl.results.files.read_csv import DrawsFile, Wanted
    from ppl.results.report.log_lik import LogLik
    from ppl.results.report.loo import Loo


def inputs_from(files: Iterable[Path], more: Iterable[str] = ()) -> "Inputs":
    """The data in all of these files, and in those that --data names; `-` is JSON on standard input.

    Raises:
        DataError: a file cannot be read, or a variable is in two of them.
    """
    from ppl import data

    parts = [_of_stdin() if file == STDIN else data.load_data(file) for file in (*files, *whole_files(more))]
    inputs, arrays = data.merged(parts), as_names(more)
    return data.with_arrays(inputs, arrays) if arrays else inputs


def _of_stdin() -> "Inputs":
    from ppl.data import of_json, read_stream

    label = "standard input"
    return of_json(read_stream(sys.stdin.buffer, label), label)


def recorded(files: Iterable[Path], more: Iterable[str] = ()) -> str:
    """The data as the comments of a file name them."""
    return " ".join([*map(str, files), *more])


def files_named_by(file: Path, names: Iterable[str]) -> list[Path]:
    """Those of the files that a file names which are there, in its folder, in the current one or below.

    It may be anyone's: a file elsewhere is read only if the user names it. As they are read, the command
    that runs is refused where it would overwrite one of them.
    """
    folders = [folder.resolve() for folder in (file.parent, Path.cwd())]
    paths = [path for path in map(Path, names) if is_file(path)]
    there = [path for path in paths if any(path.resolve().is_relative_to(folder) for folder in folders)]
    if command := click.get_current_context(silent=True):
        refuse_overwriting(outputs(command), there)
    return there


def program_of(run: "DrawsFile", given: Path | None = None) -> Path | None:
    """The program that is given, else the one that a file names, if it is there and has not been edited."""
    from ppl.kernel.language.include import read_text
    from ppl.run.identity import PROGRAM, PROGRAM_SHA256, program_hash

    named = run.config.get(PROGRAM)
    there = files_named_by(run.path, [named] if named else [])
    if given or not there:
        return given
    if program_hash(read_text(there[0]).text) == run.config.get(PROGRAM_SHA256):
        return there[0]
    edited = f"{named} is not read: it was edited after {run.path} was written. --model {named} reads it."
    click.echo(edited, err=True)
    return None


def conditioned_as(
    compiled: "Model", run: "DrawsFile", data: list[Path], option: str = "--data"
) -> "Posterior":
    """The posterior of a program whose draws a file has, with these data, else those that its comments name.

    Raises:
        DataError: no data are given, and the file names none that are there.
    """
    from ppl.errors import DataError

    named = run.config.get("data.file", "").split()
    there = data or files_named_by(run.path, named)
    if compiled.data_schema and (not there or (not data and len(there) < len(named))):
        why = f"{run.path} names no data of {compiled.source.name} in its folder, the current one or below"
        raise DataError(f"{why}; give them: {option} FILE.")
    return conditioned_as_draws(compiled, inputs_from(there), run.columns)


def conditioned_as_draws(
    compiled: "Model", inputs: "Inputs", columns: Sequence[str], seed: int = 0
) -> "Posterior":
    """The posterior that draws with these columns are of: data among them were missing."""
    from ppl.kernel.draws.columns import missing_of

    return compiled.condition(inputs, seed=seed, missing=missing_of(columns, compiled.data_schema))


def columns_of(compiled: "Model") -> "Wanted":
    """The columns that a program and a verdict read: its parameters, and data that were missing."""
    from ppl.results.report.reading import judged_columns

    names = {*(d.name for d in compiled.lowered.parameters), *compiled.data_schema}

    def wanted(file: "DrawsFile") -> tuple[str, ...]:
        own = (name for name in file.columns if re.split("[.:]", name)[0] in names)
        return (*own, *judged_columns(file))

    return wanted


def columns_of_rows(outcome: str, log_lik: str) -> "Wanted":
    """The columns that `rows_of` and a verdict read: the log likelihood if draws have it, else all."""
    from ppl.kernel.draws.names import variable_of
    from ppl.results.report.reading import judged_columns

    def wanted(file: "DrawsFile") -> tuple[str, ...]:
        own = [name for name in file.columns if variable_of(name) == log_lik]
        return (*own, *judged_columns(file)) if own and not outcome else file.columns

    return wanted


def rows_of(
    runs: "Sequence[DrawsFile]", outcome: str, log_lik: str, model: Path | None, data: list[Path]
) -> "list[LogLik]":
    """The log likelihood of each row among the draws of all runs, else read from the program, by outcome.

    `outcome` is as --outcome: a name, several with commas between them, or "".
    """
    from ppl.compile import model_of
    from ppl.errors import DataError
    from ppl.kernel.draws.columns import variables
    from ppl.results.fits import by_row
    from ppl.results.report.log_lik import POINTWISE, in_files

    model = program_of(runs[0], model)
    there = log_lik != POINTWISE or log_lik in variables(runs[0].columns)
    if outcome and model is None and there:
        raise DataError(
            f"{runs[0].path} does not tell the outcome of {log_lik}. Give the program: --model MODEL; or "
            "name the log likelihood of one outcome: --log-lik NAME."
        )
    if model is None or (there and not outcome):
        return [in_files(runs, log_lik)]
    return by_row.in_files(conditioned_as(model_of(model), runs[0], data), runs, split_names(outcome) or None)


def loos_of(
    runs: "Sequence[DrawsFile]",
    outcome: str,
    log_lik: str,
    model: Path | None,
    data: list[Path],
    with_reloo: bool = False,
    seed: int = 1,
) -> "list[Loo]":
    """The ELPD of each outcome, by `rows_of`, or with rows left out in fact by the program.

    Raises:
        DataError: rows are to be left out in fact, and there is no program.
    """
    from ppl.compile import model_of
    from ppl.errors import DataError
    from ppl.results.fits import reloo
    from ppl.results.report.loo import loo_of

    if not with_reloo:
        return [*map(loo_of, rows_of(runs, outcome, log_lik, model, data))]
    if (program := program_of(runs[0], model)) is None:
        raise DataError(f"{runs[0].path} names no program, which --reloo needs. Give it: --model MODEL.")
    posterior = conditioned_as(model_of(program), runs[0], data)
    return reloo.in_files(posterior, runs, split_names(outcome) or None, seed)


def model_and_inputs(
    model: Path, files: Iterable[Path], more: Iterable[str] = (), quiet: bool = False
) -> "tuple[Model, Inputs]":
    """A program compiled and its data; says which names go unused and are nearly a declared one."""
    from ppl.compile import model_of

    inputs, compiled = inputs_from(files, more), model_of(model)
    return compiled, inputs if quiet else say_unread(inputs, compiled)


def say_unread(inputs: "Inputs", compiled: "Model") -> "Inputs":
    """The data under declared names; says on standard error which go unused and are a parameter, or nearly
    declared.
    """
    from ppl.data import misspelt, with_declared_names
    from ppl.density.compiled_program import columns_of

    for sentence in compiled.unread(inputs):
        click.echo(sentence, err=True)
    inputs = with_declared_names(inputs, columns_of(compiled))
    for name, near in misspelt(inputs, compiled.data_schema).items():
        where = inputs.label_of(name)
        message = f"{where}: `{name}` is not used; the program declares `{near}`: did you mean that?"
        click.echo(message, err=True)
    return inputs


def spare(inputs: "Inputs", declared: Collection[str]) -> Iterator[str]:
    """A sentence for what the data hold and the program does not declare."""
    from ppl.data import unknown_names

    if names := ", ".join(f"`{name}`" for name in unknown_names(inputs, declared)):
        yield f"{inputs.label}: the program declares no {names}; ignored."
