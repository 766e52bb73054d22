"""Index sets, and values along the axis of a batch: the functions that a loop as arrays computes with.

A batch is an axis of its values, after `outer` others: that of many draws, or none.  Positions in it count
from 1, as all indices of the language.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, with_vjps
from ppl.memory import require_room
from ppl.stdlib.functions.complex_parts import to_complex


def loop_range(xp: Namespace, lower: int, upper: int) -> Array:
    """The values of a loop variable."""
    require_room((trips(xp, lower, upper),), "the index set of a loop")
    return np.arange(lower, upper + 1)


def trips(xp: Namespace, lower: int, upper: int) -> int:
    """How often a loop runs."""
    return max(upper - lower + 1, 0)


def unset_after(xp: Namespace, last: int, size: int) -> float:
    """The sum of the entries after the `last` that is set, of `size`: nan if there are any.

    Raises:
        IndexError: there is no entry `last`.
    """
    refuse_outside(np.arange(1, last + 1)[-1:], size)
    return math.nan if size > max(last, 0) else 0.0


def positions(xp: Namespace, batch: Array) -> Array:
    """1, 2, ... for the entries of a batch."""
    return np.arange(1, len(batch) + 1)


def batch_size(xp: Namespace, batch: Array) -> int:
    return len(batch)


def nested_positions(xp: Namespace, batch: Array, lower: Array, upper: Array, axis: int = 0) -> Array:
    """The outer position of every pair of an outer entry and an inner iteration; bounds may vary.

    Where they vary over several axes, of every entry of these, the position along one of them.
    """
    counts = np.maximum(np.broadcast_to(upper - lower + 1, np.shape(upper - lower) or (len(batch),)), 0)
    entries = np.repeat(np.arange(counts.size), counts.ravel())
    return np.unravel_index(entries, counts.shape)[axis] + 1


def nested_range(xp: Namespace, batch: Array, lower: Array, upper: Array) -> Array:
    """The inner loop variable of every such pair."""
    shape = np.shape(upper - lower) or (len(batch),)
    lowers = np.broadcast_to(lower, shape).ravel()
    counts = np.maximum(np.broadcast_to(upper, shape).ravel() - lowers + 1, 0)
    starts = np.cumsum(counts) - counts
    return np.arange(counts.sum()) - np.repeat(starts - lowers, counts)


def where_true(xp: Namespace, condition: Array, axis: int = 0) -> Array:
    """The positions along an axis at which a condition holds, in the order of all entries."""
    at = np.nonzero(xp.plain(condition))[axis]
    at += 1  # in place: nobody else has the array
    return at


def where_false(xp: Namespace, condition: Array, axis: int = 0) -> Array:
    return where_true(NUMPY, np.equal(xp.plain(condition), 0), axis)


def where_within(xp: Namespace, lower: Array, upper: Array, value: int, axis: int = 0) -> Array:
    """The positions along an axis of the bounds that a value lies in."""
    return np.nonzero((lower <= value) & (value <= upper))[axis] + 1


def where_equal(xp: Namespace, values: Array, value: int) -> Array:
    """The positions of a value."""
    return np.flatnonzero(values == value) + 1


def spans(xp: Namespace, lower: Array, upper: Array) -> Array:
    """lower, ..., upper for each entry of a batch, as rows (n, width); they are of one width."""
    lower, upper = np.broadcast_arrays(lower, upper)
    return lower[:, None] + np.arange(upper[0] - lower[0] + 1 if len(lower) else 0)


def groups_by_width(xp: Namespace, batch: Array, *bounds: Array) -> Array:
    """The number of the group of each entry: those of one group have ranges of one width, each of its own.

    `bounds` are the lower and the upper end of one range after the other.
    """
    widths = [np.maximum(upper - lower, -1) for lower, upper in zip(bounds[::2], bounds[1::2], strict=True)]
    rows = np.stack([np.broadcast_to(width, (len(batch),)) for width in widths], axis=1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1) + 1


MOST_ALONE = 32
"""Iterations of a loop over segments of which no two go together that are done one after the other."""


def pays_by_width(xp: Namespace, groups: Array) -> int:
    """Whether it pays to go by groups: a group takes twice the time of an iteration by itself, or less."""
    return int(len(groups) > MOST_ALONE or 2 * np.max(groups, initial=0) <= len(groups))


def are_of_like_length(xp: Namespace, lower: Array, upper: Array) -> int:
    """Whether loops take at least half as many steps in all as if each was as long as the longest."""
    steps = np.maximum(upper - lower + 1, 0)
    return int(2 * np.sum(steps) >= np.size(steps) * longest(xp, lower, upper))


def longest(xp: Namespace, lower: Array, upper: Array) -> int:
    """The number of steps of the longest of many loops, at least 0."""
    return int(np.max(upper - lower + 1, initial=0))


def are_disjoint(xp: Namespace, lower: Array, upper: Array) -> int:
    """Whether no two of the ranges have an entry in common."""
    lower, upper = np.broadcast_arrays(lower, upper)
    lower, upper = lower[upper >= lower], upper[upper >= lower]
    order = np.argsort(lower)
    return int(np.all(upper[order][:-1] < lower[order][1:]))


def earliest(xp: Namespace, lower: Array) -> int:
    """Where the first of many loops begins, none of which need be there."""
    return int(np.min(lower, initial=np.iinfo(np.int64).max))


def latest(xp: Namespace, upper: Array) -> int:
    """Where the last of many loops ends; before `earliest`, where there are none."""
    return int(np.max(upper, initial=np.iinfo(np.int64).min))


def both(xp: Namespace, a: Array, b: Array) -> Array:
    return 1 * (xp.np.not_equal(xp.plain(a), 0) & xp.np.not_equal(xp.plain(b), 0))


def either(xp: Namespace, a: Array, b: Array) -> Array:
    return 1 * (xp.np.not_equal(xp.plain(a), 0) | xp.np.not_equal(xp.plain(b), 0))


# --- Masks: in compiled code, where which entries go through a branch is not known ---------------


def holds(xp: Namespace, condition: Array) -> Array:
    """1 where a condition holds, else 0."""
    return 1 * xp.np.not_equal(xp.plain(condition), 0)


def fails(xp: Namespace, condition: Array) -> Array:
    return 1 * xp.np.equal(xp.plain(condition), 0)


def any_of(xp: Namespace, mask: Array) -> Array:
    """Whether an entry is taken."""
    return 1 * xp.np.any(mask)


def count_of(xp: Namespace, mask: Array) -> Array:
    """How many are taken."""
    return xp.np.sum(mask)


def masked_fill(xp: Namespace, values: Array, mask: Array) -> Array:
    """The values that are taken, each of the others replaced by the first of these, a constant.

    So what is computed of the others is harmless, and their adjoints end here.
    """
    first = xp.np.take(xp.plain(values), xp.np.argmax(mask), axis=0)
    return only(xp, values, _for_rows(xp, mask, values), first)


def as_first_taken(xp: Namespace, values: Array, mask: Array) -> Array:
    """The same, each of the others the first of these, which gets their adjoints: set at its place again."""
    is_first = xp.np.equal(np.arange(len(mask)), xp.np.argmax(mask))
    first = xp.np.sum(only(xp, values, _for_rows(xp, is_first, values)), axis=0)
    return only(xp, values, _for_rows(xp, mask, values), first)


def _for_rows(xp: Namespace, mask: Array, values: Array) -> Array:
    """A mask for the first axis of the values."""
    return xp.np.reshape(mask, (-1, *(1,) * (np.ndim(values) - 1)))


def only(xp: Namespace, values: Array, mask: Array, otherwise: Array = 0) -> Array:
    """The values that are taken, the others replaced."""
    return xp.np.where(xp.np.not_equal(mask, 0), values, otherwise)


def of_sizes(xp: Namespace, values: Array, *sizes: Array, outer: int = 0) -> Array:
    """The values of a batch, each of which must have the sizes that are declared for it.

    Raises:
        ValueError: one has others.
    """
    own = np.shape(values)[1 + outer :]
    for size, declared in zip(own, sizes, strict=True):
        wrong = np.flatnonzero(declared != size)
        if len(wrong):
            expected = ", ".join(str(each[wrong[0]]) for each in sizes)
            raise ValueError(
                f"The declared size is [{expected}], but the value has [{', '.join(map(str, own))}]."
            )
    return values


def spread(xp: Namespace, value: Any, batch: Array, outer: int = 0) -> Array:
    """The same value for every entry of a batch."""
    if xp is NUMPY and type(value) is float:
        return np.full(len(batch), value)
    shape = np.shape(value)
    one = xp.np.reshape(value, (*shape[:outer], 1, *shape[outer:]))
    if np.iscomplexobj(value):  # times 1 a part that is infinite or nan would spoil the other
        return xp.np.repeat(one, len(batch), axis=outer)
    return one * np.ones((len(batch), *(1,) * len(shape[outer:])))


def spread_ints(xp: Namespace, value: Any, batch: Array, outer: int = 0) -> Array:
    one = np.asarray(value)[(*(slice(None),) * outer, None)]
    return np.repeat(one, len(batch), axis=outer)


def in_one_axis(xp: Namespace, values: Array, count: int) -> Array:
    """The values along `count` axes as those along one, in the order of the axes."""
    lengths = np.shape(values)
    return xp.np.reshape(values, (math.prod(lengths[:count]), *lengths[count:]))


def in_axes(xp: Namespace, values: Array, *indices: Array) -> Array:
    """The values along one axis as those along the axes of several index sets."""
    return xp.np.reshape(values, (*map(len, indices), *np.shape(values)[1:]))


def sum_entries(xp: Namespace, values: Array, outer: int = 0) -> Array:
    """The sum over a batch."""
    return xp.np.sum(values, axis=outer)


@with_vjps(lambda xp, g, ans, values, whole, *positions: g[tuple(p - 1 for p in positions)])
def sum_at(xp: Namespace, values: Array, whole: Array, *positions: Array) -> Array:
    """Shaped as `whole`: at each place the sum of the values whose positions, one array an axis, are those.

    Where there are fewer positions than axes, values have the axes that are left. What JAX traces is not
    known here; the same program was run with the same data before.

    Raises:
        IndexError: a position lies outside `whole`.
    """
    return added_at(xp, values, whole, positions, 0)


def added_at(xp: Namespace, values: Array, whole: Array, positions: Sequence[Any], outer: int) -> Array:
    """The same, for every draw where `whole` and values have their axis, as positions may."""
    if np.iscomplexobj(values):
        parts = (
            added_at(xp, part, whole, positions, outer) for part in (xp.np.real(values), xp.np.imag(values))
        )
        return to_complex(xp, *parts)
    shape = np.shape(whole)[outer:]
    at, rest = np.zeros((1,) * (outer + 1), dtype=int), math.prod(shape[len(positions) :])
    for p, size in zip(positions, shape, strict=False):
        if isinstance(p, np.ndarray):
            refuse_outside(p, size)
        at = at * size + (p - 1)
    if outer:
        at = at + np.arange(len(whole))[:, None] * math.prod(shape[: len(positions)])
    places = (at[..., None] * rest + np.arange(rest)).reshape(-1)
    weights = xp.np.reshape(values, (-1,))
    sums = xp.np.bincount(places, weights=weights, minlength=math.prod(np.shape(whole)))
    sums = sums if sums.dtype == weights.dtype else sums.astype(weights.dtype)
    return xp.np.reshape(sums, np.shape(whole))


def refuse_outside(positions: Array, size: int) -> None:
    """IndexError, where a position is not one of 1 to `size`."""
    outside = (positions < 1) | (positions > size)
    if outside.any():
        wrong = positions[outside][0]
        raise IndexError(f"The index {wrong} is out of range: there are {size} entries.")


def before(xp: Namespace, start: Any, after: Array, outer: int = 0) -> Array:
    """The state before each step, from the state at the start and after each."""
    each = (slice(None),) * outer
    return xp.np.concatenate([xp.np.expand_dims(start, outer), after[(*each, slice(-1))]], axis=outer)


def last(xp: Namespace, after: Array, outer: int = 0) -> Array:
    """The state after the last step."""
    return after[(slice(None),) * outer + (-1,)]


WITH_OUTER = frozenset({spread, spread_ints, sum_entries, before, last, of_sizes})
"""The functions that take `outer`."""
