"""The Weibull, Fréchet and Rayleigh distributions: powers of an exponential variable.

(y / sigma)^alpha is standard exponential for the Weibull, (y / sigma)^-alpha for the Fréchet, and the
Rayleigh is the Weibull with alpha = 2 and scale sigma sqrt(2).  Stan Functions Reference, chapter "Positive
continuous distributions".
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.reals import reals
from ppl.stdlib.record import Distribution, guarded, supported
from ppl.stdlib.special.constants import SQRT_TWO
from ppl.stdlib.special.log_probability import log1m_exp


def _log_ratio(xp: Namespace, y: Array, sigma: Array) -> Array:
    """log(y / sigma), of whose two logarithms that of data is the same for all draws."""
    return xp.np.log(y) - xp.np.log(sigma)


def _power(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
    """(y / sigma)^alpha, which costs less by way of a logarithm that is there already."""
    return xp.np.exp(alpha * _log_ratio(xp, y, sigma))


@reals
@with_partials(
    lambda xp, ans, y, alpha, sigma: (alpha - 1.0 - alpha * _power(xp, y, alpha, sigma)) / y,
    lambda xp, ans, y, alpha, sigma: (
        1.0 / alpha + _log_ratio(xp, y, sigma) * (1.0 - _power(xp, y, alpha, sigma))
    ),
    lambda xp, ans, y, alpha, sigma: alpha * (_power(xp, y, alpha, sigma) - 1.0) / sigma,
)
def log_density(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
    value = xp.special.xlogy(alpha - 1.0, y) - alpha * xp.np.log(sigma) - _power(xp, y, alpha, sigma)
    return guarded(xp, (alpha > 0) & (sigma > 0), supported(xp, y >= 0, xp.np.log(alpha) + value))


@reals
@with_partials(
    lambda xp, ans, y, alpha, sigma: (alpha * _power(xp, y, -alpha, sigma) - alpha - 1.0) / y,
    lambda xp, ans, y, alpha, sigma: (
        1.0 / alpha + _log_ratio(xp, y, sigma) * (_power(xp, y, -alpha, sigma) - 1.0)
    ),
    lambda xp, ans, y, alpha, sigma: alpha * (1.0 - _power(xp, y, -alpha, sigma)) / sigma,
)
def frechet_log_density(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
    value = alpha * xp.np.log(sigma) - (alpha + 1.0) * xp.np.log(y) - _power(xp, y, -alpha, sigma)
    return guarded(xp, (alpha > 0) & (sigma > 0), supported(xp, y > 0, xp.np.log(alpha) + value))


@reals
@with_partials(
    lambda xp, ans, y, sigma: 1.0 / y - y / sigma**2,
    lambda xp, ans, y, sigma: ((y / sigma) ** 2 - 2.0) / sigma,
)
def rayleigh_log_density(xp: Namespace, y: Array, sigma: Array) -> Array:
    value = xp.np.log(y) - 2.0 * xp.np.log(sigma) - 0.5 * (y / sigma) ** 2
    return guarded(xp, sigma > 0, supported(xp, y > 0, value))


def _through(tail: Callable[..., Any], sign: float, at_zero: float) -> Callable[..., Any]:
    """The function of (y, alpha, sigma) that is `tail` of (y / sigma)^(sign alpha), `at_zero` for y <= 0."""

    @reals
    def function(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
        inside = y > 0
        exponential = _power(xp, xp.np.where(inside, y, 1.0), sign * alpha, sigma)
        value = xp.np.where(inside, tail(xp, exponential), at_zero)
        return guarded(xp, (alpha > 0) & (sigma > 0), value)

    return function


def _above(xp: Namespace, e: Array) -> Array:
    return xp.np.exp(-e)


def _below(xp: Namespace, e: Array) -> Array:
    return -xp.np.expm1(-e)


def _log_above(xp: Namespace, e: Array) -> Array:
    return -e


def _log_below(xp: Namespace, e: Array) -> Array:
    return log1m_exp(xp, -e)


cdf = _through(_below, 1.0, 0.0)
lcdf = _through(_log_below, 1.0, -math.inf)
lccdf = _through(_log_above, 1.0, 0.0)


def _rayleigh(of_weibull: Callable[..., Any]) -> Callable[..., Any]:
    return lambda xp, y, sigma: of_weibull(xp, y, 2.0, SQRT_TWO * sigma)


def rng(rng: np.random.Generator, alpha: Any, sigma: Any) -> Any:
    size = np.broadcast_shapes(np.shape(alpha), np.shape(sigma))
    return sigma * rng.weibull(alpha, size)


def frechet_rng(rng: np.random.Generator, alpha: Any, sigma: Any) -> Any:
    size = np.broadcast_shapes(np.shape(alpha), np.shape(sigma))
    return np.divide(sigma, rng.weibull(alpha, size))


def rayleigh_rng(rng: np.random.Generator, sigma: Any) -> Any:
    return rng.rayleigh(sigma)


WEIBULL = Distribution(
    name="weibull",
    meaning="Weibull with shape alpha and scale sigma",
    discrete=False,
    signatures=("reals | reals, reals",),
    args=(("y", "nonnegative"), ("alpha", "positive"), ("sigma", "positive")),
    log_density=log_density,
    cdf=cdf,
    lcdf=lcdf,
    lccdf=lccdf,
    rng=rng,
    constants=(
        (("alpha",), lambda xp, alpha: xp.np.log(alpha)),
        (("y", "alpha"), lambda xp, y, alpha: (alpha - 1.0) * xp.np.log(y)),
        (("alpha", "sigma"), lambda xp, alpha, sigma: -alpha * xp.np.log(sigma)),
    ),
)

FRECHET = Distribution(
    name="frechet",
    meaning="Fréchet with shape alpha and scale sigma",
    discrete=False,
    signatures=("reals | reals, reals",),
    args=(("y", "positive"), ("alpha", "positive"), ("sigma", "positive")),
    log_density=frechet_log_density,
    cdf=_through(_above, -1.0, 0.0),
    lcdf=_through(_log_above, -1.0, -math.inf),
    lccdf=_through(_log_below, -1.0, 0.0),
    rng=frechet_rng,
    constants=(
        (("alpha",), lambda xp, alpha: xp.np.log(alpha)),
        (("y", "alpha"), lambda xp, y, alpha: -(alpha + 1.0) * xp.np.log(y)),
        (("alpha", "sigma"), lambda xp, alpha, sigma: alpha * xp.np.log(sigma)),
    ),
)

RAYLEIGH = Distribution(
    name="rayleigh",
    meaning="Rayleigh with scale sigma",
    discrete=False,
    signatures=("reals | reals",),
    args=(("y", "positive"), ("sigma", "positive")),
    log_density=rayleigh_log_density,
    cdf=_rayleigh(cdf),
    lcdf=_rayleigh(lcdf),
    lccdf=_rayleigh(lccdf),
    rng=rayleigh_rng,
    constants=(
        (("sigma",), lambda xp, sigma: -2.0 * xp.np.log(sigma)),
        (("y",), lambda xp, y: xp.np.log(y)),
    ),
)

FAMILIES = (WEIBULL, FRECHET, RAYLEIGH)
