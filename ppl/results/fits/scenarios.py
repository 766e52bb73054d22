"""Expected values of rows that differ in a few predictors: over a grid of one, and how they compare."""

import re
from collections.abc import Iterator, Mapping, Sequence, Sized
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ppl.density.log_density import LogDensity
from ppl.errors import DataError, UnknownName
from ppl.floats import Floats
from ppl.programs.rewriting import text_of
from ppl.records import dataclass
from ppl.results.fits.expected import (
    Axis,
    ExpectedOverGrid,
    ExpectedValues,
    Summarise,
    axes_of,
    text_of_value,
)
from ppl.results.fits.new_rows import predicted
from ppl.results.report.summary import Summary
from ppl.structure.discrete.parameters import is_discrete
from ppl.structure.observed.descendants import dependents, descendants
from ppl.structure.observed.new_rows import NewRows

if TYPE_CHECKING:
    import pandas as pd

COLUMN = re.compile(r"(.*)\[(\d{1,9})\]", re.ASCII | re.DOTALL)
GRID = 50
"""Values of a predictor between its least and its greatest."""
FEW_VALUES = 20
"""Different values up to which a grid is these."""
FEW_GROUPS = 6
"""Different values of a second predictor up to which each is a group."""


@dataclass(frozen=True)
class Predictors:
    """The data by row of a fit that have one size in common, `axes` the axis that has it.

    A predictor is one of them, or a column of a matrix, `x[2]`. Levels of factors are words. `read` are the
    data that new rows need, `outcomes` what is modelled, transformed data among them. `held` are modelled
    data, and parameters by row, that do not depend on the predictors that are changed: those of the fit.
    """

    posterior: LogDensity
    size: str
    axes: Mapping[str, int]
    read: frozenset[str]
    outcomes: frozenset[str]
    held: frozenset[str] = frozenset()

    def require(self, predictor: str) -> None:
        """Refuse a predictor that is no column of its variable."""
        name, column = split_column(predictor)
        x = self.by_row(name)
        columns = [f"{name}[{k + 1}]" for k in range(x.shape[1])] if x.ndim == 2 else [name]
        if column is not None and predictor not in columns:
            raise UnknownName("no data by row called", predictor, columns)

    def by_row(self, name: str) -> Any:
        """The data of a variable, the rows first."""
        return np.moveaxis(self.data_of(name), self.axes[name], 0)

    def data_of(self, name: str) -> Any:
        """The data of a variable, nan where they are missing."""
        missing = {c.name for c in self.posterior.model.completions}
        return np.asarray(self.posterior.observed[name] if name in missing else self.posterior.d.of(name))

    def is_int(self, name: str) -> bool:
        return np.asarray(self.posterior.d.of(name)).dtype.kind in "iu"

    def values(self, predictor: str) -> Any:
        """The data of a predictor (rows,)."""
        name, column = split_column(predictor)
        x = self.by_row(name) if column is None else self.by_row(name)[:, column]
        return self.word_of(name, x)

    def word_of(self, name: str, x: Any) -> Any:
        """Levels in place of codes."""
        levels = self.posterior.levels.get(name)
        if not levels:
            return x
        codes = np.where(np.isnan(x), len(levels), x - self.posterior.data[name].first)
        return np.array([*levels, np.nan], object)[codes.astype(int)]

    def typical(self) -> dict[str, Any]:
        """The mean of each real and the mode of each integer, over the rows, but of outcomes."""
        names = [name for name in self.axes if name in self.read | self.held]
        return {name: typical(self.by_row(name), self.is_int(name)) for name in names}

    def rows(self, n: int, values: Mapping[str, Any], at_typical: bool) -> dict[str, Any]:
        """New data of `n` rows, the typical ones or those of the fit, with `values` (n,) of predictors."""
        held = {name: self.data_of(name) for name in self.held & self.posterior.model.data_schema.keys()}
        held = {name: x for name, x in held.items() if name in self.axes or not x.shape}  # others stay
        if not at_typical:
            of = {name: self.by_row(name) if name in self.axes else x for name, x in held.items()}
        else:
            of = {name: np.repeat(x[None], n, axis=0) for name, x in self.typical().items()}
            of |= {name: x for name, x in held.items() if name not in self.axes}
        for predictor, x in values.items():
            name, column = split_column(predictor)
            if column is not None:
                matrix = np.array(of.get(name, self.by_row(name)), float)
                matrix[:, column] = x
                x = matrix
            of[name] = x
        as_declared = {
            name: np.moveaxis(x, 0, self.axes[name]) if isinstance(x, np.ndarray) and name in self.axes else x
            for name, x in of.items()
        }
        return {**as_declared, self.size: n}

    def expected(self, us: Floats, data: Mapping[str, Any], seed: int) -> dict[str, Floats]:
        """The expected values (draws, rows, ...) of the outcomes that have these rows."""
        means = predicted(self.posterior, us, dict(data), seed, means=True, kept=self.held)
        return {name: x for name, x in means.items() if name in self.outcomes and self.axes.get(name) == 0}


