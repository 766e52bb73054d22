"""Student's t distribution.  Stan Functions Reference, "Student-t distribution"."""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, no_derivative, with_partials, with_vjps
from ppl.late import special
from ppl.stdlib.distributions.cumulative import LOG_SCALE, location_scale
from ppl.stdlib.moments import Moments
from ppl.stdlib.reals import reals
from ppl.stdlib.record import Impl, continuous, guarded, validity
from ppl.stdlib.special import incomplete_beta
from ppl.stdlib.special.constants import HALF_LOG_PI, LOG_TWO
from ppl.stdlib.special.log_gamma_ratio import digamma_rise, log_beta, log_rise


def _d_nu(xp: Namespace, z: Array, nu: Array) -> Array:
    """The derivative of the log density of the standard form in nu."""
    ratio = z * z / (nu + z * z)
    normaliser = digamma_rise(xp, 0.5 * nu, 0.5) - 1.0 / nu
    return 0.5 * (normaliser - xp.np.log1p(z * z / nu) + (nu + 1.0) / nu * ratio)


@with_partials(
    lambda xp, ans, y, nu, mu, sigma: (nu + 1.0) * (mu - y) / (nu * sigma**2 + (y - mu) ** 2),
    lambda xp, ans, y, nu, mu, sigma: _d_nu(xp, (y - mu) / sigma, nu),
    lambda xp, ans, y, nu, mu, sigma: (nu + 1.0) * (y - mu) / (nu * sigma**2 + (y - mu) ** 2),
    lambda xp, ans, y, nu, mu, sigma: (
        nu * ((y - mu) ** 2 - sigma**2) / (sigma * (nu * sigma**2 + (y - mu) ** 2))
    ),
)
def log_density(xp: Namespace, y: Array, nu: Array, mu: Array, sigma: Array) -> Array:
    value = standard_log_density(xp, (y - mu) / sigma, nu) - xp.np.log(sigma)
    return value + validity(xp, (nu > 0) & (sigma > 0))


def standard_log_density(xp: Namespace, z: Array, nu: Array) -> Array:
    return _normaliser(xp, nu) - HALF_LOG_PI - 0.5 * (nu + 1.0) * xp.np.log1p(z * z / nu)


def _normaliser(xp: Namespace, nu: Array) -> Array:
    return log_rise(xp, 0.5 * nu, 0.5) - 0.5 * xp.np.log(nu)


def _beta_arguments(z: Any, nu: Any) -> tuple[Any, Any, Any, Any]:
    """(a, b, x, 1 - x) such that P(|Z| > |z|) = I(a, b, x)."""
    square = z * z
    return 0.5 * nu, 0.5, nu / (nu + square), square / (nu + square)


def _log_tail(xp: Namespace, z: Array, nu: Array) -> Array:
    """log P(Z < -|z|)."""
    return incomplete_beta.log_lower(xp, *_beta_arguments(z, nu)) - LOG_TWO


@with_vjps(no_derivative, no_derivative)
def _tail_slope(xp: Namespace, z: Array, nu: Array) -> Array:
    """The derivative of log P(Z < -|z|) in nu, by which both a and x of the incomplete beta function move."""
    safe = xp.np.where(z == 0.0, 1.0, z)
    a, b, x, y = _beta_arguments(safe, nu)
    log_i = incomplete_beta.log_lower(xp, a, b, x, y)
    through_x = xp.np.exp(a * xp.np.log(x) + b * xp.np.log(y) - log_beta(xp, a, b) - log_i) / nu
    return xp.np.where(z == 0.0, 0.0, 0.5 * incomplete_beta.slope(xp, a, b, x, y, 0) + through_x)


def _cdf_slope(xp: Namespace, z: Array, nu: Array) -> Array:
    """The derivative of P(Z < z) in nu."""
    return -xp.np.sign(z) * xp.np.exp(_log_tail(xp, z, nu)) * _tail_slope(xp, z, nu)


@with_partials(
    lambda xp, ans, z, nu: xp.np.exp(standard_log_density(xp, z, nu)),
    lambda xp, ans, z, nu: _cdf_slope(xp, z, nu),
)
def standard_cdf(xp: Namespace, z: Array, nu: Array) -> Array:
    tail = xp.np.exp(_log_tail(xp, z, nu))
    return xp.np.where(z < 0, tail, 1.0 - tail)


