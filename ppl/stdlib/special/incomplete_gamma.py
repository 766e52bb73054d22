"""The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P, with derivatives in the shape a.

SciPy gives the values.  Logs that underflow and every derivative in a come from the series of P (NIST
Digital Library of Mathematical Functions 8.7.1) where x < a + 1 and from the continued fraction of Q (8.9.2)
elsewhere, each differentiated term by term; of large shapes from an expansion (large_shape.py), as the values
do, since SciPy's lower tail stops after 2000 terms. Under JAX all values do (jax_backend/incomplete.py).
"""

import math
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, ScanState, no_derivative, with_partials, with_vjps
from ppl.late import special
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI, SQRT_TWO
from ppl.stdlib.special.continued_fraction import MOST_FRACTION_TERMS, ROUNDING, FractionTerm, evaluate
from ppl.stdlib.special.log_add import log1m_exp, log_probability
from ppl.stdlib.special.log_gamma_ratio import CUTOFF, stirling_remainder
from ppl.stdlib.special.polynomial import polynomial


def _log_peak(xp: Namespace, a: Array) -> Array:
    """a log a - a - lgamma(a), which grows only as log(a / (2 pi)) / 2."""
    small, large = xp.np.minimum(a, CUTOFF), xp.np.maximum(a, CUTOFF)
    direct = small * xp.np.log(small) - small - xp.special.gammaln(small)
    asymptotic = 0.5 * xp.np.log(large) - HALF_LOG_TWO_PI - stirling_remainder(xp, large)
    return xp.np.where(a < CUTOFF, direct, asymptotic)


def log_gamma_kernel(xp: Namespace, a: Array, log_x: Array) -> Array:
    """log(x^a exp(-x) / Gamma(a)), that is log of x times the gamma(a, 1) density.

    Written around its peak x = a as a (t - expm1(t)) + _log_peak(a) with t = log(x / a), because a log x and
    lgamma(a) are of the size of a log a while the result is not.
    """
    t = log_x - xp.np.log(a)
    return a * (t - xp.np.expm1(t)) + _log_peak(xp, a)


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


LEAST_GAMMA_SHARE = 1e-290
"""Below this SciPy's values lose digits, then underflow."""
HUGE = 1e200
"""Stands for infinity, so that no square overflows."""


def _series(xp: Namespace, a: Array, x: Array) -> tuple[Array, Array]:
    """log P and its derivative in a, for 0 < x < a + 1."""

    def add(m: int, term: Array, total: Array, d_log_term: Array, d_total: Array) -> tuple[ScanState, Array]:
        n = m + 1
        term = term * x / (a + n)
        d_log_term = d_log_term - 1.0 / (a + n)
        total, d_total = total + term, d_total + term * d_log_term
        unsettled = term * xp.np.maximum(1.0, -d_log_term) > ROUNDING * total
        return (term, total, d_log_term, d_total), unsettled

    one, zero = xp.np.ones_like(a), xp.np.zeros_like(a)
    _, total, _, d_total = xp.settle([add], (one, one, zero, zero), MOST_FRACTION_TERMS - 1)
    log_p = log_gamma_kernel(xp, a, xp.np.log(x)) - xp.np.log(a) + xp.np.log(total)
    return log_p, xp.np.log(x) - xp.special.digamma(a + 1.0) + d_total / total


def _fraction(xp: Namespace, a: Array, x: Array) -> tuple[Array, Array]:
    """log Q and its derivative in a, for x >= a + 1."""
    one = xp.np.ones_like(a)

    def term(m: int) -> FractionTerm:
        i = m + 1
        return -i * (i - a), i * one, x + 1.0 - a + 2 * i, -one

    f, slope = evaluate(xp, x + 1.0 - a, -one, [term], MOST_FRACTION_TERMS - 1)
    log_q = log_gamma_kernel(xp, a, xp.np.log(x)) - xp.np.log(f)
    return log_q, xp.np.log(x) - xp.special.digamma(a) - slope