def require_level(posterior: LogDensity, name: str, value: Any) -> None:
    """Refuse a word that is no level of a factor: a misspelt one would be a new group."""
    levels = posterior.levels.get(name)
    if levels and isinstance(value, str) and value not in levels:
        raise UnknownName(f"{name} has no level", value, levels)


def predictors_of(posterior: LogDensity, named: Sequence[str], of_fit: bool = False) -> Predictors:
    """The data that have the rows of the predictors that are named; with `of_fit` rows will be the fit's.

    Raises:
        UnknownName: one is no data by row.
        DataError: they have rows of different sizes, or the size is no variable.
    """
    rows = NewRows(posterior.model.compilation.factors)
    sizes = rows.factors.sizes
    own = {d.name for d in rows.program.data}
    places = {
        name: (text_of(size), axis)
        for name in sizes
        for axis, size in reversed([*enumerate(sizes[name])])
        if text_of(size) in rows.rows
    }
    names = [split_column(predictor)[0] for predictor in named]
    for name in names:
        if name in own - {*places} and sizes[name]:
            rows_of = " and ".join(f"`{y}` has {text_of(sizes[y][0])}" for y in rows.modelled if sizes[y])
            raise DataError(
                f"`{name}` has {text_of(sizes[name][0])} rows, but no outcome has: {rows_of or 'none'} rows. "
                f"Write a `~` statement of an outcome with the rows of `{name}`.",
                name,
            )
        if name not in own & {*places}:
            raise UnknownName("no data by row called", name, [*filter(own.__contains__, places)])
    size, *others = dict.fromkeys(places[name][0] for name in names)
    if others:
        raise DataError(
            f"{' and '.join(names)} have rows of different sizes, {size} and {others[0]}.", names[1]
        )
    if size not in own:
        raise DataError(f"`{names[0]}` has {size} rows; expected a size that is a variable, int N.", names[0])
    axes = {name: axis for name, (text, axis) in places.items() if text == size}
    read = frozenset(d.name for d in rows.data) | {*names}
    outcomes = frozenset(rows.modelled)
    held = held_by(rows, names, of_fit)
    held |= {source for name in held & sizes.keys() for source in rows.sources(name)}
    predictors = Predictors(posterior, size, axes, read, outcomes - {*names}, held)
    for predictor in named:
        predictors.require(predictor)
    return predictors


def held_by(rows: NewRows, names: Sequence[str], of_fit: bool) -> frozenset[str]:
    """The modelled data, and parameters by row, that do not depend on the named predictors.

    If no outcome depends on a predictor, as on a measurement, it tells of what it depends on: nothing of this
    is held. Parameters by row are those of the fit only in its rows.
    """
    by_row = {d.name: d for d in rows.program.parameters if rows.by_row(d)}
    every = frozenset(rows.modelled) | by_row.keys()
    terms = [*dependents(rows.factors)]
    measured = {name for name in names if not descendants(rows.factors, terms, [name]) & {*rows.modelled}}
    start = {*names}
    if measured:
        start |= {name for name in every if descendants(rows.factors, terms, [name]) & measured}
    start |= {name for name, d in by_row.items() if not of_fit or is_discrete(d)}
    return every - start - descendants(rows.factors, terms, start)


def split_column(predictor: str) -> tuple[str, int | None]:
    """Variable and column, counted from 0, of `x[2]`; None of `x`."""
    name, column = match.groups() if (match := COLUMN.fullmatch(predictor)) else (predictor, None)
    return name, None if column is None else int(column) - 1


