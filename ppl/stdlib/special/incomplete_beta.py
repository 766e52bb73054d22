"""The regularised incomplete beta function I(a, b, x), with derivatives in the shapes a and b.

SciPy gives the values.  Logs that underflow and the derivatives in a and b come from the continued fraction
of NIST Digital Library of Mathematical Functions 8.17.22, differentiated term by term as in Boik &
Robison-Cox (1998, J. Stat. Software 3:1); where it converges slowly, I(a, b, x) = 1 - I(b, a, 1 - x).  Under
JAX the values come from there too (jax_backend/incomplete.py).

Every function takes y = 1 - x beside x, because one of the two is exact where the other has lost its digits.
Derivatives are taken along x; y is held to be determined by it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, no_derivative, with_partials, with_vjps
from ppl.late import special
from ppl.stdlib.special import incomplete_gamma
from ppl.stdlib.special.continued_fraction import MOST_FRACTION_TERMS, FractionTerm, evaluate
from ppl.stdlib.special.log_add import log_probability
from ppl.stdlib.special.log_gamma_ratio import log_beta

LEAST_BETA_SHARE = 1e-290
"""Below this SciPy's values lose digits, then underflow."""
GAMMA_ERROR = 1e-14
"""The cube of the smaller shape, 1 at least, over the square of the larger one, below which I is an
incomplete gamma function: about its relative error.
"""
GAMMA_NEAR = 1e-6
"""How far the log of x may be from 0 where the factor beside that is still one."""


def _odd(xp: Namespace, a: Array, b: Array, x: Array, m: int) -> FractionTerm:
    p = a + 2 * m
    odd = -(a + m) * (a + b + m) * x / (p * (p + 1.0))
    odd_a = odd * (1.0 / (a + m) + 1.0 / (a + b + m) - 1.0 / p - 1.0 / (p + 1.0))
    slopes = xp.np.stack([odd_a, -(a + m) * x / (p * (p + 1.0))])
    return odd, slopes, xp.np.ones_like(x), xp.np.zeros_like(slopes)


def _even(xp: Namespace, a: Array, b: Array, x: Array, m: int) -> FractionTerm:
    p = a + 2 * m
    per_b = (m + 1) * x / ((p + 1.0) * (p + 2.0))
    even = (b - m - 1) * per_b
    slopes = xp.np.stack([-even * (1.0 / (p + 1.0) + 1.0 / (p + 2.0)), per_b])
    return even, slopes, xp.np.ones_like(x), xp.np.zeros_like(slopes)


