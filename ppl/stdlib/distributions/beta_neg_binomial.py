"""The beta negative binomial distribution.

Stan Functions Reference, "Beta negative binomial distribution": with r, alpha, beta > 0 the density is
C(y + r - 1, y) B(alpha + r, beta + y) / B(alpha, beta).
"""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.record import Distribution, guarded, supported
from ppl.stdlib.special.counts import log_sum
from ppl.stdlib.special.log_gamma_ratio import digamma_rise, log_rise
from ppl.stdlib.special.log_probability import log1m_exp


def _is_valid(*parameters: Array) -> Array:
    valid: Array = True
    for x in parameters:
        valid = valid & (x > 0) & (x < np.inf)
    return valid


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
    value = (
        log_rise(xp, r, y)
        + log_rise(xp, beta, y)
        - _log_factorial(xp, y)
        + log_rise(xp, alpha, r)
        - log_rise(xp, alpha + beta, r + y)
    )
    return guarded(xp, _is_valid(r, alpha, beta), supported(xp, inside, value))


def lcdf(xp: Namespace, y: Array, r: Array, alpha: Array, beta: Array) -> Array:
    last = xp.np.maximum(y, 0)
    value = log_sum(xp, log_density, 0 * last, last, last, r, alpha, beta)
    return guarded(xp, _is_valid(r, alpha, beta), supported(xp, y >= 0, xp.np.minimum(value, 0.0)))


def lccdf(xp: Namespace, y: Array, r: Array, alpha: Array, beta: Array) -> Array:
    """Through the complement: the tail is heavy, so its chance is seldom too small to be seen beside 1."""
    value = log1m_exp(xp, lcdf(xp, xp.np.maximum(y, 0), r, alpha, beta))
    return guarded(xp, _is_valid(r, alpha, beta), xp.np.where(y < 0, 0.0, value))


def cdf(xp: Namespace, y: Array, r: Array, alpha: Array, beta: Array) -> Array:
    return xp.np.exp(lcdf(xp, y, r, alpha, beta))


def rng(rng: np.random.Generator, r: Any, alpha: Any, beta: Any) -> Any:
    r, alpha, beta = np.broadcast_arrays(r, alpha, beta)
    chance = rng.beta(alpha, beta)
    return rng.poisson(rng.gamma(r, np.divide(1.0 - chance, chance)))


BETA_NEG_BINOMIAL = Distribution(
    name="beta_neg_binomial",
    meaning="failures before r successes whose chance of success is beta(alpha, beta)",
    discrete=True,
    signatures=("ints | reals, reals, reals",),
    args=(("y", "count"), ("r", "positive"), ("alpha", "positive"), ("beta", "positive")),
    log_density=log_density,
    cdf=cdf,
    lcdf=lcdf,
    lccdf=lccdf,
    rng=rng,
    constants=((("y",), lambda xp, y: -_log_factorial(xp, y)),),
)

FAMILIES = (BETA_NEG_BINOMIAL,)
