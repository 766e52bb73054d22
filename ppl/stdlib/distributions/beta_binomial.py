"""The beta-binomial distribution.  Stan Functions Reference, "Beta-binomial distribution"."""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.binomial import log_coefficient
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution, guarded, supported
from ppl.stdlib.special.counts import all_positive, log_sum
from ppl.stdlib.special.log_gamma_ratio import digamma_rise, log_rise


def _is_valid(trials: Array, alpha: Array, beta: Array) -> Array:
    return (trials >= 0) & all_positive(alpha, beta)


@with_partials(
    None,
    None,
    lambda xp, ans, y, trials, alpha, beta: (
        digamma_rise(xp, alpha, y) - digamma_rise(xp, alpha + beta, trials)
    ),
    lambda xp, ans, y, trials, alpha, beta: (
        digamma_rise(xp, beta, trials - y) - digamma_rise(xp, alpha + beta, trials)
    ),
)
def log_density(xp: Namespace, y: Array, trials: Array, alpha: Array, beta: Array) -> Array:
    value = (
        log_coefficient(xp, y, trials)
        + log_rise(xp, alpha, y)
        + log_rise(xp, beta, trials - y)
        - log_rise(xp, alpha + beta, trials)
    )
    inside = (y >= 0) & (y <= trials)
    return guarded(xp, _is_valid(trials, alpha, beta), supported(xp, inside, value))


def lcdf(xp: Namespace, y: Array, trials: Array, alpha: Array, beta: Array) -> Array:
    last = xp.np.minimum(y, trials)
    value = log_sum(xp, log_density, 0 * last, last, trials, trials, alpha, beta)
    return guarded(xp, _is_valid(trials, alpha, beta), xp.np.where(y < trials, value, 0.0))


def lccdf(xp: Namespace, y: Array, trials: Array, alpha: Array, beta: Array) -> Array:
    first = xp.np.maximum(y + 1, 0)
    value = log_sum(xp, log_density, first, trials, trials, trials, alpha, beta)
    return guarded(xp, _is_valid(trials, alpha, beta), xp.np.where(y < 0, 0.0, value))


def rng(rng: np.random.Generator, trials: Any, alpha: Any, beta: Any) -> Any:
    trials, alpha, beta = np.broadcast_arrays(trials, alpha, beta)
    return rng.binomial(trials, rng.beta(alpha, beta))


BETA_BINOMIAL = Distribution(
    name="beta_binomial",
    meaning="successes in N trials whose chance of success is beta(alpha, beta)",
    signatures=("ints | ints, reals, reals",),
    args=(("y", "count"), ("N", "trials"), ("alpha", "positive"), ("beta", "positive")),
    log_density=log_density,
    cdfs=(lambda xp, *args: xp.np.exp(lcdf(xp, *args)), lcdf, lccdf),
    rng=rng,
    constants=((("y", "N"), log_coefficient),),
    moments=Moments(
        "N * alpha / (alpha + beta)",
        "N * alpha * beta * (alpha + beta + N) / ((alpha + beta) ^ 2 * (alpha + beta + 1))",
    ),
)