def typical(x: Any, is_int: bool) -> Any:
    """The mean over rows of reals, the most frequent value of integers, of those that are not missing."""
    if not is_int:
        return np.nanmean(x, axis=0)
    columns = x.reshape(len(x), -1).T
    each = [np.unique(column[~np.isnan(column)], return_counts=True) for column in columns]
    return np.array([values[counts.argmax()] for values, counts in each]).astype(int).reshape(x.shape[1:])


def repeated(name: str, value: Any, n: int) -> Any:
    """A value of a predictor in each of `n` rows."""
    if value is None or np.ndim(value):
        raise DataError(f"`{name}` is {value!r}; expected one value, a number or a level", name)
    return [value] * n if isinstance(value, str) else np.full(n, value)


def listed(values: Sequence[Any]) -> Any:
    return [*values] if isinstance(values[0], str) else np.array(values)


# --- Over a grid ---------------------------------------------------------------------------------


class Effects(ExpectedOverGrid):
    """Expected values over a grid of a predictor, the others at their mean, integers at their mode.

    `grid` are the values of the predictor, `groups` those of `by`; `expected` has an array (draws, grid) by
    outcome, or (draws, grid, groups); of categories the last axis has probabilities. `points` are the data:
    predictor, `by` and outcome, (rows,) each. `others` are the values of the other predictors.

    Example:
        >>> program = "data { int N; vector[N] x; vector[N] y; } parameters { real b; } "
        >>> program += "model { b ~ normal(0, 5); y ~ normal(b * x, 1); }"
        >>> data = {"N": 3, "x": [1, 2, 3], "y": [1, 2, 4]}
        >>> effects = compile_model(program).condition(data).variational(seed=1).effects("x")
        >>> effects.grid, effects.expected["y"].shape
        ([1.0, 2.0, 3.0], (1000, 3))
    """

    def __repr__(self) -> str:
        by = f" by {self.by}" if self.by else ""
        return f"<Effects of {self.predictor}{by} on {', '.join(self.expected)}: {len(self.grid)} values>"

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def summary(self, interval: float = 0.9, hdi: bool = False, sig_figs: int | None = None) -> Summary:
        """Mean, standard error, sd and interval of each expected value, in rows `y[age=40,sex=F]`.

        `interval`, `hdi` and `sig_figs` are as in `Fit.summary`.
        """
        return self.expected.summary(interval, hdi, sig_figs)

    def plot(self, interval: float = 0.9, hdi: bool = False, narrow: bool = False) -> Any:
        """The picture: means and intervals over the grid, a colour for each group, and the data.

        Of outcomes that are 0 or 1, and of categories, the data are shares of rows with similar predictors;
        of a factor, means by level. Returns the axes of matplotlib, an array of several.

        Raises:
            MissingPackage: matplotlib is not installed.
        """
        from ppl.results.pictures.effects import axes_of

        return axes_of(self, interval, hdi, narrow)

    def to_pandas(self) -> "pd.DataFrame":
        """The summary as a DataFrame, in full precision.

        Raises:
            MissingPackage: pandas is not installed.
        """
        return self.summary().to_pandas()


def effects(
    posterior: LogDensity,
    us: Floats,
    summarise: Summarise,
    predictor: str,
    by: str = "",
    at: Mapping[str, Any] = {},
    seed: int = 1,
) -> Effects:
    """The expected values of the outcomes over a grid of a predictor; of others, the values `at`.

    Raises:
        UnknownName, DataError: as for `predictors_of`.
        DataError, ModelError: as for predictions of new rows.
    """
    names = [predictor, *filter(None, [by])]
    own = predictors_of(posterior, [*names, *at])
    axes = [grid_of(own, predictor), *(groups_of(own, by) for _ in names[1:])]
    n = len(pairs := [*product(*axes)])
    values = {name: listed([pair[k] for pair in pairs]) for k, name in enumerate(names)}
    fixed = {name: repeated(name, value, n) for name, value in at.items()}
    means = own.expected(us, own.rows(n, {**fixed, **values}, at_typical=True), seed)
    shape = [*map(len, axes)]
    draws = {name: x.reshape(len(x), *shape, *x.shape[2:]) for name, x in means.items()}
    places: list[Axis] = [
        [f"{name}={text_of_value(value)}" for value in axis] for name, axis in zip(names, axes, strict=True)
    ]
    named = {name: [*places, *own_axes[1:]] for name, own_axes in axes_of(posterior, means).items()}
    points = {
        name: (own.values(predictor), own.values(by) if by else None, own.by_row(name)) for name in means
    }
    others = {name: own.word_of(name, x) for name, x in own.typical().items() if name not in names}
    expected = ExpectedValues(draws, summarise, named)
    return Effects(predictor, axes[0], by, axes[1] if by else [], expected, points, {**others, **at})


