"""A continued fraction and the derivatives of its logarithm, by one forward pass."""

from collections.abc import Iterable
from typing import Any

import numpy as np

Term = tuple[Any, Any, Any, Any]
"""(a, da, b, db): one numerator and denominator, and their derivatives stacked on a leading axis."""

MOST_FRACTION_TERMS = 20_000
"""Terms after which a fraction that has not settled is left as it is."""
ROUNDING = 4.0 * np.finfo(float).eps
"""Relative; below this a step is its own rounding."""


def evaluate(b0: Any, db0: Any, terms: Iterable[Term]) -> tuple[Any, Any]:
    """f = b0 + a1 / (b1 + a2 / (b2 + ...)) and the derivatives of log f, stacked like `db0`.

    The modified Lentz algorithm (Thompson & Barnett 1986, J. Comput. Phys. 64:490), differentiated term by
    term.  Elementwise over arrays, which all run until the last one has converged.
    """
    f, slope = b0, db0 / b0
    c, dc = b0, db0
    d, dd = np.zeros_like(b0), np.zeros_like(db0)
    for a, da, b, db in terms:
        d_next = 1.0 / (b + a * d)
        dd = -(d_next**2) * (db + da * d + a * dd)
        dc = db + (da - a * dc / c) / c
        c, d = b + a / c, d_next
        ahead, back = dc / c, dd / d
        step = ahead + back
        f, slope = f * (c * d), slope + step
        scale = np.abs(slope) + np.abs(ahead) + np.abs(back)
        if not (np.any(np.abs(c * d - 1.0) > ROUNDING) or np.any(np.abs(step) > ROUNDING * scale)):
            break
    return f, slope
