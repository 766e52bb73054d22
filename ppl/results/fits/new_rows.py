"""Predictions for new rows at draws of a fit: what they hold is conditioned on, the rest is drawn."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.advice import Advice, Call
from ppl.data import AnyData, load_data
from ppl.data.inputs import suggestion
from ppl.data.levels import NEW_GROUPS
from ppl.data.missing import holes_in
from ppl.data.shares import Share
from ppl.density.compiled_program import as_declared
from ppl.density.log_density import LogDensity
from ppl.density.missing import filled
from ppl.errors import DataError, InferenceError, PPLError
from ppl.floats import Floats
from ppl.kernel.ir import nodes as ir
from ppl.kernel.language import ast
from ppl.kernel.language.walk import walk
from ppl.optimise.forms import ARRAYS
from ppl.programs.rewriting import text_of
from ppl.records import dataclass, replace
from ppl.results.fits.by_row import arrays_of
from ppl.results.fits.tied_draws import RowsInPart, TiedColumns, given_draws, given_tied, posterior_of
from ppl.results.report.style import TableStyle
from ppl.run.table import Table, tabulate
from ppl.structure.observed.conditioned import ConditionedData as GivenNames
from ppl.structure.observed.fixed import with_fixed_in_data
from ppl.structure.observed.new_rows import NewRows, Predicting
from ppl.structure.refused import unpredicted

ROWS_COMPARED = 1000
"""Rows of the fit whose densities are compared with and without others, at most."""
GivenEntries = Mapping[str, NDArray[np.bool_]]
"""Of modelled data that new rows hold, which entries are given."""


@dataclass(frozen=True)
class Conditioned(RowsInPart):
    """New rows: the program that draws what they lack, its data, and what they hold."""

    predicting: Predicting

    def outputs(self, us: Floats, seed: int) -> TiedColumns:
        """The names of the outputs; DataError where nothing is left to draw."""
        if not self.predicting.outputs:
            raise nothing_to_draw(self.entries)
        return self.draws(us, seed)

    def draws(self, us: Floats, seed: int, scored: Collection[str] = ()) -> TiedColumns:
        """The outputs of the program given each of `us` (draws, dim), conditional on what new rows hold.

        Variables that are `scored` are not conditioned on.
        """
        refuse_moved(self, us[:3])
        own = self.predicting
        kept = self.new_rows.kept & self.new_rows.held.keys()
        if imputed := [c for c in self.posterior.model.completions if c.name in kept and not c.discrete]:
            return given_draws(self, us, seed, imputed)
        if not own.dependence.conditions:
            names = (*own.outputs.values(), *(own.log_lik[name] for name in scored))
            return TiedColumns(self.tabulated(own.computing(names), us, seed), own)
        program = own.computing([*own.all_quantities, *own.effects])
        first, second = (TiedColumns(self.tabulated(program, us, k), own) for k in (seed, seed + 1))
        varied = {name for name in own.dependence.conditions if varies(name, first, second)}
        refuse_ambiguous(varied & {*scored})
        if not varied - {*scored}:
            return first
        tied = own.dependence.tied(varied - {*scored}, {*scored})
        return given_tied(self, us, seed, tied, (first.table, second.table))

    def densities(self, us: Floats) -> dict[str, Floats]:
        """The log densities of what is given, by row, by variable."""
        program, names = self.predicting, self.predicting.log_lik
        columns = TiedColumns(self.tabulated(program.computing([*names.values()]), us, 1), program)
        return {name: columns.log_lik(name) for name in names}

    def tabulated(self, program: ast.Program, us: Floats, seed: int) -> Table:
        """All columns of the program at `us`; what was missing at the fit stands last there."""
        posterior = self.compiled(program, {})
        table = tabulate(posterior, us[:, : posterior.param_unc_num()], seed)
        if table.failed == len(table.rows) and (name := self.lagged):
            raise InferenceError(
                f"Predictions could not be computed at any of {table.failed} draws: `{name}` follows its own "
                f"earlier values, and the new rows give none to begin with. Give the last known values, and "
                f'null for those to predict: "{name}": [4.2, null, null]. At the first draw: {table.reason}',
            )
        table.require_some("Predictions")
        return table

    @property
    def lagged(self) -> str:
        """A variable that is drawn given values of itself; "" for none."""
        own = self.predicting
        return next((name for name in own.drawn if name in own.dependence.priors.get(name, ())), "")


def refuse_moved(rows: Conditioned, us: Floats) -> None:
    """ModelError where new groups or other rows change what a row of the fit adds, as in `mu - mean(mu)`.

    The densities of the rows of the fit are compared at some draws: with its groups and with the new ones,
    and with fewer rows, less the last of these, which may depend on that below it.
    """
    posterior, own = rows.posterior, rows.new_rows
    if posterior.model.completions or posterior.model.discrete:
        return
    _, old, new = rows.shapes
    grown = [d for d in own.continuous if not own.by_row(d) and any(np.greater(new[d.name], old[d.name]))]
    by_row = frozenset(d.name for d in own.program.parameters if own.along_rows(d))
    data = {d.name: posterior.d.of(d.name) for d in posterior.model.compilation.factors.program.data}

    def densities(values: Mapping[str, Any]) -> dict[str, Floats]:
        try:
            return conditioned_on(posterior, values, kept=by_row).densities(us)
        except PPLError:  # they are not read, or not computed
            return {}

    some = data
    for size in own.rows & data.keys():
        some = first_rows(own, some, size, min(int(data[size]), ROWS_COMPARED))
    if whole := densities(some):
        data = some
    else:  # indices of other rows need all of them
        whole = densities(data)
    if grown and whole:
        more = {
            name: x
            if name in own.rows or own.along_rows(own.factors.data[name])
            else among(x, rows.values[name])
            for name, x in data.items()
        }
        for name, x in densities(more).items():
            if not np.allclose(x, whole[name], equal_nan=True):
                why = f"new groups change what `{grown[0].name}` adds to rows of groups of the fit"
                todo = "Compute the effect of a group of its own entry alone."
                raise unpredicted(why, grown[0].name_span, todo)
    for few, first in () if by_row or not whole else fewer_rows(own, data, least=2):
        for name, x in densities(few).items():
            if name not in own.factors.sizes or x.ndim < 2:
                continue
            n = len(first(name, posterior.d.of(name))) - 1
            sizes = [*map(text_of, own.factors.sizes[name])]
            of_rows = sizes[0] in few and x.shape[1] == n + 1 < whole[name].shape[1]
            if of_rows and not np.allclose(x[:, :n], whole[name][:, :n], equal_nan=True):
                d = own.factors.data[name]
                why = f"the distribution of a row of `{name}` depends on other rows, or on how many they are"
                todo = "Values of all rows that transformed data compute keep their value from the fit."
                raise unpredicted(why, d.name_span, todo)


def among(old: Any, new: Any) -> Any:
    """New data of groups, with those of the fit in their places."""
    if np.shape(old) == np.shape(new):
        return new if not np.shape(old) else old
    whole = np.array(new)
    part = tuple(slice(0, min(pair)) for pair in zip(np.shape(old), whole.shape, strict=True))
    whole[part] = np.asarray(old)[part]
    return whole


def varies(name: str, first: TiedColumns, second: TiedColumns) -> bool:
    """Whether the density of what is given depends on draws: it differs between two of them."""
    return not np.array_equal(first.log_lik(name), second.log_lik(name), equal_nan=True)


def predicted(
    posterior: LogDensity,
    us: Floats,
    data: AnyData,
    seed: int,
    replicate: Collection[str] = (),
    means: bool = False,
    kept: frozenset[str] = frozenset(),
    anew: frozenset[str] = frozenset(),
) -> dict[str, Floats]:
    """Values that new rows lack given each of `us` (draws, dim), by data variable (draws, *its own shape).

    With `means` the expected values of all modelled data. Of parameters by row and of missing data, those
    that are `kept` have the values of the fit: the rows are its own. Parameters `anew` are drawn.

    Raises:
        ModelError: the program does not say how new rows come about; says which line.
        DataError: the new data do not fit the program, or hold all that it draws.
    """
    outputs = conditioned_on(posterior, data, replicate, means, kept, anew).outputs(us, seed)
    return arrays_of(outputs.table, outputs.program.outputs)


def conditions_in_words(entries: GivenEntries) -> str:
    """The condition of predictions, in words; "" for none."""
    if not entries:
        return ""
    each = " and ".join(f"{n.sum()} of {n.size} values of `{name}`" for name, n in entries.items())
    last = [*entries][-1]
    return (
        f"Conditioned on {each}. --score {last} scores given values of `{last}`; --replicate {last} draws "
        "them again."
    )


class Scores(NamedTuple):
    """The log predictive density of each row that is given, its mean over draws taken before the logarithm.

    `values`, in nats, are nan for rows that are not given or have no density, as the first of a series;
    `errors` are Monte Carlo standard errors.
    """

    values: Floats
    errors: Floats


def scored(
    posterior: LogDensity, us: Floats, data: AnyData, seed: int, outcomes: Collection[str] = ()
) -> dict[str, Scores]:
    """The log score of what new rows hold, by data variable, of all or of some `outcomes`.

    Raises:
        ModelError, DataError: as for predictions; or the outcomes are not given.
    """
    rows = conditioned_on(posterior, data)
    require_modelled(outcomes, rows.new_rows.modelled)
    names = list(outcomes or rows.entries)
    for name in names or rows.new_rows.modelled[-1:]:
        if name not in rows.entries:
            raise DataError(f"The new rows hold no value of `{name}` to score.", name)
    drawn, scores = rows.draws(us, seed, names), {}
    for name in names:
        log_p, given = drawn.log_lik(name), rows.entries[name]
        of_row = given.all(axis=tuple(range(log_p.ndim - 1, given.ndim))) if given.ndim else given
        scores[name] = score(log_p, of_row & (log_p != 0).any(axis=0))
    return scores


def score(log_p: Floats, given: NDArray[np.bool_]) -> Scores:
    """Of log densities (draws, *rows)."""
    top = log_p.max(axis=0)
    p = np.exp(log_p - top)
    mean = p.mean(axis=0)
    errors = p.std(axis=0) / mean / np.sqrt(len(p))
    return Scores(np.where(given, top + np.log(mean), np.nan), np.where(given, errors, np.nan))


def scoring(outcome: str) -> Call:
    return Call(f"--score {outcome}", f'fit.score(data, "{outcome}")')


def nothing_to_draw(entries: GivenEntries) -> DataError:
    """The error for rows that hold every modelled value."""
    name, every = [*entries][-1], " and ".join(f"`{name}`" for name in entries)
    return DataError(
        (
            f"The new rows hold {every}, so nothing is left to draw. To score `{name}` by row: ",
            scoring(name),
            ". To draw it again: ",
            Advice("replicate", name),
            ". To predict some of its rows, make these null.",
        ),
        name,
    )


def refuse_ambiguous(names: Collection[str]) -> None:
    """DataError where several outcomes depend on one unknown: is one scored given the others?"""
    if len(names) > 1:
        first, *_, last = sorted(names)
        raise DataError(
            (
                f"`{first}` and `{last}` depend on the same unknown values. Name the outcome to score given "
                "the others: ",
                scoring(last),
                ".",
            ),
            last,
        )


def in_frame(arrays: Mapping[str, Floats], frame: Any, style: TableStyle) -> Any:
    """Mean and interval of each outcome that has a value for each row of a DataFrame, as one of its kind."""
    columns: dict[str, Floats] = {}
    for name, draws in arrays.items():
        if draws.shape[1:] == (len(frame),):
            low, _, high = style.headings
            ends = [np.quantile(x, style.probabilities(x)) for x in draws.T]
            lower, _, upper = np.array(ends).reshape(-1, 3).T
            columns |= {name: draws.mean(axis=0), f"{name}.{low}": lower, f"{name}.{high}": upper}
    index = {"index": frame.index} if hasattr(frame, "index") else {}
    return getattr(type(frame), "from_pydict", type(frame))(columns, **index)  # Arrow's tables have the first


# --- What new rows hold ---


def conditioned_on(
    posterior: LogDensity,
    data: AnyData,
    replicate: Collection[str] = (),
    means: bool = False,
    kept: frozenset[str] = frozenset(),
    anew: frozenset[str] = frozenset(),
) -> Conditioned:
    """The program for new rows, given the values that they hold of modelled data but those to `replicate`."""
    missing = {c.name for c in posterior.model.completions}
    factors = with_fixed_in_data(posterior.model.compilation.factors, missing)
    values = coded_as_at_the_fit(posterior, data)
    every = NewRows(factors)
    values |= all_groups(posterior, every, values)
    require_modelled(replicate, every.modelled)
    parameters, left = every.of_rows_left(values.keys() | {*replicate})
    conditioned = [name for name in every.modelled if name not in replicate]
    entries = held_in(values, conditioned)
    entries |= {
        name: np.ones((), bool) for name in conditioned if values.keys() >= every.sources(name) > set()
    }
    values |= {name: posterior.d.of(name) for name in left - missing}
    of_fit = {name for name in conditioned if (every.sources(name) or {name}) <= left - missing}
    partly = frozenset(name for name, each in entries.items() if not each.all())
    given_names = GivenNames(frozenset(entries.keys() | of_fit) - partly, partly)
    rows = NewRows(factors, given_names, means, (kept | parameters) - anew, anew)
    rows, fixed = with_values_of_fit(posterior, rows)
    if size := next((size for size in rows.rows if np.array_equal(values.get(size, 1), 0)), None):
        raise DataError(f"the new data have no rows: {size} is 0", size)
    given_values = filled_in(rows, values)
    given = values
    values = {**completed(posterior, rows, given), **held_in_part(rows, given, entries), **fixed}
    shapes = {name: np.shape(value) for name, value in fixed.items()}
    old = {v.name: v.shape for v in posterior.variables["parameters"]}
    try:
        sized = posterior_of(posterior, rows.for_sizes(shapes), {**given_values, **values})
    except DataError as error:
        name = error.variable or ""
        if name in posterior.model.data_schema and name not in given:
            spare = [other for other in given if other not in posterior.model.data_schema]
            raise DataError(f"the new rows lack `{name}`{suggestion(name, spare)}", name, "PPL901") from None
        if name in given and name not in every.modelled and is_above_the_fit(posterior, name, given[name]):
            raise DataError(f"{error}. {NEW_GROUPS}", name, "PPL902") from None
        raise
    new = {v.name: v.shape for v in sized.variables["parameters"]}
    predicting = rows.predicting(shapes, old, new)
    return Conditioned(posterior, rows, values, entries, (shapes, old, new), predicting)


def all_groups(posterior: LogDensity, rows: NewRows, values: Mapping[str, Any]) -> dict[str, Any]:
    """Where new data have fewer groups than the fit, their number at the fit, and its data of the others.

    A mean of their effects is of all groups of the fit.
    """
    out = dict[str, Any]()
    for size in rows.sizes_of_groups & values.keys():
        old = int(posterior.d.of(size))
        if np.ndim(values[size]) or np.size(values[size]) != 1 or not 0 < int(values[size]) < old:
            continue
        out[size] = old
        for name, sizes in rows.factors.sizes.items():
            if size in map(text_of, sizes) and name in values and holes_in(values[name]) is None:
                whole, new = np.array(posterior.d.of(name)), np.asarray(out.get(name, values[name]))
                own = [range(n) for n in new.shape]
                axes = [k for k, e in enumerate(sizes) if text_of(e) == size]
                fits = new.ndim == whole.ndim and all(
                    n == (int(values[size]) if k in axes else whole.shape[k]) for k, n in enumerate(new.shape)
                )
                if fits:
                    whole[np.ix_(*own)] = new
                    out[name] = whole
    return out


def is_above_the_fit(posterior: LogDensity, name: str, value: Any) -> bool:
    """Whether ints, as of new groups, are above all of the fit."""
    known = np.asarray(posterior.d.of(name))
    return known.dtype.kind in "iu" and bool(np.max(value, initial=0) > np.max(known, initial=0))


def coded_as_at_the_fit(posterior: LogDensity, data: AnyData) -> dict[str, Any]:
    """The values of new rows by name: levels of the fit keep their codes, others are new groups."""
    return dict(as_declared(posterior.model, replace(load_data(data), levels=posterior.levels)).values)


def require_modelled(names: Collection[str], modelled: Collection[str]) -> None:
    """DataError for a name that no statement models."""
    for name in names:
        if name not in modelled:
            listed = ", ".join(f"`{each}`" for each in modelled)
            raise DataError(f"No statement models `{name}`. The modelled variables are {listed}.", name)


def held_in(values: Mapping[str, Any], names: Collection[str]) -> dict[str, NDArray[np.bool_]]:
    """Of modelled data that have a value that is not missing, which are given."""
    given: dict[str, NDArray[np.bool_]] = {}
    for name in names:
        if name in values:
            holes = holes_in(values[name])
            each = np.ones(np.shape(values[name]), bool) if holes is None else ~np.isnan(holes.values)
            if each.any() or not each.size:
                given[name] = each
    return given


def filled_in(rows: NewRows, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that are given in part, with one that the declaration allows where one is missing."""
    out: dict[str, Any] = {}
    for name in rows.held:
        holes, t = holes_in(values[name]), rows.factors.data[name].type
        if holes is None or not isinstance(t, ast.SizedType):
            continue
        out[name] = filled(t, holes, values)
    return out


