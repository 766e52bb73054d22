"""The double exponential (Laplace) distribution and its skewed form.

Stan Functions Reference, "Double exponential (Laplace) distribution" and "Skew double exponential
distribution".
"""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import LOG_SCALE, location_scale
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Impl, continuous, guarded
from ppl.stdlib.special.constants import LOG_TWO


@with_partials(
    lambda xp, ans, y, mu, sigma: xp.np.sign(mu - y) / sigma,
    lambda xp, ans, y, mu, sigma: xp.np.sign(y - mu) / sigma,
    lambda xp, ans, y, mu, sigma: (xp.np.abs(y - mu) / sigma - 1.0) / sigma,
)
def log_density(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
    return guarded(xp, sigma > 0, -xp.np.abs((y - mu) / sigma) - xp.np.log(sigma) - LOG_TWO)


def _weight(xp: Namespace, z: Array, tau: Array) -> Array:
    """tau right of the location, 1 - tau left of it."""
    left = (z < 0) * 1.0
    return left * (1.0 - tau) + (1.0 - left) * tau


@with_partials(
    lambda xp, ans, y, mu, sigma, tau: 2.0 * _weight(xp, y - mu, tau) * xp.np.sign(mu - y) / sigma,
    lambda xp, ans, y, mu, sigma, tau: 2.0 * _weight(xp, y - mu, tau) * xp.np.sign(y - mu) / sigma,
    lambda xp, ans, y, mu, sigma, tau: (
        (2.0 * _weight(xp, y - mu, tau) * xp.np.abs(y - mu) / sigma - 1.0) / sigma
    ),
    lambda xp, ans, y, mu, sigma, tau: 1.0 / tau - 1.0 / (1.0 - tau) - 2.0 * (y - mu) / sigma,
)
def skew_log_density(xp: Namespace, y: Array, mu: Array, sigma: Array, tau: Array) -> Array:
    z = (y - mu) / sigma
    normaliser = LOG_TWO + xp.np.log(tau) + xp.np.log1p(-tau) - xp.np.log(sigma)
    value = normaliser - 2.0 * _weight(xp, z, tau) * xp.np.abs(z)
    return guarded(xp, (sigma > 0) & (tau >= 0) & (tau <= 1), value)


def _exponent(xp: Namespace, z: Array, tau: Array) -> Array:
    """-2 weight |z|, with the slope of one side at 0, where autograd takes that of |z| to be 0."""
    return xp.np.where(z < 0, 2.0 * (1.0 - tau) * z, -2.0 * tau * z)


def skew_standard_cdf(xp: Namespace, z: Array, tau: Array) -> Array:
    decay = xp.np.exp(_exponent(xp, z, tau))
    value = xp.np.where(z < 0, tau * decay, 1.0 - (1.0 - tau) * decay)
    return guarded(xp, (tau >= 0) & (tau <= 1), value)


def skew_standard_lcdf(xp: Namespace, z: Array, tau: Array) -> Array:
    exponent = _exponent(xp, z, tau)
    right = xp.np.log1p(-(1.0 - tau) * xp.np.exp(exponent))
    value = xp.np.where(z < 0, xp.np.log(tau) + exponent, right)
    return guarded(xp, (tau >= 0) & (tau <= 1), value)


SKEW_CDFS = location_scale(
    skew_standard_cdf, skew_standard_lcdf, lambda xp, z, tau: skew_standard_lcdf(xp, -z, 1.0 - tau)
)


def _symmetric(of_skew: Impl) -> Impl:
    return lambda xp, y, mu, sigma: of_skew(xp, y, mu, sigma, 0.5)


def skew_rng(rng: np.random.Generator, mu: Any, sigma: Any, tau: Any) -> Any:
    size = np.broadcast_shapes(np.shape(mu), np.shape(sigma), np.shape(tau))
    left, right = rng.standard_exponential(size), rng.standard_exponential(size)
    return mu + 0.5 * sigma * (np.divide(right, tau) - np.divide(left, np.subtract(1.0, tau)))


DOUBLE_EXPONENTIAL = continuous(
    name="double_exponential",
    meaning="double exponential (Laplace) with location mu and scale sigma",
    args=(("y", "real"), ("mu", "real"), ("sigma", "positive")),
    log_density=log_density,
    cdfs=tuple(map(_symmetric, SKEW_CDFS)),
    rng=lambda rng, mu, sigma: rng.laplace(mu, sigma),
    constants=(((), lambda xp: -LOG_TWO), LOG_SCALE),
    moments=Moments("mu", "2 * sigma ^ 2", beyond="sigma * (abs(y - mu) + sigma)"),
)

SKEW_DOUBLE_EXPONENTIAL = continuous(
    name="skew_double_exponential",
    meaning="double exponential with location mu, scale sigma and P(y < mu) = tau",
    args=(("y", "real"), ("mu", "real"), ("sigma", "positive"), ("tau", "unit_interval")),
    log_density=skew_log_density,
    cdfs=SKEW_CDFS,
    rng=skew_rng,
    constants=(
        ((), lambda xp: LOG_TWO),
        LOG_SCALE,
        (("tau",), lambda xp, tau: xp.np.log(tau) + xp.np.log1p(-tau)),
    ),
    moments=Moments(
        "mu + sigma / (2 * tau) - sigma / (2 * (1 - tau))",
        "(sigma / (2 * tau)) ^ 2 + (sigma / (2 * (1 - tau))) ^ 2",
    ),
)
