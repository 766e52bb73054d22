"""The Poisson distribution by its rate or its log-rate.

Stan Functions Reference, "Poisson distribution" and "Poisson distribution, log parameterization".
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import from_zero
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import DensityParts, Distribution, supported
from ppl.stdlib.special.counts import log_factorial
from ppl.stdlib.special.incomplete_gamma import ABOVE

LARGEST_RATE = np.finfo(float).max
"""In place of an infinite rate, whose logarithm times no count is nan."""


def _off_zero(xp: Namespace, y: Array, lam: Array) -> Array:
    """The rate, but a tiny one for 0 where the count is 0: the logarithm times the count is then 0.

    No choice is made, as XLA computes logarithms many at a time only where there is none among them.
    """
    return lam + 1e-300 * xp.np.maximum(1 - y, 0)


def _slope(xp: Namespace, ans: Array, y: Array, lam: Array) -> Array:
    return y / _off_zero(xp, y, lam) - 1.0


@with_partials(None, _slope)
def kernel(xp: Namespace, y: Array, lam: Array) -> Array:
    """Nan where the rate is negative, as its logarithm is, and -inf where it is infinite."""
    return y * xp.np.log(xp.np.minimum(_off_zero(xp, y, lam), LARGEST_RATE)) - lam


@with_partials(None, _slope)
def log_density(xp: Namespace, y: Array, lam: Array) -> Array:
    return supported(xp, y >= 0, kernel(xp, y, lam) - log_factorial(xp, y))


CDFS = from_zero(lambda lam: lam >= 0, lambda xp, tail, y, lam: tail(xp, y + 1.0, lam), *ABOVE)
"""By the waiting time for y + 1 arrivals, which is gamma: P(Y <= y) = Q(y + 1, lambda)."""


@with_partials(None, lambda xp, ans, y, alpha: y - xp.np.exp(alpha))
def log_rate_kernel(xp: Namespace, y: Array, alpha: Array) -> Array:
    value = xp.np.where(y == 0, 0.0, y * alpha) - xp.np.exp(alpha)
    return supported(xp, alpha < np.inf, value)


@with_partials(None, lambda xp, ans, y, alpha: y - xp.np.exp(alpha))
def log_rate_log_density(xp: Namespace, y: Array, alpha: Array) -> Array:
    return supported(xp, y >= 0, log_rate_kernel(xp, y, alpha) - log_factorial(xp, y))


def term(xp: Namespace, times: Array, y: Array) -> Array:
    return supported(xp, y >= 0, -times * log_factorial(xp, y))


CONSTANTS = ((("y",), lambda xp, y: -log_factorial(xp, y)),)

POISSON = Distribution(
    name="poisson",
    meaning="a count with mean lambda",
    signatures=("ints | reals",),
    args=(("y", "count"), ("lambda", "nonnegative")),
    log_density=log_density,
    cdfs=CDFS,
    rng=lambda rng, lam: rng.poisson(lam),
    rng_args=(("lambda", "poisson_rate"),),
    constants=CONSTANTS,
    parts=DensityParts(kernel, term, ("y",)),
    moments=Moments("lambda", "lambda", beyond="y"),
)

POISSON_LOG = Distribution(
    name="poisson_log",
    meaning="a count with mean exp(alpha)",
    signatures=("ints | reals",),
    args=(("y", "count"), ("alpha", "real")),
    log_density=log_rate_log_density,
    rng=lambda rng, alpha: rng.poisson(np.exp(alpha)),
    rng_args=(("alpha", "log_poisson_rate"),),
    constants=CONSTANTS,
    parts=DensityParts(log_rate_kernel, term, ("y",)),
    moments=Moments("exp(alpha)", "exp(alpha)"),
)
