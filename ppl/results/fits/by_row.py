"""The log likelihood of each row of the data at draws of a program's parameters."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ppl.density.completions import places_of
from ppl.density.log_density import LogDensity
from ppl.errors import DataError, ModelError, UnknownName
from ppl.floats import Floats
from ppl.kernel.draws.columns import labelled, reshape, variables
from ppl.kernel.draws.names import NO_LABELS, Labels, variable_of
from ppl.kernel.language import ast
from ppl.records import dataclass, replace
from ppl.results.files.read_csv import DrawsFile
from ppl.results.fits.log_prob import unconstrained_of
from ppl.results.report.log_lik import POINTWISE, LogLik, of_values, ratios_in
from ppl.run.table import Table, tabulate
from ppl.source import Span
from ppl.structure.discrete.parameters import has_discrete
from ppl.structure.factors import Factors
from ppl.structure.observed.expected import expected_of
from ppl.structure.observed.log_lik import log_lik_of
from ppl.structure.observed.outcome_names import JOINED
from ppl.structure.observed.predictive import predictive_of


@dataclass(frozen=True, eq=False)
class RowsOfOutcome:
    """The log likelihood of the rows of one outcome: `values` (draws, rows), in nats.

    `at` are the indices of the rows among `shape`, (2, 1) of `y[2,1]`; rows with missing data are absent, and
    those that no term is of, as the first of an autoregression: their density is 1 at every draw.
    `observed` (rows, entries) are the data of each row. `tied` is the place of a term that makes all entries
    of a container one row. `unread` says why there are none if a term of it cannot be read.
    """

    outcome: str
    shape: tuple[int, ...]
    at: tuple[tuple[int, ...], ...]
    values: Floats
    observed: Floats
    tied: Span | None = None
    labels: Labels = NO_LABELS
    unread: ModelError | None = None

    @property
    def array(self) -> Floats:
        """The values (draws, *shape); (draws, rows) where some rows are missing."""
        if self.unread:
            raise self.unread
        if len(self.at) < math.prod(self.shape):
            return self.values
        reversed_axes = range(len(self.shape), 0, -1)
        return self.values.reshape(-1, *self.shape[::-1]).transpose(0, *reversed_axes)

    @property
    def untold(self) -> str:
        """Why there are no rows to leave out; "" where there are."""
        if self.unread:
            return f"line {self.unread.line}: {self.unread.message}"
        if not self.at:
            return f"`{self.outcome}` has no rows."
        if self.tied is None:
            return ""
        return (
            f"`{self.outcome}` has no rows to leave out: line {self.tied.line} has one density of several "
            "entries of it. If they are independent, give each a density of its own. Otherwise compute "
            "`log_lik` in generated quantities, the log likelihood of each row given the others."
        )

    def require_rows(self) -> None:
        """ModelError where they cannot be read, DataError where there are none to leave out."""
        if self.unread:
            raise self.unread
        if self.untold:
            raise DataError(self.untold, self.outcome)

    def log_lik(self, log_ratios: Floats, where: str) -> LogLik:
        """The rows at draws with `log_ratios` (draws,); an error as of `require_rows`."""
        self.require_rows()
        row = "row" if JOINED in self.outcome else self.outcome
        names = tuple(labelled(".".join(map(str, (row, *at))), self.labels) for at in self.at)
        log_lik = of_values(names, self.values, log_ratios, POINTWISE, where)
        return replace(log_lik, outcome=self.outcome, observed=self.observed)


RowsByOutcome = Mapping[str, RowsOfOutcome]


def log_likelihood(posterior: LogDensity, us: Floats) -> RowsByOutcome:
    """The log likelihood by outcome and row at each of `us` (draws, dim), from the terms of the model block.

    Raises:
        ModelError: a term of the program belongs to no row of one variable; says what to write.
        DataError: one density is of values that are given and of missing ones.
    """
    program = log_lik_of(continuous(posterior), draws_back=draws_ints(posterior))
    table = tabulate(again(posterior, program.program), us, seed=0)
    missing, of_terms = rows_missing(posterior, program.tied), (table.rows != 0).any(axis=0).tolist()
    columns = variables(table.columns)

    def rows(name: str, quantity: str) -> RowsOfOutcome:
        every = [(k, tuple(map(int, table.columns[k].split(".")[1:]))) for k in columns.get(quantity, ())]
        parts = name.split(JOINED)
        given = ((k, at) for k, at in every if not any((part, at) in missing for part in parts))
        there = [(k, at) for k, at in given if of_terms[k]]
        at = tuple(at for _, at in there)
        observed = np.hstack([rows_at(np.asarray(posterior.d.of(part), float), at) for part in parts])
        values = table.rows[:, [k for k, _ in there]]
        return RowsOfOutcome(
            name,
            every[-1][1] if every else (0,),
            at,
            values,
            observed,
            program.tied.get(name),
            posterior.labels,
        )

    none = np.empty((len(us), 0))
    omitted = {
        name: RowsOfOutcome(name, (0,), (), none, none.T, unread=why) for name, why in program.unread.items()
    }
    return {**{name: rows(name, quantity) for name, quantity in program.quantities.items()}, **omitted}


def arrays(of_outcomes: RowsByOutcome) -> dict[str, Floats]:
    """By data variable, (draws, *shape of its rows)."""
    return {name: rows.array for name, rows in of_outcomes.items()}


def rows_at(data: Floats, at: Sequence[tuple[int, ...]]) -> Floats:
    """The entries of data at leading indices, counted from 1: (rows, entries)."""
    rows = [data[tuple(k - 1 for k in index)].reshape(-1) for index in at]
    return np.array(rows, float).reshape(len(at), -1 if rows else 0)


def chosen_outcomes(rows: RowsByOutcome, outcome: str | Sequence[str] | None) -> list[RowsOfOutcome]:
    """The rows of all outcomes in turn, of the one that is named, or of several whose rows are added up.

    Raises:
        UnknownName: there is no such outcome.
        DataError: several are named, and their rows do not correspond.
    """
    if not outcome:
        return [*rows.values()]
    names = [outcome] if isinstance(outcome, str) else [*dict.fromkeys(outcome)]
    group = {part: name for name in rows for part in (*name.split(JOINED), name)}
    named = {part for name in names for part in name.split(JOINED)}
    for name in names:
        if name not in group:
            raise UnknownName("no outcome", name, group)
        for other in group[name].split(JOINED):
            if other not in named:
                raise DataError(
                    f"one term of the target has the density of both `{name}` and `{other}`, so that row n "
                    f"of both is left out: name both, {name},{other}.",
                    name,
                )
    return [joined([rows[key] for key in dict.fromkeys(group[name] for name in names)])]


def joined(parts: Sequence[RowsOfOutcome]) -> RowsOfOutcome:
    """Outcomes as one, whose row n is row n of each: its densities are added up.

    A row of which one outcome is missing has the densities of the others.

    Raises:
        DataError: their rows do not correspond, or they have none.
    """
    first, *others = parts
    for part in parts:
        part.require_rows()
    for other in others:
        if other.shape != first.shape:
            own, its = dimensions(first.shape), dimensions(other.shape)
            raise DataError(
                f"the rows do not correspond: `{first.outcome}` has {own}, `{other.outcome}` has {its}. "
                "Densities are added up only where row n of one belongs to row n of the other. Leave out the "
                "rows of each outcome by itself.",
                other.outcome,
            )
    if not others:
        return first
    rows = sorted({at for part in parts for at in part.at}, key=lambda at: at[::-1])
    place = {at: k for k, at in enumerate(rows)}

    def among_all(part: RowsOfOutcome, values: Floats, absent: float) -> Floats:
        joint = np.full((len(rows), values.shape[1]), absent)
        joint[[place[at] for at in part.at]] = values
        return joint

    values = np.sum([among_all(part, part.values.T, 0.0) for part in parts], axis=0).T
    observed = np.hstack([among_all(part, part.observed, np.nan) for part in parts])
    return RowsOfOutcome(JOINED.join(p.outcome for p in parts), first.shape, tuple(rows), values, observed)


def dimensions(shape: Sequence[int]) -> str:
    """How many rows there are, `12 x 3 rows`."""
    return f"{' x '.join(map(str, shape)) or 1} row{'s' * (shape != () and shape != (1,))}"


def rows_missing(posterior: LogDensity, tied: Mapping[str, Span]) -> set[tuple[str, tuple[int, ...]]]:
    """The rows of data with a missing value, which have no likelihood: (3,) of `y`, of a whole vector too.

    Raises:
        DataError: one density is of values that are given and of missing ones.
    """
    missing = set[tuple[str, tuple[int, ...]]]()
    for c in posterior.model.completions:
        spans = [span for name, span in tied.items() if c.name in name.split(JOINED)]
        if spans:
            raise DataError(
                f"line {spans[0].line} has one density of all of `{c.name}`, and some of it is missing: "
                "the observed part has no log likelihood by itself. Give each entry its own density.",
                c.name,
            )
        for index in places_of(c, posterior.d):
            missing |= {(c.name, tuple(k + 1 for k in index[:axes])) for axes in range(len(index) + 1)}
    return missing


def draws_ints(posterior: LogDensity) -> bool:
    """Whether missing ints are drawn back."""
    return any(c.discrete for c in posterior.model.completions)


def in_files(
    posterior: LogDensity, files: Sequence[DrawsFile], outcome: str | Sequence[str] | None = None
) -> list[LogLik]:
    """The log likelihood by row of each outcome at the draws of all runs of a program, as `chosen_outcomes`.

    Raises:
        ModelError: a term of the program belongs to no row of one variable; says what to write.
        DataError: the draws are of other parameters, or the data have no rows.
        UnknownName: there is no such outcome.
    """
    us, ratios, notes = points_in(posterior, files)
    of_files = log_liks(chosen_outcomes(log_likelihood(posterior, us), outcome), ratios, str(files[0].path))
    return [replace(each, notes=(*each.notes, *notes)) for each in of_files]


def points_in(posterior: LogDensity, files: Sequence[DrawsFile]) -> tuple[Floats, Floats, tuple[str, ...]]:
    """The unconstrained points of the draws of all runs (draws, dim), with `ratios_in`."""
    us = np.concatenate([unconstrained_of(posterior, file.columns, file.draws) for file in files])
    return us, *ratios_in(files)


def log_liks(outcomes: Sequence[RowsOfOutcome], log_ratios: Floats, where: str) -> list[LogLik]:
    """The rows of each outcome that has some; a note says which have none.

    Raises:
        DataError: no outcome has rows, or a density is not finite.
    """
    known = [rows for rows in outcomes if not rows.untold] or outcomes
    unread = {rows.unread: rows.untold for rows in outcomes if rows.unread}
    names = {why: ", ".join(f"`{rows.outcome}`" for rows in outcomes if rows.unread is why) for why in unread}
    notes = (
        *(rows.untold for rows in outcomes if rows.untold and not rows.unread),
        *(f"There are no rows of {names[why]}: {sentence}" for why, sentence in unread.items()),
    )
    each_known = (rows.log_lik(log_ratios, where) for rows in known)
    return [replace(each, notes=(*each.notes, *notes)) for each in each_known]


def of_outcome(own: LogLik, posterior: LogDensity, outcome: str) -> LogLik:
    """A `log_lik` of the program as that of its only outcome, with the data of each row if sizes agree."""
    data = np.asarray(posterior.d.of(outcome), float)
    indices = [tuple(map(int, name.partition("[")[2].rstrip("]").split(","))) for name in own.names]
    shape = tuple(map(max, zip(*indices, strict=True)))
    same = data.shape[: len(shape)] == shape
    return replace(own, outcome=outcome, observed=rows_at(data, indices) if same else None)


def outcomes(posterior: LogDensity) -> list[str]:
    """The data variables that the program's densities are of."""
    return [*posterior.model.compilation.factors.outcomes]


