"""The material of pictures: files of draws, and what their program says of its data and its prior."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.errors import DataError
from ppl.floats import Floats
from ppl.kernel.advi.outcome import Ending
from ppl.kernel.draws.columns import reshape, variables
from ppl.kernel.draws.names import variable_of
from ppl.records import dataclass, field
from ppl.results.files.arviz import REPLICATED
from ppl.results.files.read_csv import DrawsFile
from ppl.results.fits.density import varies
from ppl.results.fits.expected import ExpectedOverGrid
from ppl.results.report.log_lik import LogLik
from ppl.results.report.summary import name_of

MOST_GROUPS = 60
"""Values of a column of data by which a picture is split."""

Support = tuple[float, float]


@dataclass(frozen=True, eq=False)
class NamedDraws:
    """Named columns of draws (draws, columns)."""

    columns: tuple[str, ...]
    rows: Floats

    def column(self, name: str) -> Floats:
        """The finite draws of one column."""
        values = self.rows[:, self.columns.index(name)]
        return values[np.isfinite(values)]

    def only(self, names: Sequence[str]) -> "NamedDraws":
        """These columns of it, in this order."""
        return NamedDraws(tuple(names), self.rows[:, [self.columns.index(name) for name in names]])


@dataclass(frozen=True, eq=False)
class ElboTrace:
    """The ELBO's course, `points` (evaluations, 2: iteration, nats), and in a word how it ended."""

    points: Floats
    ending: str = "stopped"


class Groups(NamedTuple):
    """Which level of a column of data each observation has: `codes` (n,) count from 0."""

    name: str
    levels: tuple[str, ...]
    codes: NDArray[np.intp]


class Replicated(NamedTuple):
    """Observed data (n,) and their replications (draws, n), in Stan's order, less missing values."""

    y: Floats
    y_rep: Floats
    groups: Groups | None = None

    def by_group(self) -> Iterator[tuple[str, Floats, Floats]]:
        """Each level that is there, with its data and replications."""
        for k, level in enumerate(self.groups.levels if self.groups else ()):
            own = self.groups.codes == k if self.groups else np.zeros(0, bool)
            if own.any():
                yield level, self.y[own], self.y_rep[:, own]


class Overlay(NamedTuple):
    """Draws that are drawn beside those of the fit, and what they are called."""

    name: str
    draws: NamedDraws


@dataclass(frozen=True, eq=False)
class Material:
    """The material of pictures: the first file's draws stand for the fit; the rest may be missing.

    `names` are the columns to draw, the parameters where they are known; `named` is whether the user named
    them, and wants to see more of them than fit on a page. `outcomes` are data that have replications,
    `log_liks` the log likelihood by row, `prior` draws of it. `supports` are those of variables, by name,
    where a program tells them. Draws are shown by their `transform`, such as `exp`.
    """

    files: tuple[DrawsFile, ...]
    names: tuple[str, ...]
    trace: ElboTrace | None = None
    reference: Overlay | None = None
    outcomes: Mapping[str, Replicated] = field(default_factory=dict)
    named: bool = False
    log_liks: tuple[LogLik, ...] = ()
    prior: Overlay | None = None
    supports: Mapping[str, Support] = field(default_factory=dict)
    transform: Callable[[Floats], Floats] | None = None
    effects: ExpectedOverGrid | None = None

    @cached_property
    def draws(self) -> NamedDraws:
        """All runs' draws of the columns to draw, but for those that never vary and for the upper triangle of
        symmetric matrices.
        """
        rows = np.concatenate([file.only(self.names).draws for file in self.files])
        of = dict(zip(self.names, rows.T, strict=True))
        names = [name for name in self.names if varies(of[name]) and not is_mirrored(name, of)]
        return NamedDraws(tuple(names), np.column_stack([rows[:, :0], *(of[name] for name in names)]))

    def shown(self, draws: NamedDraws) -> NamedDraws:
        """Draws as pictures show them: transformed, with labels of levels in place of names of columns."""
        with np.errstate(all="ignore"):
            rows = self.transform(draws.rows) if self.transform else draws.rows
        return NamedDraws(tuple(map(self.label, draws.columns)), rows)

    def label(self, column: str) -> str:
        """The name of a column for people."""
        return self.files[0].labels.of(column)

    def support(self, column: str) -> Support | None:
        """Where values of a column can lie, as they are shown; None where it is unknown."""
        ends = self.supports.get(variable_of(column))
        if ends and self.transform:
            with np.errstate(all="ignore"):
                low, high = self.transform(np.array(ends))
            return (float(low), float(high)) if low < high else None
        return ends

    @property
    def value(self) -> str:
        """The label of an axis of values."""
        return f"{name_of(self.transform)}(value)" if self.transform else "value"

    @property
    def no_effect(self) -> float:
        """Where a coefficient of zero is shown: a ratio of one, by exp."""
        with np.errstate(all="ignore"):
            return float(self.transform(np.zeros(1))[0]) if self.transform else 0.0

    @property
    def omitted(self) -> tuple[str, ...]:
        """The columns that never vary or repeat their mirror image: there is nothing to draw of them."""
        return tuple(name for name in self.names if name not in {*self.draws.columns})

    @property
    def chains(self) -> list[Floats]:
        """The draws (draws, columns) of each run, of the columns that vary."""
        return [file.only(self.draws.columns).draws for file in self.files]


