"""The material of pictures, of a fit or of files of draws with their program."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ppl.density.log_density import LogDensity
from ppl.errors import PPLError, UnknownName
from ppl.floats import Floats
from ppl.kernel.advi.outcome import Outcome
from ppl.kernel.draws.columns import chosen
from ppl.kernel.ir import nodes as ir
from ppl.records import dataclass, replace
from ppl.results.arguments.tree import ArgumentValues
from ppl.results.calibration.simulations import prior_draws, simulations_of
from ppl.results.files.config import Config, comment_lines
from ppl.results.files.read_csv import DrawsFile, read_config
from ppl.results.fits.expected import ExpectedOverGrid
from ppl.results.pictures.kind import EFFECTS, OUTCOMES, PRIOR, ROWS, Kind, Need
from ppl.results.pictures.material import (
    ElboTrace,
    Material,
    NamedDraws,
    Overlay,
    Replicated,
    Support,
    replicated_outcomes,
)
from ppl.results.report.log_lik import POINTWISE, LogLik

DRAWS_OF_PRIOR = 1000
"""Draws of the prior that a picture shows."""
OF_KEYWORD: Mapping[str, Support] = {
    "identity": (-np.inf, np.inf),
    "simplex": (0.0, 1.0),
    "unit_vector": (-1.0, 1.0),
    "ordered": (-np.inf, np.inf),
    "positive_ordered": (0.0, np.inf),
}
"""The supports of entries of constrained variables."""
BOUNDS = {"lower": (0,), "upper": (1,), "lower_upper": (0, 1)}
"""Which ends of a support the arguments of a constraint are."""


class MaterialSource(Protocol):
    """The functions for parts of the material that few kinds need; each raises PPLError where it cannot."""

    def outcomes(self) -> Mapping[str, Replicated]: ...
    def log_liks(self) -> tuple[LogLik, ...]: ...
    def prior(self) -> Overlay: ...
    def effects(self) -> ExpectedOverGrid | None: ...


COMPUTED: Mapping[Need, Callable[[MaterialSource], dict[str, Any]]] = {
    OUTCOMES: lambda source: {"outcomes": source.outcomes()},
    ROWS: lambda source: {"log_liks": source.log_liks()},
    PRIOR: lambda source: {"prior": source.prior()},
    EFFECTS: lambda source: {"effects": source.effects()},
}
"""The field of the material that a need is for."""


def with_needs(
    material: Material, kinds: Iterable[Kind], source: MaterialSource, named: bool = True
) -> Material:
    """The material with what the kinds need.

    Raises:
        PPLError: the kinds are those that the user named, and something cannot be computed.
    """
    needs = {need for kind in kinds for need in kind.needs}
    for need in (need for need in COMPUTED if need in needs and not need.there(material)):
        try:
            material = replace(material, **COMPUTED[need](source))
        except PPLError:
            if named:
                raise
    return material


# --- Fits ----------------------------------------------------------------------------------------


class FitToDraw(Protocol):
    """The members of a fit or of chains that pictures read."""

    @property
    def posterior(self) -> LogDensity: ...
    @property
    def column_names(self) -> tuple[str, ...]: ...
    @property
    def _chain_rows(self) -> list[Floats]: ...
    def config(self, arguments: ArgumentValues) -> Config: ...
    def method_variables(self) -> dict[str, Floats]: ...
    def predictive(self, seed: int) -> dict[str, Floats]: ...
    def effects(self, predictor: str, by: str | None, *, seed: int) -> ExpectedOverGrid: ...
    def _pointwise(self, outcome: str | None, name: str) -> list[LogLik]: ...


@dataclass(frozen=True)
class FitSource:
    """A fit with its program and data: one outcome by name, or all, in groups by a column of the data."""

    fit: FitToDraw
    outcome: str = ""
    by: str = ""
    seed: int = 1
    predictor: str = ""

    @cached_property
    def files(self) -> tuple[DrawsFile, ...]:
        return files_of(self.fit)

    def material(self, names: Sequence[str]) -> Material:
        """The draws of the variables of these names, of the parameters where there are none."""
        fit = self.fit
        columns = chosen(fit.column_names, names, self.files[0].parameters, fit.posterior.labels)
        course = ElboTrace(fit.elbo_trace, fit.outcome.ending.value) if isinstance(fit, TracedFit) else None
        return Material(self.files, columns, course, named=bool(names), supports=supports_of(fit.posterior))

    def outcomes(self) -> Mapping[str, Replicated]:
        simulated = self.fit.predictive(self.seed)
        if self.outcome and self.outcome not in simulated:
            raise UnknownName("no outcome", self.outcome, simulated)
        data = data_of(self.fit.posterior, simulated)
        return replicated_outcomes(self.files, data, simulated, self.outcome, by=self.by)

    def log_liks(self) -> tuple[LogLik, ...]:
        return tuple(self.fit._pointwise(self.outcome or None, POINTWISE))

    def prior(self) -> Overlay:
        return prior_of(self.fit.posterior, self.seed)

    def effects(self) -> ExpectedOverGrid | None:
        fit = self.fit
        return fit.effects(self.predictor, self.by or None, seed=self.seed) if self.predictor else None


@runtime_checkable
class TracedFit(Protocol):
    """A fit of q, which has a course of the ELBO."""

    @property
    def elbo_trace(self) -> Floats: ...
    @property
    def outcome(self) -> Outcome: ...


def files_of(fit: FitToDraw, arguments: ArgumentValues = MappingProxyType({})) -> tuple[DrawsFile, ...]:
    """The draws of each chain, as a file of them is read; `arguments` are further ones of its comments."""
    config, chains = read_config(comment_lines(fit.config(arguments))), fit._chain_rows
    stats = {name: x.reshape(len(chains[0]), -1) for name, x in fit.method_variables().items()}
    columns, several = tuple(fit.column_names), len(chains) > 1
    return tuple(
        DrawsFile(
            Path(f"chain {k + 1}" if several else fit.posterior.source.name),
            config,
            columns,
            rows,
            {name: values[:, k] for name, values in stats.items()},
            header=columns,
        )
        for k, rows in enumerate(chains)
    )


# --- Programs ------------------------------------------------------------------------------------


def prior_of(posterior: LogDensity, seed: int) -> Overlay:
    """Draws of the prior.

    Raises:
        ModelError: the program cannot be simulated; says why, where, and what to do.
        DataError: data that the prior needs are missing.
    """
    table = prior_draws(simulations_of(posterior.model, posterior.data), DRAWS_OF_PRIOR, seed)
    return Overlay("prior", NamedDraws(table.columns, table.rows))


def data_of(posterior: LogDensity, outcomes: Iterable[str]) -> dict[str, Any]:
    """The data by name, outcomes that are computed in transformed data too."""
    return {**posterior.observed, **{n: posterior.observed.get(n, posterior.d.of(n)) for n in outcomes}}


# --- Supports ------------------------------------------------------------------------------------


def supports_of(posterior: LogDensity) -> dict[str, Support]:
    """The support of each variable with bounds that are numbers or data, and of those without bounds."""
    program = posterior.model.lowered
    computed = (*program.transformed_parameter_names, *program.generated_names)
    every = (*program.parameters, *(v for v in computed if not v.allows_all))
    supports = ((v.name, support(posterior, v)) for v in every)
    return {name: ends for name, ends in supports if ends}


def support(posterior: LogDensity, v: ir.Declared) -> Support | None:
    """The support of a variable's entries; None where it is computed."""
    if v.constraint not in BOUNDS:
        return OF_KEYWORD.get(v.constraint)
    ends = [-np.inf, np.inf]
    for end, argument in zip(BOUNDS[v.constraint], v.arguments, strict=True):
        value = bound(posterior, argument)
        if value is None:
            return None
        ends[end] = value
    return ends[0], ends[1]


def bound(posterior: LogDensity, argument: ir.Expr) -> float | None:
    """A bound that is a number, or a number among the data."""
    match argument:
        case ir.Const(value=value):
            return float(value)
        case ir.Var(name=name) if name in posterior.model.data_schema:
            value = np.asarray(posterior.d.of(name), float)
            return float(value) if value.ndim == 0 else None
    return None
