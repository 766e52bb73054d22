"""What a loop that became arrays computes with, for many draws at once: the axis of the draws stands first.

Each function is one of batching.py with that axis before those of the loops; arguments from a number on, as
`SHARED` has it, are the same for all draws.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, stack, with_vjps
from ppl.stdlib import batching
from ppl.stdlib.functions import fills
from ppl.stdlib.functions.complex_parts import to_complex
from ppl.stdlib.spans import SPANS

Function = Callable[..., Any]


@with_vjps(lambda xp, g, ans, x, at, count: xp.np.reshape(g, np.shape(x)), None, None)
def spaced(xp: Namespace, x: Array, at: int, count: int) -> Array:
    """`count` axes of length one before axis `at`."""
    shape = np.shape(x)
    return xp.np.reshape(x, (*shape[:at], *(1,) * count, *shape[at:]))


def sum_own(xp: Namespace, values: Array) -> Array:
    """For each draw the sum of all it has."""
    return xp.np.sum(values, axis=tuple(range(1, np.ndim(values))))


def spread(xp: Namespace, value: Array, batch: Array) -> Array:
    return spaced(xp, value, 1, 1) * np.ones((len(batch), *(1,) * (np.ndim(value) - 1)))


def spread_ints(xp: Namespace, value: Array, batch: Array) -> Array:
    return np.repeat(value[:, None], len(batch), axis=1)


def bundle(xp: Namespace, *items: Array) -> Array:
    """An array, row vector or matrix literal of every draw."""
    return stack(1, *items)


def bundle_entries(xp: Namespace, *items: Array) -> Array:
    return stack(2, *items)


def sum_entries(xp: Namespace, values: Array) -> Array:
    return xp.np.sum(values, axis=1)


def _sum_at_adjoint(xp: Namespace, g: Array, ans: Array, values: Array, whole: Array, *positions: Any) -> Any:
    return g[(np.arange(len(g))[:, None], *(p - 1 for p in positions))]


@with_vjps(_sum_at_adjoint)
def sum_at(xp: Namespace, values: Array, whole: Array, *positions: Array) -> Array:
    """As batching.sum_at, for each draw; `whole` has the axis of the draws too, and positions may have it."""
    if np.iscomplexobj(values):
        parts = (sum_at(xp, part, whole, *positions) for part in (values.real, values.imag))
        return to_complex(xp, *parts)
    draws, *shape = np.shape(whole)
    at, rest = np.zeros((1, 1), dtype=int), math.prod(shape[len(positions) :])
    for p, size in zip(positions, shape, strict=False):
        batching.refuse_outside(p, size)
        at = at * size + (p - 1)
    at = at + np.arange(draws)[:, None] * math.prod(shape[: len(positions)])
    places = (at[..., None] * rest + np.arange(rest)).ravel()
    added = np.bincount(places, np.ravel(values), math.prod(np.shape(whole)))
    return added.astype(float, copy=False).reshape(np.shape(whole))


def rectangle(xp: Namespace, values: Array, rows: int, columns: int) -> Array:
    return xp.np.reshape(values, (-1, rows, columns))


def row_by_row(xp: Namespace, values: Array) -> Array:
    return xp.np.reshape(values, (len(values), -1, *np.shape(values)[3:]))


def tile(xp: Namespace, values: Array, batch: Array) -> Array:
    draws, *shape = np.shape(values)
    whole = xp.np.broadcast_to(spaced(xp, values, 1, 1), (draws, len(batch), *shape))
    return row_by_row(xp, whole)


def sum_across(xp: Namespace, values: Array) -> Array:
    return xp.np.sum(values, axis=2)


def before(xp: Namespace, start: Array, after: Array) -> Array:
    return xp.np.concatenate([spaced(xp, start, 1, 1), after[:, :-1]], axis=1)


def last(xp: Namespace, after: Array) -> Array:
    return after[:, -1]


def rep_array(xp: Namespace, value: Array, *sizes: int) -> Array:
    """The value of each draw at every place of an array."""
    draws, *shape = np.shape(value)
    return xp.np.broadcast_to(spaced(xp, value, 1, len(sizes)), (draws, *sizes, *shape))


def of_sizes(xp: Namespace, values: Array, *sizes: Array) -> Array:
    batching.of_sizes(xp, values[0], *sizes)
    return values


def where_true(xp: Namespace, condition: Array) -> Array:
    """Where a condition holds in a loop, of each draw one after the other: positions in the loop."""
    return np.nonzero(xp.plain(condition))[1] + 1


def where_false(xp: Namespace, condition: Array) -> Array:
    return np.nonzero(np.equal(xp.plain(condition), 0))[1] + 1


def whose_true(xp: Namespace, condition: Array) -> Array:
    """The draws that the positions of `where_true` are of."""
    return np.nonzero(xp.plain(condition))[0] + 1


def whose_false(xp: Namespace, condition: Array) -> Array:
    return np.nonzero(np.equal(xp.plain(condition), 0))[0] + 1


def loop_range(xp: Namespace, lower: Array, upper: Array) -> Array:
    """The values of a loop variable whose bounds differ by draw, of each draw one after the other."""
    return batching.nested_range(xp, lower, lower, upper)


def whose_range(xp: Namespace, lower: Array, upper: Array) -> Array:
    """The draws that the values of `loop_range` are of."""
    return batching.nested_positions(xp, lower, lower, upper)


def among(xp: Namespace, whose: Array, at: Array) -> Array:
    """The positions of the entries that belong to the draws at some positions, which are in order."""
    return np.flatnonzero(np.isin(whose, at)) + 1


def numbered(xp: Namespace, whose: Array, at: Array) -> Array:
    """The draws at some positions that these entries belong to, by their places among them."""
    return np.searchsorted(at, whose) + 1


def counts(xp: Namespace, whose: Array, draw: Array) -> Array:
    """How many entries each draw has."""
    return np.bincount(whose - 1, minlength=len(draw))


@with_vjps(lambda xp, g, ans, values, whose, draw: g[whose - 1], None, None)
def sum_by_draw(xp: Namespace, values: Array, whose: Array, draw: Array) -> Array:
    """For each draw the sum of the entries that are its."""
    if np.iscomplexobj(values):
        return to_complex(xp, *(sum_by_draw(xp, part, whose, draw) for part in (values.real, values.imag)))
    if np.ndim(values) == 1:
        return np.bincount(whose - 1, values, len(draw)).astype(float, copy=False)
    sums = np.zeros((len(draw), *np.shape(values)[1:]))
    np.add.at(sums, whose - 1, values)
    return sums


@with_vjps(lambda xp, g, ans, values, at, draw: g[at - 1], None, None)
def of_some(xp: Namespace, values: Array, at: Array, draw: Array) -> Array:
    """The values of the draws at some positions, 0 for the others."""
    out = np.zeros(len(draw))
    out[at - 1] = values
    return out


def for_all(xp: Namespace, value: Array, draw: Array) -> Array:
    """The value of every draw, which may be one number for all."""
    return value if np.ndim(value) else value * np.ones(len(draw))


def chosen(xp: Namespace, condition: Array, then: Array, otherwise: Array) -> Array:
    """For each draw the one value or the other, each of which may be a container."""
    holds = np.not_equal(xp.plain(condition), 0)
    return xp.np.where(spaced(xp, holds, 1, np.ndim(then) - 1), then, otherwise)


def absent(xp: Namespace) -> None:
    """The value of a side of a choice that no draw takes."""


def merged(xp: Namespace, test: Array, then: Array | None, otherwise: Array | None) -> Array:
    """For each draw the value of the side that it takes, which has those of its own draws alone.

    Raises:
        ValueError: the sides differ in size.
    """
    if then is None or otherwise is None:
        return otherwise if then is None else then
    taken = np.not_equal(xp.plain(test), 0)
    order = np.argsort(np.concatenate([np.flatnonzero(taken), np.flatnonzero(~taken)]))
    return xp.np.concatenate([then, otherwise])[order]


def spread_all(xp: Namespace, value: Any, draw: Array) -> Any:
    """A tuple or an array of tuples, each of whose parts every draw shares, for each of them."""
    if isinstance(value, list | tuple):
        return type(value)(spread_all(xp, item, draw) for item in value)
    whole = batching.spread_ints if xp.plain(np.asarray(value)).dtype.kind == "i" else batching.spread
    return whole(xp, value, draw)


def joined(xp: Namespace, values: Array) -> Array:
    """The vectors of a batch one after the other, for each draw."""
    return xp.np.reshape(values, (np.shape(values)[0], -1))


def repeat(xp: Namespace, values: Any, batch: Array) -> Any:
    """The value of each draw once for each entry of a batch, (draws * entries, *shape)."""
    if isinstance(values, list | tuple):
        return type(values)(repeat(xp, item, batch) for item in values)
    return batching.row_by_row(xp, spread(xp, values, batch))


def by_draw(xp: Namespace, values: Array, draw: Array) -> Array:
    """(draws * entries, *shape) as (draws, entries, *shape)."""
    return xp.np.reshape(values, (len(draw), -1, *np.shape(values)[1:]))


OF_BATCHES: Mapping[Function, Function] = {
    batching.spread: spread,
    batching.spread_ints: spread_ints,
    batching.bundle: bundle_entries,
    batching.sum_entries: sum_entries,
    batching.sum_at: sum_at,
    batching.rectangle: rectangle,
    batching.row_by_row: row_by_row,
    batching.tile: tile,
    batching.sum_across: sum_across,
    batching.before: before,
    batching.last: last,
    batching.of_sizes: of_sizes,
    fills.rep_array: rep_array,
    **{impl: impl for impl in SPANS},
}
SHARED: Mapping[Function, int] = {
    spread: 1,
    spread_ints: 1,
    sum_at: 2,
    rectangle: 1,
    tile: 1,
    of_sizes: 1,
    rep_array: 1,
    **dict.fromkeys(SPANS, 1),
}
"""From which argument on all draws share them."""
