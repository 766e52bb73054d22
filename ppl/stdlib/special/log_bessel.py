"""The log of the modified Bessel function of the first kind, for any real order v >= 0.

SciPy's scaled function has it wherever that does not underflow; beyond, where the order is large, the uniform
expansion of the NIST Digital Library of Mathematical Functions (DLMF) 10.41.3 does.
"""

import math
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.late import special


@with_partials(
    lambda xp, ans, k: 1.0 - xp.np.where(k == 0.0, 0.5, ans / xp.np.where(k == 0.0, 1.0, k)) - ans * ans
)
def bessel_ratio(xp: Namespace, k: Array) -> Array:
    """I1(k) / I0(k), the mean of cos y under von_mises(0, k).  Amos (1974), Math. Comp. 28:239."""
    return xp.special.i1e(k) / xp.special.i0e(k)


@with_partials(lambda xp, ans, k: bessel_ratio(xp, k) - 1.0)
def log_scaled_i0(xp: Namespace, k: Array) -> Array:
    """log(exp(-k) I0(k)), which does not overflow."""
    return xp.np.log(xp.special.i0e(k))


LEAST_SCALED = 1e-280
"""Below this SciPy's scaled values lose digits, then underflow."""

DEBYE = (
    (0.0, 3 / 24, 0.0, -5 / 24),
    (0.0, 0.0, 81 / 1152, 0.0, -462 / 1152, 0.0, 385 / 1152),
    tuple(c / 414720 for c in (0, 0, 0, 30375, 0, -369603, 0, 765765, 0, -425425)),
    tuple(
        c / 39813120 for c in (0, 0, 0, 0, 4465125, 0, -94121676, 0, 349922430, 0, -446185740, 0, 185910725)
    ),
)
"""The polynomials U_1 to U_4 of DLMF 10.41.10, lowest power first."""

CENTRAL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
"""(offset, weight) of the antisymmetric difference of order 8: Fornberg (1988), Math. Comp. 51, table 1."""


def _large_order(v: Any, x: Any) -> Any:
    z = x / v
    root = np.sqrt(1.0 + z * z)
    p = 1.0 / root
    series = 1.0 + sum(np.polyval(u[::-1], p) / v**k for k, u in enumerate(DEBYE, start=1))
    exponent = root + np.log(z) - np.log1p(root)
    return v * exponent - 0.5 * np.log(2.0 * math.pi * v) - 0.5 * np.log(root) + np.log(series)


def _by_order(xp: Namespace, ans: Array, v: Array, x: Array) -> Array:
    """The derivative in the order has no closed form; the function is smooth on the scale of sqrt(1 + v)."""
    h = 0.02 * xp.np.sqrt(1.0 + v)
    return sum(w * (log_scaled(xp, v + i * h, x) - log_scaled(xp, v - i * h, x)) for i, w in CENTRAL) / h


def _by_argument(xp: Namespace, ans: Array, v: Array, x: Array) -> Array:
    """DLMF 10.29.2: I_v' = I_{v+1} + (v / x) I_v."""
    ratio = xp.np.where(v == 0, 0.0, v / xp.np.where(v == 0, 1.0, x))
    return xp.np.exp(log_scaled(xp, v + 1.0, x) - ans) + ratio - 1.0


@with_partials(_by_order, _by_argument)
def log_scaled(xp: Namespace, v: Array, x: Array) -> Array:
    """log I_v(x) - x, for v >= 0 and x >= 0."""
    scaled = special.ive(v, 1.0 * x)
    underflows = (scaled < LEAST_SCALED) & (x > 0)
    order, argument = np.where(underflows, v, 100.0), np.where(underflows, x, 1.0)
    return np.where(
        underflows, _large_order(order, argument) - argument, np.log(np.where(underflows, 1.0, scaled))
    )


def log_bessel_i(xp: Namespace, v: Array, x: Array) -> Array:
    """log I_v(x), for v >= 0 and x >= 0."""
    return log_scaled(xp, v, x) + x
