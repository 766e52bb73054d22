"""The Yule-Simon distribution.

Stan Functions Reference, "Yule-Simon distribution": with alpha > 0 the density of y = 1, 2, ... is
alpha B(y, alpha + 1), and P(Y > y) = y B(y, alpha + 1).
"""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.neg_binomial import poisson_counts
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution, guarded, supported
from ppl.stdlib.special.log_add import log1m_exp
from ppl.stdlib.special.log_gamma_ratio import digamma_rise, log_beta

SMALL_SHAPE = 0.25
"""Below it the log of y B(y, alpha + 1) cancels, and is the integral of its slope in alpha from 0."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


@with_partials(
    None, lambda xp, ans, y, alpha: 1.0 / alpha - digamma_rise(xp, alpha + 1.0, xp.np.maximum(y, 1))
)
def log_density(xp: Namespace, y: Array, alpha: Array) -> Array:
    value = xp.np.log(alpha) + log_beta(xp, 1.0 * xp.np.maximum(y, 1), alpha + 1.0)
    return guarded(xp, alpha > 0, supported(xp, y >= 1, value))


@with_partials(None, lambda xp, ans, y, alpha: -digamma_rise(xp, alpha + 1.0, y))
def _log_tail(xp: Namespace, y: Array, alpha: Array) -> Array:
    """log P(Y > y) for y >= 1."""
    small = xp.np.minimum(alpha, SMALL_SHAPE)
    shapes = 0.5 * xp.np.expand_dims(small, -1) * (1.0 + NODES)
    slopes = digamma_rise(xp, 1.0 + shapes, xp.np.expand_dims(y, -1))
    by_slopes = -0.5 * small * xp.np.sum(WEIGHTS * slopes, axis=-1)
    return xp.np.where(alpha < SMALL_SHAPE, by_slopes, xp.np.log(y) + log_beta(xp, y, alpha + 1.0))


def lccdf(xp: Namespace, y: Array, alpha: Array) -> Array:
    value = xp.np.where(y < 1, 0.0, _log_tail(xp, 1.0 * xp.np.maximum(y, 1), alpha))
    return guarded(xp, alpha > 0, value)


def lcdf(xp: Namespace, y: Array, alpha: Array) -> Array:
    value = log1m_exp(xp, _log_tail(xp, 1.0 * xp.np.maximum(y, 1), alpha))
    return guarded(xp, alpha > 0, supported(xp, y >= 1, value))


def rng(rng: np.random.Generator, alpha: Any) -> Any:
    """One more than the failures before a success whose log chance is minus an exponential variate."""
    odds = np.expm1(rng.exponential(np.divide(1.0, alpha)))
    return 1 + poisson_counts(rng, "yule_simon_rng", odds * rng.standard_exponential(np.shape(odds)))


YULE_SIMON = Distribution(
    name="yule_simon",
    meaning="counts from 1 with a power tail of exponent alpha + 1",
    signatures=("ints | reals",),
    args=(("y", "positive_count"), ("alpha", "positive")),
    log_density=log_density,
    cdfs=(lambda xp, *args: xp.np.exp(lcdf(xp, *args)), lcdf, lccdf),
    rng=rng,
    constants=((("y",), lambda xp, y: xp.special.gammaln(1.0 * xp.np.maximum(y, 1))),),
    moments=Moments(
        "alpha / (alpha - 1)", "alpha ^ 2 / ((alpha - 1) ^ 2 * (alpha - 2))", "alpha > 1", "alpha > 2"
    ),
)
