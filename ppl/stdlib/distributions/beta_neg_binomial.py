"""The beta negative binomial distribution.

Stan Functions Reference, "Beta negative binomial distribution": with r, alpha, beta > 0 the density is
C(y + r - 1, y) B(alpha + r, beta + y) / B(alpha, beta).
"""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.functions.log_sums import log_sum_exp
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution, guarded, supported
from ppl.stdlib.special.counts import all_positive, log_sum
from ppl.stdlib.special.log_add import log1m_exp
from ppl.stdlib.special.log_gamma_ratio import digamma_rise, log_rise


def _log_factorial(xp: Namespace, y: Array) -> Array:
    return xp.special.gammaln(y + 1.0)


@with_partials(
    None,
    lambda xp, ans, y, r, alpha, beta: digamma_rise(xp, r, y) - digamma_rise(xp, alpha + r, beta + y),
    lambda xp, ans, y, r, alpha, beta: (
        digamma_rise(xp, alpha, r) + digamma_rise(xp, alpha, beta) - digamma_rise(xp, alpha, r + beta + y)
    ),
    lambda xp, ans, y, r, alpha, beta: digamma_rise(xp, beta, y) - digamma_rise(xp, alpha + beta, r + y),
)
def log_density(xp: Namespace, y: Array, r: Array, alpha: Array, beta: Array) -> Array:
    inside, y = y >= 0, xp.np.maximum(y, 0)
    value = _log_coefficient(xp, y, r) + _log_mixture(xp, y, r, alpha, beta) + log_rise(xp, alpha, r)
    return guarded(xp, all_positive(r, alpha, beta), supported(xp, inside, value))


def _log_coefficient(xp: Namespace, y: Array, r: Array) -> Array:
    """log C(y + r - 1, y), by rising factorials of the larger of y and r."""
    far = y > r
    large, small = xp.np.where(far, y, 1.0), xp.np.where(far, 0.0, y)
    return xp.np.where(
        far,
        log_rise(xp, large, r) - xp.np.log(large) - xp.special.gammaln(r),
        log_rise(xp, r, small) - _log_factorial(xp, small),
    )


def _log_mixture(xp: Namespace, y: Array, r: Array, alpha: Array, beta: Array) -> Array:
    """log B(alpha + r, beta + y) / B(alpha, beta) without log (alpha)_r, in the same way."""
    far = y > alpha + beta + r
    large, small = xp.np.where(far, y, 1.0), xp.np.where(far, 0.0, y)
    return xp.np.where(
        far,
        log_rise(xp, beta, alpha) - log_rise(xp, beta + large, alpha + r),
        log_rise(xp, beta, small) - log_rise(xp, alpha + beta, r + small),
    )


def lcdf(xp: Namespace, y: Array, r: Array, alpha: Array, beta: Array) -> Array:
    last = xp.np.maximum(y, 0)
    value = log_sum(xp, log_density, 0 * last, last, last, r, alpha, beta)
    return guarded(xp, all_positive(r, alpha, beta), supported(xp, y >= 0, xp.np.minimum(value, 0.0)))


def lccdf(xp: Namespace, y: Array, r: Array, alpha: Array, beta: Array) -> Array:
    first = xp.np.maximum(y, 0)
    below = lcdf(xp, first, r, alpha, beta)
    seen = below < -LEAST_COMPLEMENT
    by_complement = log1m_exp(xp, xp.np.where(seen, below, -1.0))
    value = xp.np.where(seen, by_complement, _log_tail(xp, first, r, alpha, beta))
    return guarded(xp, all_positive(r, alpha, beta), xp.np.where(y < 0, 0.0, value))


LEAST_COMPLEMENT = 1e-3
"""A smaller tail loses digits as the complement of the rest."""
FEW = 64
"""Counts of a tail whose masses are added one by one; those that still matter beyond them change slowly."""
LOG_GREGORY = np.log([157 / 160, 793 / 720, 23 / 30, 317 / 240, 95 / 288])
"""Weights of the last of them, by which sum and integral join to fifth order: Gregory's formula."""
NODE_STEP = 1 / 8
"""Between the steps of the double exponential rule on (0, inf): Takahasi and Mori (1974)."""
STEPS = np.arange(-3.5, 2.01, NODE_STEP)
"""The largest node times any count has a square that is a double."""
SUM_NODES = np.exp(0.5 * np.pi * np.sinh(STEPS))
LOG_NODE_WEIGHTS = np.log(0.5 * np.pi * NODE_STEP * np.cosh(STEPS) * SUM_NODES)
"""The nodes and weights of that rule."""


def _log_tail(xp: Namespace, y: Array, r: Array, alpha: Array, beta: Array) -> Array:
    """log P(Y > y): the masses of the next counts, then the integral of the mass, over the log of the count.

    The tail is that of a power, so that no number of counts would exhaust it.
    """
    counts = np.expand_dims(y, -1) + 1.0 + np.arange(FEW)
    last = counts[..., -1:]
    beyond = last * np.exp(SUM_NODES)
    log_weights = np.zeros(counts.shape)
    log_weights[..., -len(LOG_GREGORY) :] = LOG_GREGORY
    masses = log_density(
        xp,
        np.concatenate([counts, beyond], axis=-1),
        *(xp.np.expand_dims(x, -1) for x in (r, alpha, beta)),
    )
    return log_sum_exp(xp, masses + np.concatenate([log_weights, LOG_NODE_WEIGHTS + np.log(beyond)], axis=-1))


def rng(rng: np.random.Generator, r: Any, alpha: Any, beta: Any) -> Any:
    r, alpha, beta = np.broadcast_arrays(r, alpha, beta)
    chance = rng.beta(alpha, beta)
    return rng.poisson(rng.gamma(r, np.divide(1.0 - chance, chance)))


BETA_NEG_BINOMIAL = Distribution(
    name="beta_neg_binomial",
    meaning="failures before r successes whose chance of success is beta(alpha, beta)",
    signatures=("ints | reals, reals, reals",),
    args=(("y", "count"), ("r", "positive"), ("alpha", "positive"), ("beta", "positive")),
    log_density=log_density,
    cdfs=(lambda xp, *args: xp.np.exp(lcdf(xp, *args)), lcdf, lccdf),
    rng=rng,
    constants=((("y",), lambda xp, y: -_log_factorial(xp, y)),),
    moments=Moments(
        "r * beta / (alpha - 1)",
        "r * beta * (r + alpha - 1) * (alpha + beta - 1) / ((alpha - 1) ^ 2 * (alpha - 2))",
        "alpha > 1",
        "alpha > 2",
    ),
)