def near_tail(xp: Namespace, a: Array, x: Array) -> tuple[Array, Array, Array]:
    """Whether x < a + 1, or a for a large a; log P where it is, else log Q; and its derivative in a.

    a and x have one shape.
    """
    large = a > LARGE_SHAPE
    below = x < xp.np.where(large, a, a + 1.0)
    by_series, by_fraction = below & ~large, ~below & ~large
    log_p, slope_p = _series(xp, xp.np.where(by_series, a, 1.0), xp.np.where(by_series, x, 1.0))
    log_q, slope_q = _fraction(xp, xp.np.where(by_fraction, a, 1.0), xp.np.where(by_fraction, x, 2.0))
    log_near, slope_near = log_near_tail(
        xp, xp.np.where(large, a, LARGE_SHAPE), xp.np.where(large, x, LARGE_SHAPE)
    )
    value, slope = xp.np.where(below, log_p, log_q), xp.np.where(below, slope_p, slope_q)
    return below, xp.np.where(large, log_near, value), xp.np.where(large, slope_near, slope)


def _log_tail(a: Any, x: Any, lower: bool) -> tuple[Any, Any]:
    """log P (or log Q) and its derivative in a, for positive a and x."""
    a, x = np.broadcast_arrays(np.asarray(a, float), np.minimum(x, HUGE))
    below, near, slope = near_tail(NUMPY, a, x)
    share = np.where(below, special.gammaincc(a, x), special.gammainc(a, x))
    far = np.where(a > LARGE_SHAPE, log1m_exp(NUMPY, near), np.log(share))
    direct = below == lower
    return np.where(direct, near, far), np.where(direct, slope, -slope * np.exp(near - far))


def _log_value(p: Any, q: Any, a: Any, x: Any, lower: bool) -> Any:
    value = log_probability(NUMPY, p, q)
    deep = ((p < LEAST_GAMMA_SHARE) | (a > LARGE_SHAPE)) & (a < np.inf) & (x > 0) & (x < np.inf)
    return np.where(deep, _log_tail(a, np.where(deep, x, 1.0), lower)[0], value) if np.any(deep) else value


def _share(share: Any, a: Any, x: Any, lower: bool) -> Any:
    """P (or Q), which SciPy knows as `share`."""
    large = (a > LARGE_SHAPE) & (a < np.inf) & (x > 0) & (x < np.inf)
    if not np.any(large):
        return share
    log_share = _log_tail(np.where(large, a, 1.0), np.where(large, x, 1.0), lower)[0]
    return np.where(large, np.exp(log_share), share)


@with_vjps(no_derivative, no_derivative)
def slope(xp: Namespace, a: Array, x: Array, lower: bool) -> Array:
    """d log P / da, or d log Q / da."""
    return _log_tail(a, x, lower)[1]


def log_density(xp: Namespace, a: Array, x: Array) -> Array:
    """log of dP/dx."""
    log_x = xp.np.log(x)
    return log_gamma_kernel(xp, a, log_x) - log_x


@with_partials(
    lambda xp, ans, a, x: ans * slope(xp, a, x, True),
    lambda xp, ans, a, x: xp.np.exp(log_density(xp, a, x)),
)
def lower(xp: Namespace, a: Array, x: Array) -> Array:
    """P(a, x) for a > 0, x >= 0."""
    return _share(xp.special.gammainc(a, x), a, x, True)


@with_partials(
    lambda xp, ans, a, x: ans * slope(xp, a, x, False),
    lambda xp, ans, a, x: -xp.np.exp(log_density(xp, a, x)),
)
def upper(xp: Namespace, a: Array, x: Array) -> Array:
    """Q(a, x) for a > 0, x >= 0."""
    return _share(xp.special.gammaincc(a, x), a, x, False)


@with_partials(
    lambda xp, ans, a, x: slope(xp, a, x, True),
    lambda xp, ans, a, x: xp.np.exp(log_density(xp, a, x) - ans),
)
def log_lower(xp: Namespace, a: Array, x: Array) -> Array:
    """log P(a, x), also where P underflows."""
    return _log_value(xp.special.gammainc(a, x), xp.special.gammaincc(a, x), a, x, True)


@with_partials(
    lambda xp, ans, a, x: slope(xp, a, x, False),
    lambda xp, ans, a, x: -xp.np.exp(log_density(xp, a, x) - ans),
)
def log_upper(xp: Namespace, a: Array, x: Array) -> Array:
    """log Q(a, x), also where Q underflows."""
    return _log_value(xp.special.gammaincc(a, x), xp.special.gammainc(a, x), a, x, False)


BELOW, ABOVE = (lower, log_lower, log_upper), (upper, log_upper, log_lower)
"""The share below x, its log and that of the rest; the same of the share above x."""