def _fraction(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """log I and its derivatives in (a, b), for x < (a + 1) / (a + b + 2)."""
    one, terms = xp.np.ones_like(x), [partial(term, xp, a, b, x) for term in (_odd, _even)]
    f, slopes = evaluate(xp, one, xp.np.zeros_like(xp.np.stack([one, one])), terms, 2 * MOST_FRACTION_TERMS)
    log_x, log_y, digamma = xp.np.log(x), xp.np.log(y), xp.special.digamma
    log_i = a * log_x + b * log_y - xp.np.log(a) - log_beta(xp, a, b) - xp.np.log(f)
    slope_a = log_x - 1.0 / a - digamma(a) + digamma(a + b) - slopes[0]
    return log_i, xp.np.stack([slope_a, log_y - digamma(b) + digamma(a + b) - slopes[1]])


def near_tail(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Whether x lies below the mean, about; log I where it does, else log(1 - I); its slopes in (a, b)."""
    direct = x * (a + b + 2.0) < a + 1.0
    near, slopes = _fraction(xp, *mirrored(xp, direct, a, b, x, y))
    return direct, near, xp.np.where(direct, slopes, slopes[::-1])


def mirrored(xp: Namespace, direct: Array, a: Array, b: Array, x: Array, y: Array) -> tuple[Array, ...]:
    """(b, a, y, x) where it is not `direct`."""
    return (
        xp.np.where(direct, a, b),
        xp.np.where(direct, b, a),
        xp.np.where(direct, x, y),
        xp.np.where(direct, y, x),
    )


def _doubles(*args: Any) -> Any:
    """The arguments as arrays of one shape."""
    return np.broadcast_arrays(*(np.asarray(each, float) for each in args))


def _log_tail(a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """log I and its derivatives in (a, b), for a, b > 0 and 0 < x < 1."""
    a, b, x, y = _doubles(a, b, x, y)
    small, large = np.minimum(a, b), np.maximum(a, b)
    by_gamma = np.maximum(small, 1.0) ** 1.5 < np.sqrt(GAMMA_ERROR) * large
    value, slopes = np.empty(a.shape), np.empty((2, *a.shape))
    for where, method in ((by_gamma, _as_gamma), (~by_gamma, _by_fraction)):
        if np.any(where):
            value[where], slopes[:, where] = method(a[where], b[where], x[where], y[where])
    return value[()], slopes


def _as_gamma(a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """The same where a shape is so large that the fraction would take its root as terms, or never settle.

    For a large a it is Q(b, w) with w = (a + (b - 1) / 2) t and t = -log x, the first term of Didonato and
    Morris (1992, ACM Trans. Math. Softw. 18:360, section 9), times (2 sinh(t / 2) / t)^(b - 1), which is not
    one where Q is next to nothing.
    """
    first = a >= b
    small, large = np.minimum(a, b), np.maximum(a, b)
    near, far = np.where(first, x, y), np.where(first, y, x)
    decay = -np.where(far < 0.5, np.log1p(-np.minimum(far, 0.5)), np.log(near))
    w = (large + (small - 1.0) / 2.0) * decay
    value = np.where(
        first, incomplete_gamma.log_upper(NUMPY, small, w), incomplete_gamma.log_lower(NUMPY, small, w)
    )
    by_w = np.where(first, -1.0, 1.0) * np.exp(incomplete_gamma.log_density(NUMPY, small, w) - value)
    by_shape = np.where(
        first, incomplete_gamma.slope(NUMPY, small, w, False), incomplete_gamma.slope(NUMPY, small, w, True)
    )
    by_large, by_small = by_w * decay, by_shape + by_w * decay / 2.0
    away = first & (decay > GAMMA_NEAR)
    stretch = np.where(away, np.log(np.where(away, far, 1.0) / decay) + decay / 2.0, 0.0)
    value, by_small = value + (small - 1.0) * stretch, by_small + stretch
    return value, np.stack([np.where(first, by_large, by_small), np.where(first, by_small, by_large)])


def _by_fraction(a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """The same by the continued fraction."""
    direct, near, slopes = near_tail(NUMPY, a, b, x, y)
    far = np.log(_value(a, b, x, y, where=~direct))
    return np.where(direct, near, far), np.where(direct, slopes, -slopes * np.exp(near - far))


def _value(a: Any, b: Any, x: Any, y: Any, where: Any = True) -> Any:
    """I(a, b, x) from whichever of x and y = 1 - x is the small one; 0.5 but `where` it is asked for."""
    shares, small = np.full(np.broadcast_shapes(*map(np.shape, (a, b, x, where))), 0.5), np.less(x, 0.5)
    special.betainc(a, b, x, out=shares, where=where & small)
    special.betaincc(b, a, y, out=shares, where=where & ~small)
    return shares[()]


@with_vjps(no_derivative, no_derivative, no_derivative, no_derivative)
def slope(xp: Namespace, a: Array, b: Array, x: Array, y: Array, k: int) -> Array:
    """d log I / da for k = 0, d log I / db for k = 1."""
    alone = np.equal((b, a)[k], 1.0)
    if not np.any(alone):
        return _log_tail(a, b, x, y)[1][k]
    a, b, x, y = _doubles(a, b, x, y)
    # x^a or 1 - y^b, as of a count of 0: no fraction, whose terms grow with the other.
    log_x, log_y = (np.where(v < 0.5, np.log(v), np.log1p(-w)) for v, w in ((x, y), (y, x)))
    own = log_x if k == 0 else np.where(log_y == 0.0, 1.0 / b, -log_y / np.expm1(-b * log_y))
    if np.all(alone):
        return own
    some = (np.where(alone, other, v) for v, other in ((a, 2.0), (b, 2.0), (x, 0.5), (y, 0.5)))
    return np.where(alone, own, _log_tail(*some)[1][k])


def log_density(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> Array:
    """log of dI/dx."""
    return (a - 1.0) * xp.np.log(x) + (b - 1.0) * xp.np.log(y) - log_beta(xp, a, b)


def _log_value(a: Any, b: Any, x: Any, y: Any) -> Any:
    p = _value(a, b, x, y)
    value = log_probability(NUMPY, p, _value(b, a, y, x, where=~np.less(p, 0.5)))
    deep = (p < LEAST_BETA_SHARE) & (x > 0) & (y > 0)
    if not np.any(deep):
        return value
    value = np.array(value)
    value[deep] = _log_tail(*(each[deep] for each in _doubles(a, b, x, y)))[0]
    return value[()]


@with_partials(
    lambda xp, ans, a, b, x, y: ans * slope(xp, a, b, x, y, 0),
    lambda xp, ans, a, b, x, y: ans * slope(xp, a, b, x, y, 1),
    lambda xp, ans, a, b, x, y: xp.np.exp(log_density(xp, a, b, x, y)),
    None,
)
def lower(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> Array:
    """I(a, b, x) for a, b > 0, 0 <= x <= 1 and y = 1 - x."""
    return _value(a, b, x, y)


@with_partials(
    lambda xp, ans, a, b, x, y: slope(xp, a, b, x, y, 0),
    lambda xp, ans, a, b, x, y: slope(xp, a, b, x, y, 1),
    lambda xp, ans, a, b, x, y: xp.np.exp(log_density(xp, a, b, x, y) - ans),
    None,
)
def log_lower(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> Array:
    """log I(a, b, x), also where it underflows."""
    return _log_value(a, b, x, y)


def upper(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> Array:
    """1 - I(a, b, x), whose derivative in x goes through y."""
    return lower(xp, b, a, y, x)


def log_upper(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> Array:
    """log(1 - I(a, b, x)), also where it underflows."""
    return log_lower(xp, b, a, y, x)


BELOW: tuple[Callable[..., Array], ...] = (lower, log_lower, log_upper)
ABOVE: tuple[Callable[..., Array], ...] = (upper, log_upper, log_lower)
"""The share below x, its log and that of the rest; the same of the share above x."""