def _share_of_tail(xp: Namespace, log_cdf: Array, z: Array) -> Array:
    """The derivative of log P(Z < z) in log P(Z < -|z|): above 0 minus the ratio of the tail to the rest."""
    return xp.np.where(z < 0, 1.0, -xp.np.expm1(xp.np.minimum(-log_cdf, LOG_TWO)))


@with_partials(
    lambda xp, ans, z, nu: xp.np.exp(standard_log_density(xp, z, nu) - ans),
    lambda xp, ans, z, nu: _tail_slope(xp, z, nu) * _share_of_tail(xp, ans, z),
)
def standard_lcdf(xp: Namespace, z: Array, nu: Array) -> Array:
    log_tail = _log_tail(xp, z, nu)
    return xp.np.where(z < 0, log_tail, xp.np.log1p(-xp.np.exp(log_tail)))


SMALLEST_SQUARE_RATIO = 1e-200
"""Below it P(Z > z) is a power of z to the last digit."""


def _slope_by_probability(xp: Namespace, z: Array, nu: Array) -> Array:
    return xp.np.exp(-standard_log_density(xp, z, nu))


@with_partials(
    lambda xp, z, p, nu: _slope_by_probability(xp, z, nu),
    lambda xp, z, p, nu: -_cdf_slope(xp, z, nu) * _slope_by_probability(xp, z, nu),
)
def standard_quantile(xp: Namespace, p: Array, nu: Array) -> Array:
    """z with P(Z < z) = p, by the inverse of the incomplete beta function of `_beta_arguments`."""
    tail = xp.np.minimum(p, 1.0 - p)
    central = special.betaincinv(0.5, 0.5 * nu, 1.0 - 2.0 * tail)  # z^2 / (nu + z^2)
    middle = central < 0.5
    near = xp.np.sqrt(nu * central / (1.0 - xp.np.where(middle, central, 0.0)))
    far = _tail_quantile(xp, xp.np.where(middle, 0.1, tail), nu)
    return xp.np.sign(p - 0.5) * xp.np.where(middle, near, far)


def _tail_quantile(xp: Namespace, tail: Array, nu: Array) -> Array:
    """z with P(Z > z) = tail: a power of it where x = nu / (nu + z^2) underflows, else by one Newton step."""
    x = special.betaincinv(0.5 * nu, 0.5, 2.0 * tail)
    log_x = xp.np.log(tail * nu) + log_beta(xp, 0.5 * nu, 0.5)
    power = xp.np.sqrt(nu) * xp.np.exp(-log_x / nu)
    tiny = x < SMALLEST_SQUARE_RATIO
    z = xp.np.sqrt(nu * (1.0 / xp.np.where(tiny, 0.5, x) - 1.0))
    excess = _log_tail(xp, z, nu) - xp.np.log(tail)
    newton = z + excess * xp.np.exp(_log_tail(xp, z, nu) - standard_log_density(xp, z, nu))
    return xp.np.where(tiny, power, newton)


@reals
def quantile(xp: Namespace, p: Array, nu: Array, mu: Array, sigma: Array) -> Array:
    valid = (p >= 0) & (p <= 1) & (nu > 0) & (sigma > 0)
    return guarded(xp, valid, mu + sigma * standard_quantile(xp, p, nu))


def _reordered(of_location_scale: Impl) -> Impl:
    """The function of (y, nu, mu, sigma) from that of (y, mu, sigma, nu)."""
    return lambda xp, y, nu, mu, sigma: guarded(xp, nu > 0, of_location_scale(xp, y, mu, sigma, nu))


CDFS = location_scale(standard_cdf, standard_lcdf, lambda xp, z, nu: standard_lcdf(xp, -z, nu))

STUDENT_T = continuous(
    name="student_t",
    meaning="Student's t with nu degrees of freedom, location mu and scale sigma",
    args=(("y", "real"), ("nu", "positive"), ("mu", "real"), ("sigma", "positive")),
    log_density=log_density,
    cdfs=tuple(map(_reordered, CDFS)),
    rng=lambda rng, nu, mu, sigma: mu + sigma * rng.standard_t(nu, np.broadcast(nu, mu, sigma).shape),
    constants=(((), lambda xp: -HALF_LOG_PI), (("nu",), _normaliser), LOG_SCALE),
    moments=Moments(
        "mu",
        "sigma ^ 2 * nu / (nu - 2)",
        "nu > 1",
        "nu > 2",
        beyond="(nu * sigma ^ 2 + (y - mu) ^ 2) / (nu - 1)",
    ),
)
