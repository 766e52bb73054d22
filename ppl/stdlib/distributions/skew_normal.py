"""The skew normal distribution.  Stan Functions Reference, "Skew normal distribution".

With z = (y - xi) / omega the density is 2 phi(z) Phi(alpha z) / omega and the cdf is Phi(z) - 2 T(z, alpha),
T being Owen's function (Azzalini 1985, Scand. J. Statist. 12:171).
"""

import math
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import location_scale
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import continuous, guarded
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI, LOG_TWO
from ppl.stdlib.special.log_concave import DEEP_IN_TAIL, log_left_tail
from ppl.stdlib.special.mills import inverse_mills


def _slope(xp: Namespace, z: Array, alpha: Array) -> Array:
    """The derivative of the standard log density in z."""
    return alpha * inverse_mills(xp, alpha * z) - z


@with_partials(
    lambda xp, ans, y, xi, omega, alpha: _slope(xp, (y - xi) / omega, alpha) / omega,
    lambda xp, ans, y, xi, omega, alpha: -_slope(xp, (y - xi) / omega, alpha) / omega,
    lambda xp, ans, y, xi, omega, alpha: (
        -((y - xi) / omega * _slope(xp, (y - xi) / omega, alpha) + 1.0) / omega
    ),
    lambda xp, ans, y, xi, omega, alpha: (y - xi) / omega * inverse_mills(xp, alpha * (y - xi) / omega),
)
def log_density(xp: Namespace, y: Array, xi: Array, omega: Array, alpha: Array) -> Array:
    value = standard_log_density(xp, (y - xi) / omega, alpha) - xp.np.log(omega)
    return guarded(xp, omega > 0, value)


def standard_log_density(xp: Namespace, z: Array, alpha: Array) -> Array:
    return LOG_TWO - HALF_LOG_TWO_PI - 0.5 * z * z + xp.special.log_ndtr(alpha * z)


def _log_shape_slope(xp: Namespace, z: Array, alpha: Array) -> Array:
    """log of minus the derivative of the cdf in alpha, by differentiating Owen's integral."""
    square = 1.0 + alpha * alpha
    return -0.5 * z * z * square - xp.np.log(math.pi * square)


@with_partials(
    lambda xp, ans, z, alpha: xp.np.exp(_standard(xp, z, alpha)),
    lambda xp, ans, z, alpha: -xp.np.exp(_log_shape_slope(xp, z, alpha)),
)
def standard_cdf(xp: Namespace, z: Array, alpha: Array) -> Array:
    return xp.special.ndtr(z) - 2.0 * xp.special.owens_t(z, alpha)


@with_partials(
    lambda xp, ans, z, alpha: xp.np.exp(_standard(xp, z, alpha) - ans),
    lambda xp, ans, z, alpha: -xp.np.exp(_log_shape_slope(xp, z, alpha) - ans),
)
def standard_lcdf(xp: Namespace, z: Array, alpha: Array) -> Array:
    p = standard_cdf(xp, z, alpha)
    slope = _slope(xp, z, alpha)
    deep = (p < DEEP_IN_TAIL) & (slope > 1.0)
    from_above = xp.np.log1p(-standard_cdf(xp, -z, -alpha))
    value = xp.np.where(p > 0.5, from_above, xp.np.log(xp.np.where(deep, 0.5, p)))

    def tail() -> Array:
        wide = xp.np.asarray(alpha)[..., None]
        inside = xp.np.where(deep, z, -10.0), xp.np.where(deep, slope, 10.0)
        log_p = log_left_tail(xp, lambda x: standard_log_density(xp, x, wide), *inside)
        return xp.np.where(deep, log_p, value)

    return xp.rarely(deep, tail, value)


def _standard(xp: Namespace, z: Array, alpha: Array) -> Array:
    return log_density(xp, z, 0.0, 1.0, alpha)


def rng(rng: np.random.Generator, xi: Any, omega: Any, alpha: Any) -> Any:
    size = np.broadcast_shapes(np.shape(xi), np.shape(omega), np.shape(alpha))
    folded, free = np.abs(rng.standard_normal(size)), rng.standard_normal(size)
    return xi + omega * (alpha * folded + free) / np.hypot(1.0, alpha)


SKEW_NORMAL = continuous(
    name="skew_normal",
    meaning="skew normal with location xi, scale omega and shape alpha",
    args=(("y", "real"), ("xi", "real"), ("omega", "positive"), ("alpha", "real")),
    log_density=log_density,
    cdfs=location_scale(standard_cdf, standard_lcdf, lambda xp, z, alpha: standard_lcdf(xp, -z, -alpha)),
    rng=rng,
    constants=(
        ((), lambda xp: -HALF_LOG_TWO_PI),
        (("omega",), lambda xp, omega: -xp.np.log(omega)),
        (("y", "xi", "omega"), lambda xp, y, xi, omega: -0.5 * xp.np.square(xp.np.divide(y - xi, omega))),
    ),
    moments=Moments(
        "xi + omega * alpha * sqrt(2 / (pi() * (1 + alpha ^ 2)))",
        "omega ^ 2 * (1 - 2 * alpha ^ 2 / (pi() * (1 + alpha ^ 2)))",
    ),
)