def held_in_part(rows: NewRows, values: Mapping[str, Any], entries: GivenEntries) -> dict[str, Any]:
    """The values of what is given in part, 0 where they are missing, and which are given."""
    out: dict[str, Any] = {}
    for name, (own, flags) in rows.held.items():
        holes = holes_in(values[name])
        assert holes is not None
        kept = np.where(entries[name], holes.values, 0)
        is_int = rows.factors.data[name].type.keyword == "int"
        out |= {own: kept.astype(int) if is_int else kept, flags: entries[name].astype(int)}
    return out


def completed(posterior: LogDensity, rows: NewRows, values: Mapping[str, Any]) -> dict[str, Any]:
    """The new data less what is drawn; what they leave out stays as at the fit, but sizes of groups grow."""
    old = {k: v for k, v in posterior.data.items() if not isinstance(v, Share) and k not in rows.modelled}
    grown = {
        name: n for name, n in groups_in(posterior, values).items() if name not in values and n > old[name]
    }
    return {name: v for name, v in {**old, **values, **grown}.items() if name not in rows.drawn}


def groups_in(posterior: LogDensity, values: Mapping[str, Any]) -> dict[str, int]:
    """The largest index of each kind of groups in new data: of J where `g` is declared `int<upper=J>`."""
    program = posterior.model.program(ARRAYS)
    sizes = {a.name for d in program.parameters for a in (*d.dims, *d.sizes) if isinstance(a, ir.Var)}
    groups: dict[str, int] = {}
    for d in program.data:
        bound = d.arguments[-1] if d.constraint in ("upper", "lower_upper") else None
        if isinstance(bound, ir.Var) and bound.name in sizes and np.size(values.get(d.name, ())):
            largest = int(np.nanmax(values[d.name]))
            groups[bound.name] = max(largest, groups.get(bound.name, largest))
    return groups


