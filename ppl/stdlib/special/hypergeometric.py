"""The series of the generalised hypergeometric function and its derivatives in every parameter.

NIST Digital Library of Mathematical Functions (DLMF) 16.2.1, summed term by term: the ratio of two terms is
rational in the parameters, so their derivatives obey the same recurrence.
"""

from typing import Any

import numpy as np
from autograd.extend import primitive

from ppl.arrays import Array, Namespace, with_vjps

MOST_SERIES_TERMS = 100_000
"""Terms after which a series that has not settled is left as it is."""
LAST_TERM = 1e-17
"""Of the sum; a term below it is the last."""


def _leave_one_out(x: np.ndarray) -> np.ndarray:
    """The product of all entries but one, for each of them; right where one is zero."""
    return np.array([np.prod(np.delete(x, i)) for i in range(len(x))])


def _converges(a: np.ndarray, b: np.ndarray, z: float) -> bool:
    polynomial = bool(np.any((a <= 0) & (a == np.floor(a))))
    return polynomial or len(a) <= len(b) or (len(a) == len(b) + 1 and abs(z) < 1)


def sum_series(a: np.ndarray, b: np.ndarray, z: float) -> tuple[float, np.ndarray]:
    """pFq(a; b; z) and its derivatives in a, b and z, shape (p + q + 1,); nan where the series diverges."""
    p, q = len(a), len(b)
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b)) and _converges(a, b, z)):
        return np.nan, np.full(p + q + 1, np.nan)
    term, slope = 1.0, np.zeros(p + q + 1)
    total, slopes = term, slope
    for k in range(MOST_SERIES_TERMS):
        above, below = np.prod(a + k), np.prod(b + k) * (k + 1.0)
        by_parameter = np.concatenate(
            [z * _leave_one_out(a + k) / below, -z * above / below / (b + k), [above / below]]
        )
        slope = slope * (z * above / below) + term * by_parameter
        term = term * (z * above / below)
        total, slopes = total + term, slopes + slope
        if abs(term) <= LAST_TERM * abs(total) and np.all(np.abs(slope) <= LAST_TERM * np.abs(slopes)):
            return total, slopes
    return np.nan, np.full(p + q + 1, np.nan)


@primitive  # type: ignore[untyped-decorator]
def _slopes(a: Any, b: Any, z: Any) -> Any:
    return sum_series(np.asarray(a, float), np.asarray(b, float), float(z))[1]


@with_vjps(
    lambda xp, g, ans, a, b, z: g * _slopes(a, b, z)[: len(a)],
    lambda xp, g, ans, a, b, z: g * _slopes(a, b, z)[len(a) : -1],
    lambda xp, g, ans, a, b, z: g * _slopes(a, b, z)[-1],
)
def pfq(xp: Namespace, a: Array, b: Array, z: Array) -> Array:
    """The generalised hypergeometric function of the vectors a, b and the scalar z."""
    return sum_series(np.asarray(a, float), np.asarray(b, float), float(z))[0]