def continuous(posterior: LogDensity) -> Factors:
    """The program of a posterior, its discrete parameters summed out for its data."""
    model = posterior.model
    if not model.completions and model.discrete:
        return Factors(*model.compilation.continuous)
    if model.completions and model.discrete and has_discrete(model.compilation.checked[0]):
        raise DataError(
            "the log likelihood by row of a program with discrete parameters is not read where data are "
            "missing; compute `log_lik` in generated quantities."
        )
    return model.compilation.factors


def again(posterior: LogDensity, program: ast.Program) -> LogDensity:
    """The posterior of another program of the same parameters, given the same data."""
    model: Any = posterior.model.of_program(program)
    return model.condition(posterior.data, seed=posterior.d.seed__)


def predictive(posterior: LogDensity, us: Floats, seed: int) -> dict[str, Floats]:
    """Data drawn anew given each of `us` (draws, dim), by data variable (draws, *its own shape).

    Raises:
        ModelError: a term of data is no draw; says which, and what to write.
    """
    return arrays_of(*predictive_table(posterior, us, seed))


def arrays_of(table: Table, names: Mapping[str, str]) -> dict[str, Floats]:
    """Quantities by the name of the outcome that each is of (draws, *its own shape)."""
    return {name: reshape(table.rows, table.columns, own) for name, own in names.items()}


def predictive_table(
    posterior: LogDensity, us: Floats, seed: int, means: bool = False
) -> tuple[Table, Mapping[str, str]]:
    """The same as columns, `y_rep.1`, and the name of each data variable there; or their `means`."""
    of, what = (expected_of, "Expected values") if means else (predictive_of, "Predictions")
    program = of(posterior.model.compilation.factors, draws_back=draws_ints(posterior))
    table = tabulate(again(posterior, program.program), us, seed)
    table.require_some(what)
    own = {*program.quantities.values()}
    at = [k for k, column in enumerate(table.columns) if variable_of(column) in own]
    return table.only(at), program.quantities
