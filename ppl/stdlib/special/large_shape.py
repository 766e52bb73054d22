"""The regularised incomplete gamma functions of a large shape, by Temme's uniform expansion.

Series and continued fractions take several times sqrt(a) terms for x near a.  With mu = x / a - 1 and
eta^2 / 2 = mu - log(1 + mu), the expansion has two terms that matter: NIST Digital Library of Mathematical
Functions 8.12.3 to 8.12.11.
"""

import math

from ppl.arrays import Array, Namespace
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI, SQRT_TWO
from ppl.stdlib.special.polynomial import polynomial

LARGE_SHAPE = 1e5
"""From here on the third term is below rounding."""
NEAR = 0.1
"""Below this eta the coefficients are polynomials: in closed form they cancel."""
TEMME_FIRST = (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600)
"""Coefficients of eta^0, eta^1, ... in the first coefficient."""
TEMME_SECOND = (-1 / 540, -1 / 288)
"""Of the second."""
RATIO = (1.0, 1 / 3, 1 / 12, 1 / 60, 1 / 360, 1 / 2520)
"""Coefficients of t^0, t^1, ... in 2 (exp(t) - 1 - t) / t^2."""


def log_near_tail(xp: Namespace, a: Array, x: Array) -> tuple[Array, Array]:
    """log P where x < a, else log Q, and its derivative in a; for a > LARGE_SHAPE and x > 0."""
    root, t = xp.np.sqrt(a), _log_ratio(xp, x, a)
    side = xp.np.where(t < 0, -1.0, 1.0)
    stretch = xp.np.sqrt(_curvature_ratio(xp, t))
    eta = t * stretch
    z = xp.np.abs(eta) * root
    mills = math.sqrt(0.5 * math.pi) * xp.special.erfcx(z / SQRT_TWO)
    first, first_slope, second = _coefficients(xp, eta, t)
    total = root * mills + side * (first + second / a)
    value = -0.5 * z * z - HALF_LOG_TWO_PI - 0.5 * xp.np.log(a) + xp.np.log(total)
    there = xp.np.where(t == 0, 1.0, t)
    eta_slope = -xp.np.where(t == 0, 1.0, xp.np.expm1(there) / (there * stretch)) / a
    slope = 0.5 * mills / root + side * ((1.0 - z * mills) / stretch + first_slope * eta_slope)
    return value, t - 0.5 / a + slope / total


def _log_ratio(xp: Namespace, x: Array, a: Array) -> Array:
    """log(x / a), to the last digit for x near a."""
    near = 2.0 * xp.np.abs(x - a) < a
    return xp.np.where(near, xp.np.log1p(xp.np.where(near, x - a, 0.0) / a), xp.np.log(x) - xp.np.log(a))


def _curvature_ratio(xp: Namespace, t: Array) -> Array:
    """2 (exp(t) - 1 - t) / t^2, which is 1 at 0."""
    near = xp.np.abs(t) < 0.01
    away = xp.np.where(near, 1.0, t)
    series = polynomial(RATIO, xp.np.where(near, t, 0.0))
    return xp.np.where(near, series, 2.0 * (xp.np.expm1(away) - away) / away**2)


def _coefficients(xp: Namespace, eta: Array, t: Array) -> tuple[Array, Array, Array]:
    """The first coefficient, its derivative in eta, and the second."""
    near = xp.np.abs(eta) < NEAR
    small, away = xp.np.where(near, eta, 0.0), xp.np.where(near, 1.0, eta)
    mu = xp.np.where(near, 1.0, xp.np.expm1(t))
    closed = 1.0 / mu - 1.0 / away
    closed_slope = 1.0 / away**2 - away * (1.0 + mu) / mu**3
    closed_second = 1.0 / away**3 - 1.0 / mu**3 - 1.0 / mu**2 - 1.0 / (12.0 * mu)
    slopes = tuple(n * c for n, c in enumerate(TEMME_FIRST))[1:]
    return (
        xp.np.where(near, polynomial(TEMME_FIRST, small), closed),
        xp.np.where(near, polynomial(slopes, small), closed_slope),
        xp.np.where(near, polynomial(TEMME_SECOND, small), closed_second),
    )
