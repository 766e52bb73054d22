"""Importance sampling from several Gaussians at once, and how much of the target each of them accounts for.

Veach and Guibas (1995), "Optimally combining sampling techniques", section 3.3, the balance heuristic; as a
defence against thin tails: Hesterberg (1995), Technometrics 37.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target, finite
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.records import dataclass

CLEAR_STANDARD_ERRORS = 3.0
"""A difference so many standard errors wide is no noise."""


@dataclass(frozen=True)
class Proposal:
    """Draws u (n, dim) of one distribution, the log densities (n,) of the target there, and its own density.

    `log_density` gives the log of the distribution's density at points (m, dim), (m,).
    """

    u: Floats
    log_p: Floats
    log_density: Callable[[Floats], Floats]

    @classmethod
    def of(cls, gaussian: Gaussian, target: Target, z: Floats) -> "Proposal":
        """Where standard noise z (n, dim) lands under a Gaussian."""
        u = gaussian.draws(z)
        return cls(u, finite(target.log_densities(u)), gaussian.log_densities)


def log_weights(batches: Sequence[Proposal]) -> list[Floats]:
    """log p/g at the draws of each batch, (n,) each, where g is the mixture of all in proportion to their
    draws.

    The mean of p/g over all draws is the integral of the target.
    """
    log_density = density_of(batches)
    return [each.log_p - log_density(each.u) for each in batches]


def density_of(batches: Sequence[Proposal]) -> Callable[[Floats], Floats]:
    """The log density of the mixture of all, in proportion to their draws."""
    counts = np.array([len(batch.u) for batch in batches])
    shares = np.log(counts / counts.sum())[:, None]

    def log_density(u: Floats) -> Floats:
        terms = np.array([batch.log_density(u) for batch in batches])
        return np.asarray(log_sum_exp(shares + terms, axis=0))

    return log_density


class Integral(NamedTuple):
    """An estimate of the target's integral and its standard error, both over exp(`scale`)."""

    value: float
    se: float
    scale: float


def integral(batches: Sequence[Proposal]) -> Integral:
    """By the draws of all batches; the error is that within each of them, for their numbers are given."""
    weights = log_weights(batches)
    scale = max(float(each.max()) for each in weights)
    if not np.isfinite(scale):
        return Integral(0.0, np.inf, 0.0)
    count = sum(map(len, weights))
    sizes = [np.exp(each - scale) for each in weights]
    value = sum(float(each.sum()) for each in sizes) / count
    variance = sum(len(each) * float(each.var()) for each in sizes)
    return Integral(value, float(np.sqrt(variance)) / count, scale)


def missed(q: Proposal, *beside: Proposal, clear: bool = True) -> float:
    """Which share of the target's integral the draws of q do not see, but those of other distributions do.

    Zero where both lie over the same mass, in whatever proportion, and, if it must be `clear`, where the
    difference is within its noise.
    """
    alone, both = integral([q]), integral([q, *beside])
    if both.value == 0:
        return 0.0
    seen, se = (x * np.exp(alone.scale - both.scale) / both.value for x in (alone.value, alone.se))
    noise = CLEAR_STANDARD_ERRORS * np.hypot(se, both.se / both.value) if clear else 0.0
    return float(1 - seen) if 1 - seen > noise else 0.0
