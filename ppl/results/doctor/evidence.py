"""Input of the checks: the data, draws of the posterior, replicated data, columns beside them."""

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.language import ast
from ppl.late import special, stats
from ppl.methods.diagnose.psis import psis
from ppl.records import dataclass, field
from ppl.results.doctor.residuals import basis, unexplained
from ppl.results.doctor.statement import Statement
from ppl.source import Span


@dataclass(frozen=True, eq=False)
class Column:
    """A data variable with a value (n,) for each row, of ints if `whole`.

    Words are numbered from 1, and `levels` is how many there are; 0 of numbers. `used` is whether the program
    reads it, `index` whether it does so inside of an index; `declared` is what the program declares it as,
    such as `vector`, "" if it does not.
    """

    values: Floats
    used: bool
    whole: bool
    index: bool = False
    declared: str = ""
    levels: int = 0

    @property
    def has_order(self) -> bool:
        """Whether larger values mean more: the numbers of words do not, unless there are two."""
        return self.levels in (0, 2)

    @cached_property
    def groups(self) -> NDArray[np.intp] | None:
        """The number of the group of each row (n,), from 0; None if the values do not form groups."""
        names, codes = np.unique(self.values, return_inverse=True)
        return codes if self.whole and 2 <= len(names) <= len(self.values) / 2 else None


@dataclass(frozen=True, eq=False)
class ObservedOutcome:
    """One observed variable: its `rows` by name, their values `y` (n,), replications of these (draws, n).

    `log_ratios` (draws,) are log p/q of draws of q, as in `loo_of`; `log_lik` (draws, n) and data simulated
    from the `prior` (simulations, n) are None if the program does not give them.
    """

    name: str
    discrete: bool
    statement: Statement
    rows: tuple[str, ...]
    y: Floats
    replicated: Floats
    columns: Mapping[str, Column]
    log_ratios: Floats
    log_lik: Floats | None = None
    prior: Floats | None = None

    @cached_property
    def fitted(self) -> Floats:
        """The predictive mean of each row (n,), of continuous data the median: their mean may not exist."""
        return (np.mean if self.discrete else np.median)(self.replicated, axis=0)

    @cached_property
    def spread(self) -> Floats:
        """The predictive sd of each row (n,), of continuous data by the quartiles."""
        if self.discrete:
            sd = self.replicated.std(axis=0)
        else:
            low, high = np.quantile(self.replicated, (0.25, 0.75), axis=0)
            sd = (high - low) / (2 * stats.norm.ppf(0.75))
        return np.asarray(np.maximum(sd, np.finfo(float).tiny))

    @cached_property
    def residuals(self) -> tuple[Floats, Floats]:
        """Standardised residuals of the data (n,) and of each replication (draws, n): Pearson residuals."""
        return (self.y - self.fitted) / self.spread, (self.replicated - self.fitted) / self.spread

    @cached_property
    def scores(self) -> tuple[Floats, Floats]:
        """Residuals whose outliers count as ranks: of continuous data the normal score of the rank of each
        row among its replications, of discrete data the Pearson residuals.
        """
        if self.discrete:
            return self.residuals
        draws = len(self.replicated)
        ranks = self.replicated.argsort(axis=0).argsort(axis=0) + 0.5
        own = (self.replicated < self.y).sum(axis=0) + 0.5 * (self.replicated == self.y).sum(axis=0)
        at = np.clip(own, 0.5, draws - 0.5) / draws
        normal: Callable[[Floats], Floats] = special.ndtri
        return normal(at), normal(ranks / draws)

    @cached_property
    def unexplained(self) -> tuple[Floats, Floats, Floats]:
        """Scores of the data (1, n) and replications (draws, n) less what the model has in its mean, and the
        basis (n, k) of that: the constant, the fitted values, the numeric columns that are read.
        """
        own = [c.values for c in self.columns.values() if c.used and not c.index]
        q = basis([np.ones(len(self.y)), self.fitted, *own[: len(self.y) // 4]])
        return unexplained(self.scores[0][None], q), unexplained(self.scores[1], q), q

    @cached_property
    def left_out(self) -> tuple[Floats, Floats]:
        """Log weights (draws, n) of the posterior without each row, and their k-hats (n,)."""
        assert self.log_lik is not None
        smoothed = [psis(self.log_ratios - row) for row in self.log_lik.T]
        return np.stack([w.log_weights for w in smoothed], axis=1), np.array([w.khat for w in smoothed])


@dataclass(frozen=True, eq=False)
class Prior:
    """A prior `statement` of the parameter `name`: its log density at draws of posterior and prior."""

    name: str
    statement: Statement
    at_posterior: Floats
    at_prior: Floats | None


@dataclass(frozen=True, eq=False)
class Parameter:
    """Draws of one entry of a parameter, `beta.2`, of the posterior; of the prior if it is simulated.

    `standardised` are the draws by the declared offset and multiplier, if there are any. `program` declares
    the parameter, unless an included file does.
    """

    column: str
    name: str
    span: Span
    draws: Floats
    prior: Floats | None
    standardised: Floats | None = None
    program: ast.Program | None = None


@dataclass(frozen=True, eq=False)
class Geometry:
    """Names and declarations of the unconstrained parameters, draws `us` (draws, dim) of them, and what gives
    the gradients of the log density at points (n, dim).
    """

    names: tuple[str, ...]
    spans: tuple[Span, ...]
    us: Floats
    gradients: Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is examined; `log_lik` (draws,) is that of all rows, `notes` say what is left out."""

    outcomes: tuple[ObservedOutcome, ...]
    parameters: tuple[Parameter, ...]
    priors: tuple[Prior, ...]
    log_lik: Floats | None
    log_ratios: Floats
    notes: tuple[str, ...] = field(default=())
    geometry: Geometry | None = None
