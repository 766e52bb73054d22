"""The likelihoods that Stan's embedded Laplace functions have by name, and what Newton's method asks of each.

All are log-concave, and each theta has rows of its own, so W, the negative Hessian of the log likelihood, is
diagonal and not negative.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ppl.arrays import NUMPY, Array, Node
from ppl.late import special
from ppl.records import dataclass
from ppl.stdlib.distributions.bernoulli import logit_log_density
from ppl.stdlib.distributions.neg_binomial import log_mean_log_density
from ppl.stdlib.distributions.poisson import log_rate_log_density
from ppl.stdlib.special.log_add import softplus

CONTINUITY = 0.5
"""Added to counts where Newton's method begins, so that each has a logarithm."""


class Counts(NamedTuple):
    """The rows of each theta: how many there are, and the sum of their outcomes."""

    rows: Array
    total: Array


def counted(y: Array, index: Array, size: int) -> Counts:
    at = index - 1
    rows = np.bincount(at, minlength=size).astype(float)
    return Counts(rows, np.bincount(at, weights=y * 1.0, minlength=size))


class Local(NamedTuple):
    """The log likelihood of the rows of each t, less what does not depend on t, and its derivatives there.

    `weight` is W, minus the second; `tilt` is the derivative of log W.
    """

    value: Array
    first: Array
    weight: Array
    tilt: Array


class Dispersed(NamedTuple):
    """The derivatives in the likelihood's own parameter of `first` and of log W."""

    first: Array
    log_weight: Array


@dataclass(frozen=True)
class Likelihood:
    """`local(counts, t, *dispersion)` at t = theta + m; `start(counts)` is a t near the mode of the rows."""

    name: str
    log_density: Node
    local: Callable[..., Local]
    start: Callable[[Counts], Array]
    by_dispersion: Callable[..., Dispersed] | None = None
    """Where it has a parameter of its own, after y_index."""

    @property
    def dispersed(self) -> bool:
        return self.by_dispersion is not None


def _log_mean(counts: Counts) -> Array:
    return np.log((counts.total + CONTINUITY) / (counts.rows + CONTINUITY))


def _poisson(counts: Counts, t: Array) -> Local:
    mean = counts.rows * np.exp(t)
    return Local(counts.total * t - mean, counts.total - mean, mean, np.ones_like(t))


def _log_odds(counts: Counts) -> Array:
    return np.log((counts.total + CONTINUITY) / (counts.rows - counts.total + CONTINUITY))


def _binomial(total: Array, rows: Array, logit: Array) -> Local:
    """`total` successes in so many rows, neither of them whole numbers."""
    chance, failure = special.expit(logit), special.expit(-logit)
    value = total * logit - rows * softplus(NUMPY, logit)
    return Local(value, total - rows * chance, rows * chance * failure, failure - chance)


def _bernoulli(counts: Counts, t: Array) -> Local:
    return _binomial(counts.total, counts.rows, t)


def _neg_binomial(counts: Counts, t: Array, phi: Array) -> Local:
    """y log(s) + phi log(1 - s) with s = mu / (mu + phi) is a binomial's."""
    return _binomial(counts.total, counts.total + counts.rows * phi, t - np.log(phi))


def _neg_binomial_by_phi(counts: Counts, t: Array, phi: Array) -> Dispersed:
    rows = counts.total + counts.rows * phi
    at = _neg_binomial(counts, t, phi)
    chance = special.expit(t - np.log(phi))
    share = np.divide(counts.rows, rows, out=np.zeros_like(at.weight), where=rows > 0)
    return Dispersed(at.weight / phi - counts.rows * chance, share - at.tilt / phi)


LIKELIHOODS: tuple[Likelihood, ...] = (
    Likelihood("poisson_log", log_rate_log_density, _poisson, _log_mean),
    Likelihood("neg_binomial_2_log", log_mean_log_density, _neg_binomial, _log_mean, _neg_binomial_by_phi),
    Likelihood("bernoulli_logit", logit_log_density, _bernoulli, _log_odds),
)
