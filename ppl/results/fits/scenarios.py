"""Expected values of rows that differ in a few predictors: over a grid of one, and how they compare."""

import re
from collections.abc import Iterator, Mapping, Sequence, Sized
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ppl.density.log_density import LogDensity
from ppl.errors import DataError, UnknownName
from ppl.floats import Floats
from ppl.kernel.language.ast import all_sizes
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
from ppl.structure.observed.descendants import Dependent, dependents, descendants
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
    """The data that a contrast changes, and the rows of the outcomes that depend on them.

    A predictor is a data variable, or a column of a matrix, `x[2]`. Levels of factors are words. `own` are
    the sizes of predictors along rows or groups, `sizes` those of outcomes, `axes` by such a size the data
    that have it, each with its axis. `outcomes` is what is modelled, transformed data among them.
    """

    posterior: LogDensity
    new_rows: NewRows
    own: Mapping[str, str]
    sizes: Sequence[str]
    axes: Mapping[str, Mapping[str, int]]
    outcomes: frozenset[str]

    def require(self, predictor: str) -> None:
        """Refuse a predictor that is no column of its variable."""
        name, column = split_column(predictor)
        x = self.by_row(name)
        columns = [f"{name}[{k + 1}]" for k in range(x.shape[1])] if x.ndim == 2 else [name]
        if column is not None and predictor not in columns:
            raise UnknownName("no data by row called", predictor, columns)

    def by_row(self, name: str, size: str = "") -> Any:
        """The data of a variable, the rows first."""
        axes = self.axes.get(size or self.own.get(name, ""), {})
        return np.moveaxis(self.data_of(name), axes.get(name, 0), 0)

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

    def held(self, anew: str = "") -> frozenset[str]:
        """The modelled data, and parameters by row, that do not depend on the predictors: those of the fit.

        Parameters of rows `anew` are not. If no outcome depends on a predictor, as on a measurement, it tells
        of what it depends on: nothing of this is held.
        """
        rows, names = self.new_rows, [*self.own]
        by_row = {d.name: d for d in rows.program.parameters if rows.by_row(d)}
        every = self.outcomes_of_all | by_row.keys()
        measured = {name for name in names if not self.depending_on([name]) & self.outcomes_of_all}
        start = {*names}
        if measured:
            start |= {name for name in every if self.depending_on([name]) & measured}
        start |= {
            name for name, d in by_row.items() if is_discrete(d) or anew in map(text_of, all_sizes(d.type))
        }
        held = every - start - self.depending_on([*start])
        return held | {source for name in held & rows.factors.sizes.keys() for source in rows.sources(name)}

    @property
    def outcomes_of_all(self) -> frozenset[str]:
        """All that is modelled."""
        return frozenset(self.new_rows.modelled)

    def depending_on(self, names: Sequence[str]) -> frozenset[str]:
        """The data and parameters that depend on variables of these names."""
        return descendants(self.new_rows.factors, self.terms, names)

    @cached_property
    def terms(self) -> Sequence[Dependent]:
        return [*dependents(self.new_rows.factors)]

    @cached_property
    def read(self) -> frozenset[str]:
        """The data that new rows need."""
        return frozenset(d.name for d in self.new_rows.data) | {*self.own}

    @cached_property
    def anew(self) -> frozenset[str]:
        """The parameters of groups that depend on predictors: in each scenario they are others."""
        parameters = {d.name: d for d in self.new_rows.program.parameters}
        depending = [parameters[name] for name in self.depending_on([*self.own]) & parameters.keys()]
        sizes = self.new_rows.factors.groups_within({*self.own.values()})
        return frozenset(d.name for d in depending if sizes & {*map(text_of, all_sizes(d.type))})

    def typical(self, size: str) -> dict[str, Any]:
        """The mean of each real and the mode of each integer, over the rows, but of outcomes."""
        names = [name for name in self.axes[size] if name in self.read | self.held(size)]
        return {name: typical(self.by_row(name, size), self.is_int(name)) for name in names}

    def changed(self, values: Mapping[str, Any], of: Mapping[str, Any] = {}) -> dict[str, Any]:
        """The data of predictors, columns of matrices among those `of` rows; rows first."""
        out = {**of}
        for predictor, x in values.items():
            name, column = split_column(predictor)
            if column is not None:
                matrix = np.array(out.get(name, self.by_row(name)), float)
                matrix[:, column] = x
                x = matrix
            out[name] = x
        return out

    def in_place(self, values: Mapping[str, Any], size: str) -> dict[str, Any]:
        """The same with rows at their own axis."""
        axes = self.axes[size]
        return {
            name: np.moveaxis(x, 0, axes[name]) if isinstance(x, np.ndarray) and name in axes else x
            for name, x in values.items()
        }

    def of_groups(self, values: Mapping[str, Any], size: str = "") -> dict[str, Any]:
        """Values, one each, of all entries of the predictors that do not have these rows."""
        out = dict[str, Any]()
        for own in dict.fromkeys(self.own.values()):
            named = {p: x for p, x in values.items() if self.own[split_column(p)[0]] == own != size}
            repeated_each = {p: repeated(p, x, len(self.values(p))) for p, x in named.items()}
            out |= self.in_place(self.changed(repeated_each), own)
        return out

    def of_fit(self, us: Floats, values: Mapping[str, Any], seed: int) -> dict[str, Floats]:
        """The expected values (draws, ...) of the outcomes, means over the rows of the fit."""
        held = self.held()
        given = {name: self.data_of(name) for name in held & self.posterior.model.data_schema.keys()}
        sizes = {n: self.data_of(n) for n in self.own.values() if n in self.posterior.model.data_schema}
        means = self.expected(us, {**given, **sizes, **self.of_groups(values)}, held, seed)
        return {
            name: x.mean(axis=1) if x.ndim > 1 else x for name, x in means.items() if name in self.outcomes
        }

    def of_typical(self, us: Floats, cases: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Floats]:
        """The expected values (draws, cases, ...) of the outcomes in a typical row, given each of some cases.

        Predictors of the rows vary among these; those of groups are given to all groups.
        """
        out = dict[str, Floats]()
        for size in self.sizes:
            alike = dict[tuple[Any, ...], list[int]]()
            for k, case in enumerate(cases):
                of_groups = (x for p, x in case.items() if self.own[split_column(p)[0]] != size)
                alike.setdefault(tuple(of_groups), []).append(k)
            each = [self.in_rows(us, [cases[k] for k in ks], size, seed) for ks in alike.values()]
            order = np.argsort([k for ks in alike.values() for k in ks])
            for name in each[0]:
                out[name] = np.concatenate([means[name] for means in each], axis=1)[:, order]
        return {name: out[name] for name in self.new_rows.modelled if name in out}

    def in_rows(
        self, us: Floats, cases: Sequence[Mapping[str, Any]], size: str, seed: int
    ) -> dict[str, Floats]:
        """The same for the outcomes of rows of one size, a row for each case."""
        wanted, held = len(cases), self.held(size)
        if any(size in indexed for indexed in self.new_rows.factors.indices.values()):
            spare = int(self.data_of(size)) - wanted  # indices of the fit need as many rows
            cases = [*cases, *[cases[-1]] * spare]
        n = len(cases)
        given = {name: self.data_of(name) for name in held & self.posterior.model.data_schema.keys()}
        named = [p for p in cases[0] if self.own[split_column(p)[0]] == size]
        varied = {p: listed([case[p] for case in cases]) for p in named}
        of = {name: np.repeat(x[None], n, axis=0) for name, x in self.typical(size).items()}
        of |= {name: x for name, x in given.items() if name not in self.axes[size]}
        data = {**self.in_place(self.changed(varied, of), size), **self.of_groups(cases[0], size), size: n}
        means = self.expected(us, data, held, seed)
        return {
            name: x[:, :wanted]
            for name, x in means.items()
            if name in self.outcomes and self.axes[size].get(name) == 0
        }

    def points(self, outcome: str, predictor: str, by: str) -> tuple[Any, Any, Any]:
        """The data of a picture: of each row of an outcome, or of none, the predictors and the outcome."""
        y, size = self.by_row(outcome), text_of(self.new_rows.factors.sizes[outcome][0])
        out = list[Any]()
        for name in filter(None, (predictor, by)):
            at = self.groups_of_rows(size, self.own[split_column(name)[0]], frozenset())
            if at is None:
                return self.values(predictor)[:0], self.values(by)[:0] if by else None, y[:0]
            out.append(self.values(name)[at])
        return out[0], out[1] if by else None, y

    def groups_of_rows(self, size: str, own: str, seen: frozenset[str]) -> Any:
        """The group of each row, from 0, by the data that index groups; None if several do, or none."""
        if size == own:
            return np.arange(int(self.data_of(size)))
        sizes, each = self.new_rows.factors.sizes, list[Any]()
        for name, indexed in self.new_rows.factors.indices.items():
            if [*map(text_of, sizes[name])] == [size]:
                for group in sorted(indexed - seen - {size}):
                    if (at := self.groups_of_rows(group, own, seen | {size})) is not None:
                        each.append(at[self.data_of(name) - 1])
        return each[0] if len(each) == 1 else None

    def expected(
        self, us: Floats, data: Mapping[str, Any], held: frozenset[str], seed: int
    ) -> dict[str, Floats]:
        """The expected values of all that is modelled; what depends on the predictors is drawn anew."""
        others = [name for name in self.new_rows.modelled if name in self.outcomes - held - data.keys()]
        return predicted(self.posterior, us, dict(data), seed, others, means=True, kept=held, anew=self.anew)


