"""The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P, with derivatives in the shape a.

SciPy gives the values.  Logs that underflow and every derivative in a come from the series of P (NIST
Digital Library of Mathematical Functions 8.7.1) where x < a + 1 and from the continued fraction of Q (8.9.2)
elsewhere, each differentiated term by term.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.special
from autograd.extend import primitive

from ppl.arrays import NUMPY, Array, Namespace, with_partials
from ppl.stdlib.special.continued_fraction import MOST_FRACTION_TERMS, ROUNDING, Term, evaluate
from ppl.stdlib.special.gamma_kernel import log_gamma_kernel
from ppl.stdlib.special.log_probability import log_probability

LEAST_GAMMA_SHARE = 1e-290
"""Below this SciPy's values lose digits, then underflow."""
HUGE = 1e200
"""Stands for infinity, so that no square overflows."""


def _series(a: Any, x: Any) -> tuple[Any, Any]:
    """log P and its derivative in a, for 0 < x < a + 1."""
    term, total = np.ones_like(a), np.ones_like(a)
    d_log_term, d_total = np.zeros_like(a), np.zeros_like(a)
    for n in range(1, MOST_FRACTION_TERMS):
        term = term * x / (a + n)
        d_log_term = d_log_term - 1.0 / (a + n)
        total, d_total = total + term, d_total + term * d_log_term
        if not np.any(term * np.maximum(1.0, -d_log_term) > ROUNDING * total):
            break
    log_p = log_gamma_kernel(NUMPY, a, np.log(x)) - np.log(a) + np.log(total)
    return log_p, np.log(x) - scipy.special.digamma(a + 1.0) + d_total / total


def _fraction_terms(a: Any, x: Any) -> Iterator[Term]:
    for i in range(1, MOST_FRACTION_TERMS):
        yield -i * (i - a), np.full_like(a, i), x + 1.0 - a + 2 * i, -np.ones_like(a)


def _fraction(a: Any, x: Any) -> tuple[Any, Any]:
    """log Q and its derivative in a, for x >= a + 1."""
    f, slope = evaluate(x + 1.0 - a, -np.ones_like(a), _fraction_terms(a, x))
    log_q = log_gamma_kernel(NUMPY, a, np.log(x)) - np.log(f)
    return log_q, np.log(x) - scipy.special.digamma(a) - slope


def _log_tail(a: Any, x: Any, lower: bool) -> tuple[Any, Any]:
    """log P (or log Q) and its derivative in a, for positive a and x."""
    a, x = np.broadcast_arrays(np.asarray(a, float), np.minimum(x, HUGE))
    below = x < a + 1.0
    log_p, slope_p = _series(np.where(below, a, 1.0), np.where(below, x, 1.0))
    log_q, slope_q = _fraction(np.where(below, 1.0, a), np.where(below, 2.0, x))
    near, slope = np.where(below, log_p, log_q), np.where(below, slope_p, slope_q)
    far = np.log(np.where(below, scipy.special.gammaincc(a, x), scipy.special.gammainc(a, x)))
    direct = below == lower
    return np.where(direct, near, far), np.where(direct, slope, -slope * np.exp(near - far))


def _log_value(p: Any, q: Any, a: Any, x: Any, lower: bool) -> Any:
    value = log_probability(NUMPY, p, q)
    deep = (p < LEAST_GAMMA_SHARE) & (x > 0) & (x < np.inf)
    return np.where(deep, _log_tail(a, np.where(deep, x, 1.0), lower)[0], value) if np.any(deep) else value


@primitive  # type: ignore[untyped-decorator]
def slope(a: Any, x: Any, lower: bool) -> Any:
    """d log P / da, or d log Q / da."""
    return _log_tail(a, x, lower)[1]


def log_density(xp: Namespace, a: Array, x: Array) -> Array:
    """log of dP/dx."""
    log_x = xp.np.log(x)
    return log_gamma_kernel(xp, a, log_x) - log_x


@with_partials(
    lambda xp, ans, a, x: ans * slope(a, x, True),
    lambda xp, ans, a, x: xp.np.exp(log_density(xp, a, x)),
)
def lower(xp: Namespace, a: Array, x: Array) -> Array:
    """P(a, x) for a > 0, x >= 0."""
    return xp.special.gammainc(a, x)


@with_partials(
    lambda xp, ans, a, x: ans * slope(a, x, False),
    lambda xp, ans, a, x: -xp.np.exp(log_density(xp, a, x)),
)
def upper(xp: Namespace, a: Array, x: Array) -> Array:
    """Q(a, x) for a > 0, x >= 0."""
    return xp.special.gammaincc(a, x)


@with_partials(
    lambda xp, ans, a, x: slope(a, x, True),
    lambda xp, ans, a, x: xp.np.exp(log_density(xp, a, x) - ans),
)
def log_lower(xp: Namespace, a: Array, x: Array) -> Array:
    """log P(a, x), also where P underflows."""
    return _log_value(xp.special.gammainc(a, x), xp.special.gammaincc(a, x), a, x, True)


@with_partials(
    lambda xp, ans, a, x: slope(a, x, False),
    lambda xp, ans, a, x: -xp.np.exp(log_density(xp, a, x) - ans),
)
def log_upper(xp: Namespace, a: Array, x: Array) -> Array:
    """log Q(a, x), also where Q underflows."""
    return _log_value(xp.special.gammaincc(a, x), xp.special.gammainc(a, x), a, x, False)
