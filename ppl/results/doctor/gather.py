"""The input of the checks, from a posterior and draws of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ppl.density.log_density import LogDensity
from ppl.errors import DataError, PPLError, UnknownName
from ppl.floats import Floats
from ppl.kernel.draws.names import dotted, variable_of
from ppl.kernel.language import ast
from ppl.kernel.language.calls import left_and_args
from ppl.kernel.language.lalr import is_identifier
from ppl.kernel.language.printer import expression
from ppl.kernel.language.walk import variables, walk
from ppl.records import dataclass, replace
from ppl.results.calibration.simulations import simulations_of
from ppl.results.doctor.evidence import Column, Evidence, Geometry, ObservedOutcome, Parameter, Prior
from ppl.results.doctor.statement import Site, statement_of
from ppl.results.fits.by_row import again, continuous, outcomes
from ppl.run.table import tabulate
from ppl.spelling import as_variable
from ppl.structure.observed.priors import priors_of
from ppl.types import INT, element_type

ByVariable = Mapping[str, Floats]
Compute = Callable[[], ByVariable]


@dataclass(frozen=True)
class GatherSettings:
    """How much is examined."""

    most_draws: int = 1_000
    """Draws of the posterior, evenly spaced."""

    fewest_draws: int = 100
    """Draws with finite replications below which an outcome is not examined."""

    prior_draws: int = 400
    """Simulations from the prior."""

    fewest_prior_draws: int = 100
    """Those of large data."""

    simulated_values: int = 2_000_000
    """Values that simulations draw before there are fewer: one takes some microseconds."""

    fewest_rows: int = 8
    """Rows of an outcome below which it is not examined."""

    most_rows: int = 5_000
    """Rows of an outcome, evenly spaced."""


GATHER = GatherSettings()


@dataclass(frozen=True, eq=False)
class Simulated:
    """Draws of the prior: the unconstrained parameters (simulations, dim), constrained ones (simulations,
    columns), and data by variable.
    """

    us: Floats
    columns: Floats
    data: ByVariable


def gather(
    posterior: LogDensity,
    us: Floats,
    log_ratios: Floats,
    log_lik: Compute,
    predictive: Compute,
    seed: int,
    outcome: str | Sequence[str] | None = None,
) -> Evidence:
    """The evidence at draws `us` (draws, dim) with `log_ratios` (draws,) of p to q.

    `log_lik` and `predictive` return the log likelihood by row and replicated data, (draws, *shape), by
    variable. `outcome` names the outcomes that are examined, all by default.

    Raises:
        UnknownName: there is no such outcome.
    """
    chosen = [outcome] if isinstance(outcome, str) else outcome or outcomes(posterior)
    for name in chosen:
        if name not in (known := outcomes(posterior)):
            raise UnknownName("no outcome", name, known)
    some = np.unique(np.linspace(0, len(us) - 1, min(len(us), GATHER.most_draws)).astype(int))
    notes: list[str] = []

    def tried(what: str, compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except PPLError as why:
            notes.append(f"{what}: {getattr(why, 'message', None) or why}")
            return None

    rows = tried("Log likelihood not examined", log_lik) or {}
    replicated = tried("Predictions not examined", predictive) or {}
    simulated = tried("Prior not simulated", lambda: simulate(posterior, seed))
    of_rows = {name: values[some] for name, values in rows.items()}
    observed = {
        name: outcome_of(posterior, name, values[some], of_rows.get(name), log_ratios[some], simulated)
        for name, values in replicated.items()
        if name in chosen
    }
    few = "not examined: few rows, or few replications of its shape."
    notes += [f"`{name}` {few}" for name, o in observed.items() if o is None]
    total = np.sum([v.reshape(len(some), -1).sum(axis=1) for v in of_rows.values()], axis=0)
    return Evidence(
        tuple(o for o in observed.values() if o is not None),
        tuple(parameters_of(posterior, us[some], simulated)),
        tried("Priors not examined", lambda: tuple(prior_statements(posterior, us[some], simulated))) or (),
        total if rows else None,
        log_ratios[some],
        tuple(notes),
        geometry_of(posterior, us[some]),
    )


def geometry_of(posterior: LogDensity, us: Floats) -> Geometry | None:
    """The draws with gradients, some draws at a time; None if missing data are among the parameters."""
    spans = {d.name: d.name_span for d in posterior.model.compilation.checked[0].parameters}
    names = tuple(posterior.param_unc_names())
    if any(variable_of(name) not in spans for name in names):
        return None

    def gradients(points: Floats) -> Floats:
        parts = np.array_split(points, max(1, len(points) // GATHER.fewest_draws))
        return np.concatenate([posterior.log_density_gradients(part)[1] for part in parts])

    return Geometry(names, tuple(spans[variable_of(name)] for name in names), us, gradients)


def simulate(posterior: LogDensity, seed: int) -> Simulated:
    """Draws of the prior and of data.

    Raises:
        ModelError: the program cannot be simulated.
        DataError: some data are missing.
        InferenceError: a simulation fails.
    """
    if posterior.model.completions:
        raise DataError(f"values of {', '.join(posterior.missing)} are missing.")
    simulations = simulations_of(posterior.model, posterior.data)
    size = sum(np.size(posterior.data[name]) for name in simulations.simulated)
    most = max(GATHER.fewest_prior_draws, GATHER.simulated_values // size)
    draws = [simulations.draw(k, seed) for k in range(min(GATHER.prior_draws, most))]
    us = np.array([posterior.param_unconstrain(values) for values in draws])
    columns = np.array([posterior.param_constrain(u) for u in us])
    data = {name: np.array([values[name] for values in draws], float) for name in simulations.simulated}
    return Simulated(us, columns, data)


def outcome_of(
    posterior: LogDensity,
    name: str,
    replicated: Floats,
    log_lik: Floats | None,
    log_ratios: Floats,
    simulated: Simulated | None,
) -> ObservedOutcome | None:
    """The rows of one variable that were observed; None if they, or whole replications, are few."""
    factors = posterior.model.compilation.factors
    y = np.asarray(posterior.observed.get(name, posterior.d.of(name)), float)
    flat = y.reshape(-1)
    there = np.flatnonzero(np.isfinite(flat))
    if len(there) < GATHER.fewest_rows:
        return None
    there = there[np.unique(np.linspace(0, len(there) - 1, min(len(there), GATHER.most_rows)).astype(int))]

    def picked(values: Floats | None) -> Floats | None:
        if values is not None and values.shape[1:] == (np.isfinite(y).sum(),) and y.ndim == 1:
            given = values  # of the rows that are not missing
            values = np.full((len(given), len(y)), np.nan)
            values[:, np.isfinite(y)] = given
        if values is None or values.shape[1:] != y.shape:
            return None
        return values.reshape(len(values), -1)[:, there].astype(float)

    densities = [s for other, s in factors.densities if other == name]
    declared = factors.data[name]
    kind = factors.facts.symbols[declared].type
    draws, own = picked(replicated), picked(log_lik)
    if draws is None:
        return None
    finite = np.isfinite(draws).all(axis=1)
    if own is not None:
        finite &= ~np.isnan(own).any(axis=1)
    if finite.sum() < GATHER.fewest_draws:
        return None
    first, file = densities[0], posterior.model.source.name
    types = tuple(factors.facts.types[a] for a in left_and_args(first)[1])
    site = Site(first, factors.program, file, len(densities) == 1, size_of(declared.type), types)
    return ObservedOutcome(
        name,
        kind is not None and element_type(kind) == INT,
        replace(statement_of(first), site=site),
        tuple(name_of_row(posterior, name, np.unravel_index(k, y.shape)) for k in there),
        flat[there],
        draws[finite],
        {n: replace(c, values=c.values[there]) for n, c in columns_beside(posterior, name, y.shape)},
        log_ratios[finite],
        None if own is None else own[finite],
        picked(simulated.data.get(name)) if simulated else None,
    )


def name_of_row(posterior: LogDensity, name: str, at: Sequence[Any]) -> str:
    """`y[3]`, of the level of a factor `y[Hull]`."""
    label = posterior.labels.of(name + dotted(at))
    return label if label.endswith("]") else name + "".join(f"[{i + 1}]" for i in at)


def size_of(declared: ast.DeclaredType) -> str:
    """The size of a vector, or of an array of numbers, as the program has it; "" of anything else."""
    sizes = (*declared.dims, *declared.sizes) if isinstance(declared, ast.SizedType) else ()
    return expression(sizes[0]) if len(sizes) == 1 else ""


def columns_beside(
    posterior: LogDensity, outcome: str, shape: tuple[int, ...]
) -> Iterator[tuple[str, Column]]:
    """The data with a value for each row of an outcome, extra ones that the program does not declare too.

    Columns of a matrix with a row each are called `x[, 2]`; words are numbered.
    """
    program, _ = posterior.model.compilation.checked
    blocks = (program.transformed_data, program.transformed_parameters, program.model)
    read = {v.name for block in blocks for v in variables(block)}
    at = [n.value for block in blocks for n in walk(block) if isinstance(n, ast.SingleIndex)]
    indices = {v.name for v in variables(at)}
    declared = {
        d.name: "array" if d.type.dims else d.type.keyword
        for d in program.data
        if isinstance(d.type, ast.SizedType)
    }

    def about(name: str, whole: bool) -> tuple[bool, bool, bool, str]:
        return name in read, whole, name in indices, declared.get(name, "")

    for column, given in posterior.data.items():
        name = column if is_identifier(column) else as_variable(column)
        if not is_identifier(name) or (name != column and name in posterior.data):
            continue
        try:
            values = np.asarray(given)
        except ValueError:  # a ragged list that the program does not declare
            continue
        levels = 0
        if values.dtype.kind == "U":
            words, codes = np.unique(values, return_inverse=True)
            values, levels = codes.reshape(values.shape) + 1, len(words)
        if name == outcome or values.dtype.kind not in "iuf" or not np.isfinite(values).all():
            continue
        whole = values.dtype.kind in "iu" or (column not in declared and not np.mod(values, 1).any())
        if values.shape == shape:
            yield name, Column(values.reshape(-1).astype(float), *about(name, whole), levels)
        elif values.ndim == 2 and values.shape[:1] == shape:
            for k, x in enumerate(values.T, 1):
                yield f"{name}[, {k}]", Column(x.astype(float), *about(name, whole))


def parameters_of(posterior: LogDensity, us: Floats, simulated: Simulated | None) -> Iterator[Parameter]:
    """Every entry of the parameters."""
    program, file = posterior.model.compilation.checked[0], posterior.model.source.name
    declared = {d.name: d for d in program.parameters}
    columns, coordinates = posterior.param_names(), posterior.param_unc_names()
    draws = np.array([posterior.param_constrain(u) for u in us])
    for k, column in enumerate(columns):
        if (d := declared.get(variable_of(column))) is not None:
            prior = simulated.columns[:, k] if simulated else None
            scaled = ast.limits(d.type).keys() & {"offset", "multiplier"}
            standardised = us[:, coordinates.index(column)] if scaled else None
            own = program if d.span.source.name == file else None
            yield Parameter(
                posterior.labels.of(column), d.name, d.name_span, draws[:, k], prior, standardised, own
            )


def prior_statements(posterior: LogDensity, us: Floats, simulated: Simulated | None) -> Iterator[Prior]:
    """The prior statements with their log densities at draws of the posterior and of the prior."""
    priors = priors_of(continuous(posterior))
    if priors is None:
        return
    program = again(posterior, priors.program)

    def at(points: Floats) -> Floats:
        table = tabulate(program, points, seed=0)
        return table.rows[:, [k for k, c in enumerate(table.columns) if variable_of(c) == priors.quantity]]

    at_posterior, at_prior = at(us), at(simulated.us) if simulated else None
    checked, file = posterior.model.compilation.checked[0], posterior.model.source.name
    for k, (s, name) in enumerate(zip(priors.statements, priors.names, strict=True)):
        statement = replace(statement_of(s), site=Site(s, checked, file, True, "", (), is_prior=True))
        yield Prior(name, statement, at_posterior[:, k], None if at_prior is None else at_prior[:, k])