def is_mirrored(column: str, draws: Mapping[str, Floats]) -> bool:
    """Whether a column is above the diagonal of a matrix and equal to its mirror image, as `R.1.2` may be."""
    parts = re.fullmatch(r"(.+)\.(\d+)\.(\d+)", column)
    if parts is None or int(parts[2]) >= int(parts[3]):
        return False
    image = draws.get(f"{parts[1]}.{parts[3]}.{parts[2]}")
    return image is not None and np.array_equal(image, draws[column])


# --- Outcomes ------------------------------------------------------------------------------------


def replicated_outcomes(
    files: Sequence[DrawsFile],
    data: Mapping[str, Any],
    simulated: Mapping[str, Floats],
    outcome: str = "",
    replicated: str = "",
    by: str = "",
) -> dict[str, Replicated]:
    """The outcomes whose replications are among the draws, as `y_rep`, or are simulated, in the data's order.

    `outcome` chooses one. `replicated` are its replications, of the only data of their size where no outcome
    is named. Missing values are left out. `by` is a column of the data that groups observations.

    Raises:
        DataError: there is no such column, or it is not one value for each observation.
    """
    there = variables(files[0].columns)
    outcomes: dict[str, Replicated] = {}
    for name in [outcome] if outcome else [*data]:
        drawn, y = replicated or name + REPLICATED, as_numbers(data.get(name))
        y_rep = (
            np.concatenate([reshape(file.draws, file.columns, drawn) for file in files])
            if drawn in there
            else simulated.get(name)
        )
        if y is not None and y.ndim and y_rep is not None and y_rep[0].size == y.size:
            given = ~np.isnan(y.ravel("F"))
            groups = groups_of(files[0], data, by, name, y.shape) if by else None
            outcomes[name] = Replicated(
                y.ravel("F")[given],
                y_rep.reshape(len(y_rep), -1, order="F")[:, given],
                groups and groups._replace(codes=groups.codes[given]),
            )
    return outcomes


def groups_of(
    file: DrawsFile, data: Mapping[str, Any], by: str, outcome: str, shape: tuple[int, ...]
) -> Groups:
    """The groups of an outcome of that shape by a column of the data, a value for each of its rows.

    Raises:
        DataError: as `replicated_outcomes`.
    """
    if by not in data:
        raise DataError(f"there is no column {by} among the data; there are {', '.join(data)}.", by)
    column = np.asarray(data[by])
    if not column.ndim or column.shape != shape[: column.ndim]:
        raise DataError(f"{by} has no value for each observation of {outcome}.", by)
    values, codes = np.unique(column, return_inverse=True)
    if len(values) > MOST_GROUPS:
        raise DataError(f"{by} has {len(values)} different values; at most {MOST_GROUPS} are groups.", by)
    levels = getattr(data[by], "levels", None) or file.labels.levels.get(by, ())
    first = getattr(data[by], "first", 1)
    names = [
        levels[int(v) - first] if levels else f"{by} {v:g}" if column.dtype.kind in "biuf" else str(v)
        for v in values
    ]
    every = codes.reshape(column.shape + (1,) * (len(shape) - column.ndim))
    return Groups(by, tuple(names), np.broadcast_to(every, shape).ravel("F"))


def as_numbers(value: Any) -> Floats | None:
    """Data as an array; None for what is no array of numbers."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None


# --- Files ---------------------------------------------------------------------------------------


def read_trace(path: Path) -> ElboTrace:
    """The ELBO's course from a diagnostic file (CSV), or from what `Fit.save` wrote (JSON).

    Raises:
        DataError: the file holds no such thing.
    """
    text, ending = path.read_text(encoding="utf-8"), "stopped"
    try:
        if path.suffix == ".json":
            record = json.loads(text)
            rows = [(point[0], point[2]) for point in record["trace"]]
            ending = Ending(record["outcome"]["ending"]).value
        else:
            lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
            rows = [(row["iter"], row["ELBO"]) for row in csv.DictReader(lines)]
        points = np.array([(float(k), float(elbo)) for k, elbo in rows]).reshape(-1, 2)
        return ElboTrace(points[np.isfinite(points).all(axis=1)], ending)
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"{path} holds no ELBO trace; expected what --diagnostic-file wrote (iter,time_in_seconds,ELBO) "
            "or a saved fit (JSON)."
        ) from None
