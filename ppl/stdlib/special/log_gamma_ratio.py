"""Ratios of gamma functions in logs, without the cancellation of large log-gammas.

Above CUTOFF the Stirling series takes over and its leading terms are subtracted by hand (Didonato & Morris
1992, ACM TOMS 18, "Significant digit computation of the incomplete beta function ratios", section 2).
"""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI
from ppl.stdlib.special.polynomial import polynomial

CUTOFF = 10.0
"""From here on seven terms of the Stirling series are exact to double precision."""


STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
"""Coefficients of x^-1, x^-3, ... in lgamma; Abramowitz & Stegun 6.1.42."""

DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)
"""Coefficients of x^-2, x^-4, ... in digamma; Abramowitz & Stegun 6.3.18."""


def stirling_remainder(xp: Namespace, x: Array) -> Array:
    """lgamma(x) less (x - 1/2) log x - x + log(2 pi) / 2, for x >= CUTOFF."""
    return polynomial(STIRLING, 1.0 / (x * x)) / x


def _digamma_remainder(xp: Namespace, x: Array) -> Array:
    """digamma(x) less log x - 1 / (2 x), for x >= CUTOFF."""
    inverse_square = 1.0 / (x * x)
    return polynomial(DIGAMMA, inverse_square) * inverse_square


def digamma_excess(xp: Namespace, a: Array, n: Array) -> Array:
    """digamma(a + n) - digamma(a) - log(1 + n / a); of order n / (2 a^2) for large a, and accurate there."""
    large, small = xp.np.maximum(a, CUTOFF), xp.np.minimum(a, CUTOFF)
    asymptotic = (
        0.5 * n / large / (large + n) + _digamma_remainder(xp, large + n) - _digamma_remainder(xp, large)
    )
    direct = xp.special.digamma(small + n) - xp.special.digamma(small) - log1p_ratio(xp, n, small)
    return xp.np.where(a < CUTOFF, direct, asymptotic)


def digamma_rise(xp: Namespace, a: Array, n: Array) -> Array:
    """digamma(a + n) - digamma(a)."""
    return digamma_excess(xp, a, n) + log1p_ratio(xp, n, a)


def log1p_ratio(xp: Namespace, x: Array, y: Array) -> Array:
    """log(1 + x / y)."""
    return xp.np.log1p(xp.np.divide(x, y))


@with_partials(lambda xp, ans, a, n: digamma_rise(xp, a, n), lambda xp, ans, a, n: xp.special.digamma(a + n))
def log_rise(xp: Namespace, a: Array, n: Array) -> Array:
    """lgamma(a + n) - lgamma(a): the log of the rising factorial, for a > 0 and n >= 0."""
    large, small = xp.np.maximum(a, CUTOFF), xp.np.minimum(a, CUTOFF)
    asymptotic = _log_rise_large(xp, large, n)
    direct = xp.special.gammaln(small + n) - xp.special.gammaln(small)
    return xp.np.where(a < CUTOFF, direct, asymptotic)


@with_partials(lambda xp, ans, a, b: -digamma_rise(xp, a, b), lambda xp, ans, a, b: -digamma_rise(xp, b, a))
def log_beta(xp: Namespace, a: Array, b: Array) -> Array:
    """The log of the beta function of a, b > 0."""
    x, y = xp.np.minimum(a, b), xp.np.maximum(a, b)
    small_x, large_x = xp.np.minimum(x, CUTOFF), xp.np.maximum(x, CUTOFF)
    small_y, large_y = xp.np.minimum(y, CUTOFF), xp.np.maximum(y, CUTOFF)
    lgamma = xp.special.gammaln
    return xp.np.where(
        y < CUTOFF,
        lgamma(small_x) + lgamma(small_y) - lgamma(small_x + small_y),
        xp.np.where(
            x < CUTOFF,
            lgamma(small_x) - _log_rise_large(xp, large_y, small_x),
            _log_beta_large(xp, large_x, large_y),
        ),
    )


def _log_rise_large(xp: Namespace, y: Array, x: Array) -> Array:
    """lgamma(x + y) - lgamma(y), for y >= CUTOFF and x >= 0."""
    total = x + y
    remainder = stirling_remainder(xp, total) - stirling_remainder(xp, y)
    return (0.5 - y) * xp.np.log1p(-x / total) + x * (xp.np.log(total) - 1.0) + remainder


def _log_beta_large(xp: Namespace, x: Array, y: Array) -> Array:
    """log B(x, y) for CUTOFF <= x <= y."""
    total = x + y
    remainder = stirling_remainder(xp, x) + stirling_remainder(xp, y) - stirling_remainder(xp, total)
    leading = (y - 0.5) * xp.np.log1p(-x / total) + x * xp.np.log(x / total)
    return leading - 0.5 * xp.np.log(x) + HALF_LOG_TWO_PI + remainder


def log_choose(xp: Namespace, n: Array, k: Array) -> Array:
    """The log of the binomial coefficient, for 0 <= k <= n."""
    return -xp.np.log1p(n) - log_beta(xp, n - k + 1.0, k + 1.0)