def require_level(posterior: LogDensity, name: str, value: Any) -> None:
    """Refuse a word that is no level of a factor: a misspelt one would be a new group."""
    levels = posterior.levels.get(name)
    if levels and isinstance(value, str) and value not in levels:
        raise UnknownName(f"{name} has no level", value, levels)


def predictors_of(posterior: LogDensity, named: Sequence[str]) -> Predictors:
    """The data that are named, and the rows of the outcomes that depend on them.

    Raises:
        UnknownName: one is no data by row or group.
        DataError: no outcome depends on one that has no rows of an outcome.
    """
    rows = NewRows(posterior.model.compilation.factors)
    sizes = rows.factors.sizes
    declared = {d.name for d in rows.program.data}
    names = [split_column(predictor)[0] for predictor in named]
    own = dict[str, str]()
    for name in names:
        if name not in declared or not sizes[name]:
            raise UnknownName("no data by row called", name, [n for n in sizes if n in declared and sizes[n]])
        texts = [*map(text_of, sizes[name])]
        own[name] = next((text for text in texts if text in rows.rows), texts[0])
    terms = [*dependents(rows.factors)]
    modelled = {*rows.modelled} - {*names}
    depending = {name: descendants(rows.factors, terms, [name]) & modelled for name in own}
    for name, size in own.items():
        if size not in rows.rows and not depending[name]:
            rows_of = " and ".join(f"`{y}` has {text_of(sizes[y][0])}" for y in rows.modelled if sizes[y])
            raise DataError(
                f"`{name}` has {size} rows, but no outcome has: {rows_of or 'none'} rows. "
                f"Write a `~` statement of an outcome with the rows of `{name}`.",
                name,
            )
    with_rows = {y for y in modelled if sizes[y] and text_of(sizes[y][0]) in own.values()}
    outcomes = with_rows.union(*depending.values())
    of_outcomes = dict.fromkeys(text_of(sizes[y][0]) for y in rows.modelled if y in outcomes and sizes[y])
    axes = {
        size: {
            name: [*map(text_of, each)].index(size)
            for name, each in sizes.items()
            if size in map(text_of, each)
        }
        for size in {*own.values(), *of_outcomes}
    }
    counted = [size for size in of_outcomes if size in declared]
    predictors = Predictors(posterior, rows, own, counted, axes, frozenset(outcomes))
    for predictor in named:
        predictors.require(predictor)
    return predictors


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
    for name, value in at.items():
        repeated(name, value, 1)
    cases = [{**at, **dict(zip(names, case, strict=True))} for case in product(*axes)]
    means = own.of_typical(us, cases, seed)
    shape = [*map(len, axes)]
    draws = {name: x.reshape(len(x), *shape, *x.shape[2:]) for name, x in means.items()}
    places: list[Axis] = [
        [f"{name}={text_of_value(value)}" for value in axis] for name, axis in zip(names, axes, strict=True)
    ]
    named = {name: [*places, *own_axes[1:]] for name, own_axes in axes_of(posterior, means).items()}
    points = {name: own.points(name, predictor, by) for name in means}
    others = {name: own.word_of(name, x) for size in own.sizes for name, x in own.typical(size).items()}
    others = {name: x for name, x in others.items() if name not in names}
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
    own = predictors_of(posterior, [*scenarios])
    for name, value in ((name, value) for name, values in scenarios.items() for value in values):
        require_level(posterior, name, value)
        repeated(name, value, 1)
    cases = [dict(zip(scenarios, case, strict=True)) for case in zip(*scenarios.values(), strict=True)]
    if average:
        each = [own.of_fit(us, case, seed) for case in cases]
        means = {name: np.stack([x[name] for x in each], axis=1) for name in each[0]}
    else:
        means = own.of_typical(us, cases, seed)
    first, *others = [",".join(map(text_of_value, case.values())) for case in cases]
    draws, axes = dict[str, Floats](), dict[str, list[Axis]]()
    for name, (_, *of_row) in axes_of(posterior, means).items():
        for what, sign, x in comparisons(own.by_row(name), means[name][:, 0], means[name][:, 1:]):
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
