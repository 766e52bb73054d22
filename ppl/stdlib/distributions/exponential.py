"""The exponential distribution.  Stan Functions Reference, "Exponential distribution"."""

import math

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.record import continuous, guarded, supported
from ppl.stdlib.special.log_probability import log1m_exp


@with_partials(
    lambda xp, ans, y, beta: -beta,
    lambda xp, ans, y, beta: 1.0 / beta - y,
)
def log_density(xp: Namespace, y: Array, beta: Array) -> Array:
    return guarded(xp, beta > 0, supported(xp, y >= 0, xp.np.log(beta) - beta * y))


def cdf(xp: Namespace, y: Array, beta: Array) -> Array:
    return guarded(xp, beta > 0, -xp.np.expm1(-beta * xp.np.where(y >= 0, y, 0.0)))


def lcdf(xp: Namespace, y: Array, beta: Array) -> Array:
    inside = y > 0
    value = log1m_exp(xp, -beta * xp.np.where(inside, y, 1.0))
    return guarded(xp, beta > 0, xp.np.where(inside, value, -math.inf))


def lccdf(xp: Namespace, y: Array, beta: Array) -> Array:
    return guarded(xp, beta > 0, -beta * xp.np.where(y >= 0, y, 0.0))


EXPONENTIAL = continuous(
    name="exponential",
    meaning="exponential with inverse scale beta",
    args=(("y", "nonnegative"), ("beta", "positive")),
    log_density=log_density,
    cdfs=(cdf, lcdf, lccdf),
    rng=lambda rng, beta: rng.exponential(np.divide(1.0, beta)),
    constants=((("beta",), lambda xp, beta: xp.np.log(beta)),),
)
