"""Draws of what new rows lack, given the data that depend on it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.advice import Advice
from ppl.density.log_density import LogDensity
from ppl.errors import DataError, InferenceError
from ppl.floats import Floats
from ppl.kernel.draws.columns import reshape
from ppl.kernel.draws.names import variable_of
from ppl.kernel.language import ast
from ppl.methods.moves.conditional import conditional
from ppl.records import dataclass
from ppl.results.fits.log_prob import unconstrained_of
from ppl.run.posterior_target import PosteriorTarget
from ppl.run.table import Table, tabulate
from ppl.run.target import threads_of_fit
from ppl.structure.observed.completed import Completion
from ppl.structure.observed.new_rows import NewRows, Predicting, Shapes
from ppl.structure.observed.tied import Tied

MOVES_STREAM = 0x7465
"""The stream "te" of the moves, apart from those of the inference and of generated quantities."""


@dataclass(frozen=True)
class RowsInPart:
    """New rows, of which some values are not known: their data, and the entries that are given.

    `shapes` are those of what the fit gives; of parameters, at the fit and for new rows.
    """

    posterior: LogDensity
    new_rows: NewRows
    values: Mapping[str, Any]
    entries: Mapping[str, NDArray[np.bool_]]
    shapes: tuple[Shapes, Shapes, Shapes]

    def compiled(self, program: ast.Program, more: Mapping[str, Any]) -> LogDensity:
        """The posterior of a program for these rows."""
        return posterior_of(self.posterior, program, {**self.values, **more})


def posterior_of(posterior: LogDensity, program: ast.Program, values: Mapping[str, Any]) -> LogDensity:
    """A program for new rows, in which no data of the fit are missing, with its data."""
    model: Any = posterior.model.of_program(program, missing=frozenset())
    return model.condition(values)


@dataclass(frozen=True)
class TiedColumns:
    """The columns of a program for new rows at draws of a fit."""

    table: Table
    program: Predicting

    @property
    def outcomes(self) -> Table:
        """The columns of what is drawn, or of its expected values."""
        own = self.program.outputs.values()
        return self.table.only(
            [k for name in own for k, c in enumerate(self.table.columns) if variable_of(c) == name]
        )

    def log_lik(self, name: str) -> Floats:
        """The log density of what is given of a data variable, (draws, *rows)."""
        return reshape(self.table.rows, self.table.columns, self.program.log_lik[name])


def given_tied(
    rows: RowsInPart, us: Floats, seed: int, tied: Tied, tables: tuple[Table, Table]
) -> TiedColumns:
    """Draws of what new rows lack: the tied part by its density, from draws that ignore what rows hold.

    Raises:
        DataError: something that is tied is discrete.
        InferenceError: the draws do not settle.
    """
    refuse_discrete(rows, tied)
    shapes, old, new = rows.shapes
    program = rows.new_rows.predicting(shapes, old, new, tied)
    places = {c.name: missing(rows, c, tables[0]) for c in program.unknown}
    indices = {
        at: p[:, k] + 1 for c in program.unknown for k, at in enumerate(c.at) for p in [places[c.name]]
    }
    counts = {c.count: len(places[c.name]) for c in program.unknown}
    posterior = rows.compiled(program.computing(program.all_quantities), {**counts, **indices})
    dim = posterior.param_unc_num() - sum(counts.values())
    starts = [start_of(posterior, us[:, :dim], table, program.unknown, places) for table in tables]
    target = PosteriorTarget(posterior).given(np.arange(dim))
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(MOVES_STREAM,)))
    with threads_of_fit(posterior):
        ending = conditional(target, us[:, :dim], starts[0][:, dim:], starts[1][:, dim:], rng)
    if not ending.forgotten:
        raise InferenceError(
            f"Draws of {listed(tied.unknown)} given {listed(tied.conditions)} do not converge. Predict fewer "
            f"rows at once, or leave out {listed(tied.conditions)}."
        )
    table = tabulate(posterior, np.concatenate([starts[0][:, :dim], ending.points], axis=1), seed)
    table.require_some("Predictions")
    return TiedColumns(table, program)


def given_draws(rows: RowsInPart, us: Floats, seed: int, imputed: Sequence[Completion]) -> TiedColumns:
    """Draws of what the rows of a fit lack, given its own draws of the data that were missing."""
    program = rows.new_rows.predicting(*rows.shapes, Tied(frozenset(c.name for c in imputed)))
    of_fit, d = {c.name: c for c in rows.posterior.model.completions}, rows.posterior.d
    data = {
        name: d.of(of_name)
        for c in program.unknown
        for name, of_name in zip((c.count, *c.at), (of_fit[c.name].count, *of_fit[c.name].at), strict=True)
    }
    posterior = rows.compiled(program.computing(program.all_quantities), data)
    dim = posterior.param_unc_num() - sum(data[c.count] for c in program.unknown)
    names = [variable_of(name) for name in rows.posterior.param_unc_names()]
    parts = [np.array([name == c.name for name in names]) for c in program.unknown]
    points = np.concatenate([us[:, :dim], *(us[:, part] for part in parts)], axis=1)
    table = tabulate(posterior, points, seed)
    table.require_some("Predictions")
    return TiedColumns(table, program)


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def refuse_discrete(rows: RowsInPart, tied: Tied) -> None:
    """DataError where a discrete value would have to be drawn given what depends on it."""
    discrete = {name for name in tied.unknown if rows.new_rows.is_int(name)}
    if discrete:
        name = min(tied.conditions)
        raise DataError(
            (
                f"`{name}` is given and depends on {listed(discrete)}, which is discrete and not given. "
                f"Draws of discrete values given `{name}` are not supported. To predict without `{name}`, "
                "leave it out or replicate it: ",
                Advice("replicate", name),
                ".",
            ),
            name,
        )


def missing(rows: RowsInPart, c: Completion, table: Table) -> NDArray[np.intp]:
    """The places (missing, axes) of what is not known, counted from 0."""
    shape = reshape(table.rows[:1], table.columns, c.name).shape[1:]
    _, old, _ = rows.shapes
    known = np.zeros(shape, bool)
    if c.name in rows.entries:
        known = rows.entries[c.name]
    elif c.name in old and not rows.new_rows.by_row(c.declared):
        known[tuple(slice(n) for n in old[c.name])] = True
    return np.argwhere(~known)


def start_of(
    posterior: LogDensity,
    us: Floats,
    table: Table,
    unknown: Sequence[Completion],
    places: dict[str, NDArray[np.intp]],
) -> Floats:
    """The unconstrained points (draws, dim): parameters of the fit, then what is unknown, as it was drawn."""
    drawn = {c.name: reshape(table.rows, table.columns, c.name) for c in unknown}
    entries = [drawn[c.name][(slice(None), *places[c.name].T)].reshape(len(us), -1) for c in unknown]
    if not any(ast.limits(c.type) for c in unknown):
        return np.concatenate([us, *entries], axis=1)
    of_fit = len(posterior.param_names()) - sum(map(len, places.values()))
    columns = np.concatenate([table.rows[:, :of_fit], *entries], axis=1)
    return unconstrained_of(posterior, posterior.param_names(), columns)