def with_values_of_fit(posterior: LogDensity, rows: NewRows) -> tuple[NewRows, dict[str, Any]]:
    """Values that stay as at the fit: those of all its rows, and those that depend on its outcomes.

    Raises:
        ModelError: transformed data of a row are others without the rows below it.
    """
    fixing, _ = rows.fixing
    own = posterior.d
    if rows.transformed[1] - posterior.model.compilation.factors.data.keys():
        own = posterior_of(posterior, rows.computing_all_data, posterior.data).d
    values = {name: own.of(name) for name in rows.transformed[1]}
    if fixing.values:
        recorded = posterior_of(posterior, rows.recording, posterior.data)
        values |= {name: recorded.d.of(name) for name in fixing.values}
    moved = of_other_rows(posterior, rows, values)
    if totals := {name: x for name, x in moved.items() if not rows.along_rows(rows.computed[name])}:
        rows = replace(rows, totals=frozenset(totals))
        values |= {rows.totals_at_fit[name]: x for name, x in totals.items()}
        moved = of_other_rows(posterior, rows, values)
    if moved:
        name = next(iter(moved))
        raise unpredicted(f"transformed data compute `{name}` of all rows", rows.computed[name].span)
    return rows, values


def of_other_rows(posterior: LogDensity, rows: NewRows, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Transformed data of the fit that are others without the rows below.

    Those of earlier rows, as of a series, are computed in new rows too.
    """
    body = rows.fixing[1][1]
    if not rows.computed or any(isinstance(n, ast.Call) and n.name.endswith("_rng") for n in walk(body)):
        return {}
    program = rows.computing_data({name: np.shape(value) for name, value in fixed.items()})
    names = [d.name for d in program.data]
    data = {name: fixed[name] if name in fixed else posterior.d.of(name) for name in names}
    model: Any = posterior.model.of_program(program, missing=frozenset())
    whole, out = model.condition(data).d, dict[str, Any]()
    for few, first in fewer_rows(rows, {n: x for n, x in data.items() if n not in fixed}):
        try:
            alone = model.condition({**data, **few}).d
        except PPLError:  # fewer rows may not fit the declarations
            continue
        for name in rows.computed:
            both = alone.of(name), first(name, whole.of(name))
            if np.shape(both[0]) == np.shape(both[1]) and not np.allclose(*both, equal_nan=True):
                out[name] = whole.of(name)
    return out


def fewer_rows(
    rows: NewRows, data: Mapping[str, Any], least: int = 1
) -> Iterator[tuple[dict[str, Any], Callable[[str, Any], Any]]]:
    """Data of the fit with fewer rows, and how other arrays by row are cut to these."""
    for size in rows.rows & data.keys():
        for n in {k for k in (least, int(data[size]) // 2) if least <= k < int(data[size])}:

            def first(name: str, x: Any, n: int = n, size: str = size) -> Any:
                return first_rows(rows, {name: x}, size, n)[name]

            yield first_rows(rows, data, size, n), first


def first_rows(rows: NewRows, data: Mapping[str, Any], size: str, n: int) -> dict[str, Any]:
    """Arrays by row, the first of `n` rows, and that number as their size."""
    out = dict(data)
    for name in data:
        for axis, each in enumerate(map(text_of, rows.factors.sizes.get(name, ()))):
            if each == size:
                out[name] = np.take(out[name], range(n), axis)
    return {**out, size: n} if size in data else out