def grid_of(own: Predictors, predictor: str) -> list[Any]:
    """Each of few values or levels, else values between the least and the greatest."""
    x = own.values(predictor)
    if x.ndim > 1:
        raise DataError(f"`{predictor}` has several columns; name one, {predictor}[1].", predictor)
    if x.dtype == object:
        return [level for level in own.posterior.levels[predictor] if level in {*x}]
    different = np.unique(x[~np.isnan(x)])
    if len(different) > FEW_VALUES:
        whole, grid = (different == different.round()).all(), np.linspace(different[0], different[-1], GRID)
        different = np.unique(grid.round()) if whole else grid
    return list(different.astype(x.dtype).tolist())


def groups_of(own: Predictors, by: str) -> list[Any]:
    """The values of a second predictor: each of a few, else the mean and one sd on either side."""
    grid = grid_of(own, by)
    if len(grid) <= FEW_GROUPS or isinstance(grid[0], str):
        return grid
    x = own.values(by)
    return [float(np.nanmean(x) + k * np.nanstd(x)) for k in (-1, 0, 1)]


# --- Comparisons ---------------------------------------------------------------------------------


def contrast(
    posterior: LogDensity,
    us: Floats,
    summarise: Summarise,
    scenarios: Mapping[str, Sequence[Any]],
    average: bool = True,
    seed: int = 1,
) -> ExpectedValues:
    """Differences, ratios and odds ratios of each scenario with the first.

    They are of means over the rows of the fit, or with `average` False of the typical row.

    Raises:
        DataError: there are no two scenarios.
        UnknownName: a word is no level of its factor.
        UnknownName, DataError, ModelError: as for `effects`.
    """
    lengths = {len(values) if isinstance(values, Sized) else 1 for values in scenarios.values()}
    if len(lengths) != 1 or min(lengths) < 2:
        raise DataError(
            "a contrast compares scenarios; expected two or more values of a predictor, and as many of each, "
            '{"sex": ["F", "M"]}.'
        )
    own = predictors_of(posterior, [*scenarios], of_fit=average)
    for name, value in ((name, value) for name, values in scenarios.items() for value in values):
        require_level(posterior, name, value)
    n = len(own.values(next(iter(scenarios)))) if average else 1
    cases = [dict(zip(scenarios, case, strict=True)) for case in zip(*scenarios.values(), strict=True)]
    means = list[dict[str, Floats]]()
    for case in cases:
        values = {name: repeated(name, value, n) for name, value in case.items()}
        means.append(own.expected(us, own.rows(n, values, at_typical=not average), seed))
    first, *others = [",".join(map(text_of_value, case.values())) for case in cases]
    draws, axes = dict[str, Floats](), dict[str, list[Axis]]()
    for name, (_, *of_row) in axes_of(posterior, means[0]).items():
        base, *rest = (each[name].mean(axis=1) for each in means)
        for what, sign, x in comparisons(own.by_row(name), base, np.stack(rest, axis=1)):
            draws[f"{what}_{name}"] = x
            axes[f"{what}_{name}"] = [[f"{other} {sign} {first}" for other in others], *of_row]
    return ExpectedValues(draws, summarise, axes)


def comparisons(y: Any, base: Floats, others: Floats) -> Iterator[tuple[str, str, Floats]]:
    """Each way in which means (draws, others, ...) are compared with `base`: its name, its sign, its draws.

    A ratio requires positive means, an odds ratio probabilities: of an outcome that is 0 or 1, or categories.
    """
    base = base[:, None]
    yield "difference", "-", others - base
    if (base > 0).all() and (others > 0).all():
        yield "ratio", "/", others / base
        if base.ndim > 2 or np.isin(y[~np.isnan(y)], (0, 1)).all():
            with np.errstate(divide="ignore"):
                yield "odds_ratio", "/", others / (1 - others) * (1 - base) / base
