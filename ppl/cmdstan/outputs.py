"""The files that a run of the executable reads and writes."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ppl.errors import ArgumentError
from ppl.files import beside, numbered, numbered_files, refuse_overwriting

READ = (
    "data.file",
    "generate_quantities.fitted_params",
    "laplace.mode",
    "log_prob.constrained_params",
    "log_prob.unconstrained_params",
    "sample.hmc.metric_file",
)
"""Arguments that name a file to read."""


def require_own_outputs(values: Mapping[str, Any], program: str | Path, profile: str | None) -> None:
    """Refuse a run that would overwrite a file that it reads, or one of its outputs by another.

    `profile` is the file of times, where one is asked for.

    Raises:
        ArgumentError: it would; the message names the file.
    """
    numbers = range(values["id"], values["id"] + values.get(f"{values['method']}.num_chains", 1))
    written = _written(values, numbers, [values["output.diagnostic_file"], profile])
    refuse_overwriting(written, _read(values, program, numbers))


def files_of_chains(names: str, numbers: range) -> list[Path]:
    """The files of chains: `a.csv` of one, `a_1.csv` and so on of several, or names with commas, one each.

    Raises:
        ArgumentError: there are more or fewer names than chains.
    """
    each = names.split(",")
    if len(each) == 1:
        return [Path(names)] if len(numbers) == 1 else [numbered(names, number) for number in numbers]
    if len(each) != len(numbers):
        raise ArgumentError(f"{names} names {len(each)} files; expected one, or {len(numbers)}: one a chain.")
    return [Path(name) for name in each]


def _written(values: Mapping[str, Any], numbers: range, others: Iterable[str | None]) -> Iterator[Path]:
    file = Path(values["output.file"])
    several = len(numbers) > 1 and "," not in values["output.file"]
    draws = [*numbered_files(file, numbers)] if several else files_of_chains(values["output.file"], numbers)
    yield from draws
    if values["method"] == "sample" and values["sample.adapt.save_metric"]:
        yield from (beside(each, "metric") for each in draws)
    if values["method"] == "pathfinder" and values["pathfinder.save_single_paths"]:
        paths = range(1, values["pathfinder.num_paths"] + 1)
        yield from numbered_files(path_file(file), paths)
    if values["output.save_cmdstan_config"]:
        yield beside(values["output.file"].split(",")[0], "config")
    yield from map(Path, filter(None, others))


def path_file(output: str | Path) -> Path:
    """The name of the files of single paths of Pathfinder, before their numbers."""
    return Path(output).with_stem(f"{Path(output).stem}_path")


def _read(values: Mapping[str, Any], program: str | Path, numbers: range) -> Iterator[Path]:
    if isinstance(program, Path):
        yield program
    given = [values[path] for path in (*READ, "init") if values[path]]
    for name in dict.fromkeys([*given, *(part for names in given for part in names.split(","))]):
        yield Path(name)
        if len(numbers) > 1:
            yield from numbered_files(name, numbers)
