"""A continued fraction and the derivatives of its logarithm, by one forward pass."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ppl.arrays import Array, Namespace, ScanState

FractionTerm = tuple[Array, Array, Array, Array]
"""(a, da, b, db): one numerator and denominator, and their derivatives stacked on a leading axis."""

MOST_FRACTION_TERMS = 20_000
"""Terms after which a fraction that has not settled is left as it is."""
ROUNDING = 4.0 * np.finfo(float).eps
"""Relative; below this a step is its own rounding."""


def evaluate(
    xp: Namespace, b0: Array, db0: Array, terms: Sequence[Callable[[int], FractionTerm]], most: int
) -> tuple[Array, Array]:
    """f = b0 + a1 / (b1 + a2 / (b2 + ...)) and the derivatives of log f, stacked like `db0`.

    `terms` in turn give the next term, each from how often all have been asked.  The modified Lentz algorithm
    (Thompson & Barnett 1986, J. Comput. Phys. 64:490), differentiated term by term.  Elementwise over arrays,
    which all run until the last one has converged.
    """
    start = (b0, db0 / b0, b0, db0, xp.np.zeros_like(b0), xp.np.zeros_like(db0))
    state = xp.settle([partial(_lentz, xp, term) for term in terms], start, most)
    return state[0], state[1]


def _lentz(
    xp: Namespace, term: Callable[[int], FractionTerm], m: int, *state: Array
) -> tuple[ScanState, Array]:
    f, slope, c, dc, d, dd = state
    a, da, b, db = term(m)
    d_next = 1.0 / (b + a * d)
    back = -d_next * (db + da * d + a * dd)  # dd / d, of which dd may underflow
    dc = db + (da - a * dc / c) / c
    c, d, dd = b + a / c, d_next, back * d_next
    ahead = dc / c
    step = ahead + back
    f, slope = f * (c * d), slope + step
    scale = xp.np.abs(slope) + xp.np.abs(ahead) + xp.np.abs(back)
    unsettled = xp.np.any(xp.np.abs(c * d - 1.0) > ROUNDING) | xp.np.any(xp.np.abs(step) > ROUNDING * scale)
    return (f, slope, c, dc, d, dd), unsettled
