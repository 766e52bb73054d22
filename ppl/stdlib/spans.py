"""Sums, products and log-sum-exps over ranges of indices, one for each entry of a batch.

Ranges that all begin, or all end, at one index overlap: as the risk sets of Cox's partial likelihood, or the
sticks that are left.  Their reductions are running ones, of N log N numbers in place of N^2.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.records import dataclass
from ppl.stdlib.functions.log_sums import log_sum_exp, log_sum_exp_pair
from ppl.stdlib.functions.sums import cumulative_sum, product, total

MOST_AT_ONCE = 2**20
"""Elements that are reduced at once; more are cut into sets of ranges of about the same length."""
MOST_FILLED = 4
"""How many elements are reduced for each one that a range has; sets of ranges of like lengths need fewer."""
MOST_OVERLAP = 4
"""In how many ranges an element is, on average, from which running reductions cost less."""


@dataclass(frozen=True)
class Reduction:
    """A function of a list, all those of its first elements, and its value of an empty list."""

    of_list: Callable[[Namespace, Array], Array]
    running: Callable[[Namespace, Array], Array]
    unit: float


def running(of_pair: Callable[[Namespace, Array, Array], Array]) -> Callable[[Namespace, Array], Array]:
    """The running reductions along the last axis by a function of two parts.

    In log2(N) steps, each of which doubles how many elements an entry is of (Hillis and Steele 1986, "Data
    parallel algorithms").
    """

    def of_first(xp: Namespace, x: Array) -> Array:
        length = 1
        while length < np.shape(x)[-1]:
            longer = of_pair(xp, x[..., length:], x[..., :-length])
            x = xp.np.concatenate([x[..., :length], longer], axis=-1)
            length *= 2
        return x

    return of_first


def sums_of_spans(xp: Namespace, x: Array, lower: Array, upper: Array, *at: Array) -> Array:
    """sum(x[*at, lower:upper]) for every entry of a batch.

    Raises:
        IndexError: a range that has entries lies outside `x`, as for the functions below.
    """
    return of_spans(xp, Reduction(total, cumulative_sum, 0.0), x, lower, upper, *at)


def products_of_spans(xp: Namespace, x: Array, lower: Array, upper: Array, *at: Array) -> Array:
    """prod(x[*at, lower:upper]) for every entry of a batch."""
    return of_spans(xp, Reduction(product, running(lambda xp, x, y: x * y), 1.0), x, lower, upper, *at)


def log_sums_of_spans(xp: Namespace, x: Array, lower: Array, upper: Array, *at: Array) -> Array:
    """log_sum_exp(x[*at, lower:upper]) for every entry of a batch."""
    return of_spans(xp, Reduction(log_sum_exp, running(log_sum_exp_pair), -np.inf), x, lower, upper, *at)


def of_spans(xp: Namespace, reduction: Reduction, x: Array, lower: Array, upper: Array, *at: Array) -> Array:
    """The reduction of each range; a running one where all begin or end at one index, and overlap."""
    lower, upper = np.broadcast_arrays(lower, upper)
    refuse_outside(x, lower, upper)
    widths = np.maximum(upper - lower + 1, 0)
    rows = [i - 1 for i in at]
    if np.sum(widths) > MOST_OVERLAP * np.prod(np.shape(x)[-1 - len(at) :]):
        none = np.full((*np.shape(x)[:-1], 1), reduction.unit)
        for same, part in ((lower, x[..., lower[0] - 1 :]), (upper, x[..., : upper[0]][..., ::-1])):
            if np.all(same == same[0]):
                return xp.np.concatenate([none, reduction.running(xp, part)], axis=-1)[(..., *rows, widths)]
    return reduced(xp, reduction, x, lower, widths, rows)


def reduced(
    xp: Namespace, reduction: Reduction, x: Array, lower: Array, widths: Array, rows: Sequence[Array]
) -> Array:
    """The reduction of each range, which the unit fills up to the length of the longest."""
    whole = xp.np.concatenate([x, np.full((*np.shape(x)[:-1], 1), reduction.unit)], axis=-1)
    order, parts = alike(widths, np.shape(x)[0] if np.ndim(x) > 1 + len(rows) else 1)
    sums = []
    for part in parts:
        steps = np.arange(max(np.max(widths[part], initial=0), 1))
        places = np.where(steps < widths[part, None], lower[part, None] - 1 + steps, np.shape(x)[-1])
        each = (i[part, None] if isinstance(i, np.ndarray) else i for i in rows)
        sums.append(reduction.of_list(xp, whole[(..., *each, places)]))
    if order is None:
        return sums[0]
    return xp.np.concatenate(sums, axis=-1)[..., np.argsort(order)]


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
