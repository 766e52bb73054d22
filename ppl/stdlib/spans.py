"""Sums, products and log-sum-exps over ranges of indices, one for each entry of a batch."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.functions.log_sums import log_sum_exp
from ppl.stdlib.functions.sums import cumulative_sum, product, total

Reduction = Callable[[Namespace, Array], Array]

MOST_AT_ONCE = 2**20
"""Elements that are reduced at once; more are cut into sets of ranges of about the same length."""
MOST_FILLED = 4
"""How many elements are reduced for each one that a range has; sets of ranges of like lengths need fewer."""


def sums_of_spans(xp: Namespace, x: Array, lower: Array, upper: Array, *at: Array) -> Array:
    """sum(x[*at, lower:upper]) for every entry of a batch; in linear time where all have one end in common.

    Raises:
        IndexError: a range that has entries lies outside `x`, as for the functions below.
    """
    lower, upper = np.broadcast_arrays(lower, upper)
    if at or not (np.all(lower == lower[:1]) or np.all(upper == upper[:1])) or not lower.size:
        return reduced(xp, total, 0.0, x, lower, upper, *at)
    refuse_outside(x, lower, upper)
    widths = np.maximum(upper - lower + 1, 0)
    if np.all(lower == lower[0]):
        sums = cumulative_sum(xp, x[..., lower[0] - 1 :])
    else:
        sums = cumulative_sum(xp, x[..., : upper[0]][..., ::-1])
    none = np.zeros((*np.shape(x)[:-1], 1))
    return xp.np.concatenate([none, sums], axis=-1)[..., widths]


def products_of_spans(xp: Namespace, x: Array, lower: Array, upper: Array, *at: Array) -> Array:
    """prod(x[*at, lower:upper]) for every entry of a batch."""
    return reduced(xp, product, 1.0, x, *np.broadcast_arrays(lower, upper), *at)


def log_sums_of_spans(xp: Namespace, x: Array, lower: Array, upper: Array, *at: Array) -> Array:
    """log_sum_exp(x[*at, lower:upper]) for every entry of a batch."""
    return reduced(xp, log_sum_exp, -np.inf, x, *np.broadcast_arrays(lower, upper), *at)


SPANS = (sums_of_spans, products_of_spans, log_sums_of_spans)


def reduced(
    xp: Namespace, reduction: Reduction, unit: float, x: Array, lower: Array, upper: Array, *at: Array
) -> Array:
    """The reduction of each range, which `unit` fills up to the length of the longest."""
    refuse_outside(x, lower, upper)
    whole = xp.np.concatenate([x, np.full((*np.shape(x)[:-1], 1), unit)], axis=-1)
    widths = np.maximum(upper - lower + 1, 0)
    order, parts = alike(widths, np.shape(x)[0] if np.ndim(x) > 1 + len(at) else 1)
    found = []
    for part in parts:
        steps = np.arange(max(np.max(widths[part], initial=0), 1))
        places = np.where(steps < widths[part, None], lower[part, None] - 1 + steps, np.shape(x)[-1])
        rows = (i[part, None] - 1 if isinstance(i, np.ndarray) else i - 1 for i in at)
        found.append(reduction(xp, whole[(..., *rows, places)]))
    if order is None:
        return found[0]
    return xp.np.concatenate(found, axis=-1)[..., np.argsort(order)]


def alike(widths: Array, copies: int) -> tuple[Array | None, Sequence[Array | slice]]:
    """The entries of a batch in order of their widths, cut into sets of limited size; None for one set."""
    widths = np.maximum(widths, 1)
    whole = len(widths) * np.max(widths, initial=0)
    if whole * copies <= MOST_AT_ONCE and whole <= MOST_FILLED * np.sum(widths):
        return None, [slice(None)]
    order = np.argsort(widths, kind="stable")
    cuts, most = [0], MOST_AT_ONCE // copies
    while cuts[-1] < len(order):
        rest = widths[order[cuts[-1] :]]
        fits = (rest * np.arange(1, len(rest) + 1) <= most) & (rest <= MOST_FILLED * rest[0])
        cuts.append(cuts[-1] + max(1, int(np.argmin(np.append(fits, False)))))
    return order, [order[a:b] for a, b in pairwise(cuts)]


def refuse_outside(x: Array, lower: Array, upper: Array) -> None:
    """IndexError, where a range that has entries is not within the last axis of `x`."""
    size = np.shape(x)[-1]
    outside = (lower <= upper) & ((lower < 1) | (upper > size))
    if outside.any():
        wrong = np.flatnonzero(outside)[0]
        raise IndexError(f"The range {lower[wrong]}:{upper[wrong]} lies outside 1:{size}.")
