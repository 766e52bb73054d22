"""A posterior of new rows, with a site for the rows that an earlier fit has seen."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from ppl.data import AnyData, load_data
from ppl.data.blocks import taken
from ppl.data.levels import Factor
from ppl.data.shares import Share
from ppl.density.compiled_program import as_declared
from ppl.density.log_density import LogDensity
from ppl.density.rows import ROW_SPLIT, ByRows, by_rows, whole_rows
from ppl.density.updated import Earlier, Site, positions, site_of
from ppl.errors import DataError, InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.target import Known
from ppl.kernel.density.reading import leaves
from ppl.kernel.ir import nodes as ir
from ppl.methods.correct.weight_quality import WeightQuality
from ppl.methods.diagnose.psis import psis
from ppl.optimise.forms import ARRAYS
from ppl.optimise.passes.split_rows import split_rows
from ppl.records import dataclass, replace
from ppl.results.fits.new_rows import coded_as_at_the_fit, groups_in
from ppl.stdlib.constraints.table import ELEMENTWISE
from ppl.structure.observed.new_rows import NewRows
from ppl.structure.refused import not_updated

P = TypeVar("P", bound=LogDensity)


@dataclass(frozen=True)
class SiteLimits:
    """When a site is found."""

    most_dimensions: int = 1000
    """Coordinates above which it is not: it has their square of numbers."""

    draws_each: int = 4
    """Draws for each coordinate: a regression on as many draws as coordinates fits their noise."""

    close_share: float = 0.995
    """The effective share of draws below which rows are held: means are then some 0.07 sds off."""

    most_held: int = 10
    """Rows that may be held for each new one."""

    covering_khat: float = 0.5
    """The k-hat of draws weighted by new rows at which other modes are searched for."""

    covering_ess: int = 100
    """Effective weighted draws below which they are."""


SITES = SiteLimits()


def updated(posterior: P, us: Floats, data: AnyData) -> P:
    """The posterior of new rows, with a site for those of `posterior`, whose draws are `us` (n, dim).

    What data leave out stays. Where the site is not close, the rows are held: they go with the new ones.

    Raises:
        ModelError, InferenceError: the target is no sum over rows; says which line.
        DataError: new data do not fit the program, or have fewer groups.
    """
    model: Any = posterior.model
    earlier = before_rows(posterior, us)
    batches = whole_rows(posterior, earlier.rows)
    given = coded_as_at_the_fit(posterior, data)
    given = {**groups_of_new_levels(posterior, given), **given}
    of_rows = {name for name, _ in batches.split.data} | {earlier.rows}
    old = {k: v for k, v in posterior.data.items() if k not in of_rows and not isinstance(v, Share)}
    new: P = model.condition({**old, **given})
    unchanged = {name: value for name, value in old.items() if name not in given}
    earlier = replace(earlier, unchanged=unchanged)
    require_groups(posterior, new, earlier)
    own, quality = site_of_rows(batches, us)
    most = SITES.most_held * int(new.d.of(earlier.rows))
    if quality.ess < SITES.close_share * quality.n and batches.n_rows <= most:
        rows = {k: v for k, v in posterior.data.items() if k in of_rows and not isinstance(v, Share)}
        holding = replace(earlier, held={**rows, earlier.rows: batches.n_rows})
        both: P = model.condition({**old, **with_held(model, holding, given)})
        if has_terms(both, batches, earlier.names, us[0]):
            return replace(both, earlier=holding)
    qualities = (*earlier.qualities, quality)
    return replace(new, earlier=replace(earlier, site=earlier.site + own, qualities=qualities))


def with_coverage(new: P, old: LogDensity, us: Floats) -> P:
    """An updated posterior that has draws `us` (n, dim) of the old one, where these cover it."""
    assert new.earlier is not None
    if new.param_unc_num() != us.shape[1]:
        return new  # of new groups the old draws say nothing
    log_p = new.log_densities(us)
    weights = psis(log_p - old.log_densities(us))
    if not (weights.khat < SITES.covering_khat and weights.ess >= SITES.covering_ess):
        return new
    return replace(new, earlier=replace(new.earlier, draws=Known(us, log_p, weights.log_weights)))


def with_held(model: Any, earlier: Earlier, given: Mapping[str, Any]) -> dict[str, Any]:
    """Data of new rows, with the rows that are held before them."""
    if not earlier.held:
        return dict(given)
    rows, axes = earlier.rows, dict(split_rows(model.program(ARRAYS), earlier.rows).data)
    both = {
        name: rows_joined(value, given[name], axes[name])
        for name, value in earlier.held.items()
        if name != rows
    }
    return {**given, **both, rows: int(earlier.held[rows]) + int(given[rows])}


def rows_joined(first: Any, second: Any, axis: int) -> Any:
    """Rows of a variable one after the other; of a factor with the levels of the second."""
    both = np.concatenate([np.asarray(first), np.asarray(second)], axis)
    return replace(second, codes=both) if isinstance(second, Factor) else both


def groups_of_new_levels(posterior: LogDensity, given: Mapping[str, Any]) -> dict[str, int]:
    """The sizes that grow because new rows have levels that the fit did not know."""
    factors = {name: value for name, value in given.items() if isinstance(value, Factor)}
    return {size: n for size, n in groups_in(posterior, factors).items() if n > posterior.d.of(size)}


def has_terms(both: LogDensity, batches: ByRows, names: tuple[str, ...], u: Floats) -> bool:
    """Whether the first rows are those of an earlier posterior: their terms at `u` (dim,) are the same."""
    point, rows = np.zeros(both.param_unc_num()), np.arange(batches.n_rows)
    point[positions(names, both.param_unc_names())] = u
    terms = whole_rows(both, batches.split.size).row_terms(point, rows)
    return bool(np.isclose(terms, batches.row_terms(u, rows), rtol=ROW_SPLIT.tolerance))


def draws_for_site(dim: int) -> int:
    """How many draws tell the site of so many coordinates; InferenceError where there are too many."""
    if dim > SITES.most_dimensions:
        raise InferenceError(
            f"A fit of {dim} parameters cannot be updated, only one of at most {SITES.most_dimensions}. "
            "Fit all data anew."
        )
    return SITES.draws_each * dim


def site_of_rows(batches: ByRows, us: Floats) -> tuple[Site, WeightQuality]:
    """The site of all rows by draws `us` (n, dim), and the quality of their weights by it."""
    values, gradients = np.zeros(len(us)), np.zeros(us.shape)
    for batch in batches.in_blocks():
        more_values, more_gradients = batch.terms.values_and_gradients(us)
        values, gradients = values + more_values, gradients + more_gradients
    site = site_of(us, values, gradients)
    weights = psis(site.values(us) - values)
    return site, WeightQuality(len(us), float(weights.khat), float(weights.ess))


def before_rows(posterior: LogDensity, us: Floats) -> Earlier:
    """The site for the rows of a posterior, over its coordinates; `us` (n, dim) are its draws."""
    before, names = posterior.earlier, tuple(posterior.param_unc_names())
    rows = before.rows if before else rows_to_update(posterior)
    site = Site(0.0, np.zeros(len(names)), np.zeros((len(names), len(names))))
    if before:
        at = positions(before.names, names)
        site.linear[at], site.precision[np.ix_(at, at)] = before.site.linear, before.site.precision
        site = replace(site, constant=before.site.constant)
    groups = {size: int(posterior.d.of(size)) for size in sizes_of_groups(posterior, rows)}
    return Earlier(site, names, us.mean(axis=0), rows, groups, {}, {}, before.qualities if before else ())


def with_unchanged(model: Any, earlier: Earlier | None, data: AnyData) -> AnyData:
    """Data of an updated fit, with those that they leave out and that stayed, and the rows that are held."""
    if earlier is None:
        return data
    return {**earlier.unchanged, **with_held(model, earlier, as_declared(model, load_data(data)).values)}


def rows_to_update(posterior: LogDensity) -> str:
    """The size that counts the rows, by which a program can be updated.

    Raises:
        ModelError, InferenceError: the target is no sum over rows; says which line.
        DataError: some data are missing.
    """
    if posterior.model.completions:
        raise DataError(
            "A fit with missing data cannot be updated: each missing value is a parameter of its row."
        )
    new = NewRows(posterior.model.compilation.factors)
    span = new.program.span
    if len(new.rows) != 1:
        sizes = ", ".join(sorted(new.rows)) or "none"
        raise not_updated(f"one size must count the rows of all outcomes; found {sizes}", span)
    (rows,) = new.rows
    if posterior.model.data_schema.get(rows) != "int":
        raise not_updated(f"`{rows}`, which counts the rows, is not a size of the data block", span)
    batches = by_rows(posterior, rows)
    for d in new.program.parameters:
        if new.by_row(d) and d.name in dict(batches.split.parameters):
            raise not_updated(f"`{d.name}` has an entry for each row, which new rows lack", d.name_span)
    refuse_terms_of_all(batches)
    return rows


def refuse_terms_of_all(batches: ByRows) -> None:
    """Refuse terms of rows that other rows change by data, as `x - mean(x)` does, or their number."""
    posterior, n = batches.posterior, batches.n_rows
    few = np.arange(max(1, n // 2))
    raw = {name: axis for name, axis in batches.split.data if name in posterior.data}
    cut = {name: taken(np.asarray(posterior.data[name]), few, axis) for name, axis in raw.items()}
    model: Any = posterior.model
    part = model.condition({**posterior.data, **cut, batches.split.size: len(few)})
    alone = whole_rows(part, batches.split.size)
    rng = np.random.default_rng(0)
    for _ in range(ROW_SPLIT.tries):
        u = rng.normal(0.0, 0.5, batches.dim)
        among, own = batches.row_terms(u, few), alone.row_terms(u, few)
        if np.isfinite(among) and not abs(among - own) <= ROW_SPLIT.tolerance * max(1.0, abs(among)):
            why = (
                "the terms of a row depend on other rows, for example because data are centred by their mean"
            )
            raise not_updated(why, batches.split.terms[0])


def sizes_of_groups(posterior: LogDensity, rows: str) -> list[str]:
    """The sizes of the data block that parameters are declared with, less that of the rows."""
    ints = {name for name, kind in posterior.model.data_schema.items() if kind == "int"}
    declared = posterior.model.program(ARRAYS).parameters
    sizes = [a.name for d in declared for a in (*d.dims, *d.sizes) if isinstance(a, ir.Var)]
    return [size for size in dict.fromkeys(sizes) if size in ints and size != rows]


def require_groups(old: LogDensity, new: LogDensity, earlier: Earlier) -> None:
    """Refuse fewer groups than at the fit, and new ones whose effects have no priors of their own."""
    for size, n in earlier.groups.items():
        now = int(new.d.of(size))
        if now < n:
            raise DataError(
                f"`{size}` is {now}, and was {n} at the fit: the groups of the fit stay, in their order, and "
                "new ones follow.",
                size,
            )
        if now > n:
            require_elements(new, size)
    lost = [name for name in old.param_unc_names() if name not in set(new.param_unc_names())]
    if lost:
        raise DataError(f"`{lost[0]}` is a parameter of the fit, but not with the new data.")
    if not earlier.groups and len(old.param_unc_names()) != len(new.param_unc_names()):
        raise DataError(
            "With the new data the parameters differ from those of the fit, not only in the number of groups."
        )


def require_elements(new: LogDensity, size: str) -> None:
    """Refuse new groups where every element of a parameter changes with their number, as of a simplex."""
    for d in leaves(new.model.program(ARRAYS).parameters):
        counts = any(isinstance(a, ir.Var) and a.name == size for a in d.sizes)
        if counts and d.constraint not in ELEMENTWISE:
            raise InferenceError(
                f"New groups of `{size}` cannot be added: the elements of `{d.name}`, a {d.constraint}, "
                "change with their number. Fit all data anew."
            )


def earlier_to_json(earlier: Earlier) -> dict[str, Any]:
    """The sites of an updated fit for the rows seen, as JSON."""
    draws = earlier.draws._asdict() if earlier.draws else None
    return {**vars(earlier), "site": vars(earlier.site), "draws": draws}


def with_levels(value: Any) -> Any:
    """A value from a saved fit, of a factor with its levels."""
    if isinstance(value, Mapping) and "levels" in value:
        return Factor(np.array(value["codes"]), tuple(value["levels"]), value["first"])
    return value


def earlier_from_json(record: Mapping[str, Any]) -> Earlier | None:
    """The same back from a saved fit; None where it is no update."""
    entry = record.get("earlier")  # fits that were saved before had no such entry
    if not entry:
        return None
    site = {name: np.array(value, dtype=float) for name, value in entry["site"].items()}
    draws = entry.get("draws")
    return Earlier(
        Site(float(site["constant"]), site["linear"], site["precision"]),
        tuple(entry["names"]),
        np.array(entry["mean"], dtype=float),
        entry["rows"],
        dict(entry["groups"]),
        {name: with_levels(value) for name, value in entry["unchanged"].items()},
        {name: with_levels(value) for name, value in entry["held"].items()},
        tuple((int(n), float(khat), float(ess)) for n, khat, ess in entry["qualities"]),
        Known(**{name: np.array(x, dtype=float) for name, x in draws.items()}) if draws else None,
    )
