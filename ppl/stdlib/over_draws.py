"""Functions of many draws at once, beside those of batching.py: the axis of the draws stands first."""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib import batching


@with_vjps(lambda xp, g, ans, x, at, count: xp.np.reshape(g, np.shape(x)), None, None)
def spaced(xp: Namespace, x: Array, at: int, count: int) -> Array:
    """`count` axes of length one before axis `at`."""
    shape = np.shape(x)
    return xp.np.reshape(x, (*shape[:at], *(1,) * count, *shape[at:]))


def sum_from(xp: Namespace, values: Array, outer: int = 1) -> Array:
    """The sum over all axes but the first: for each draw, of all it has."""
    axes = tuple(range(outer, np.ndim(values)))
    return xp.np.sum(values, axis=axes) if axes else values


def _sum_at_adjoint(xp: Namespace, g: Array, ans: Array, values: Array, whole: Array, *positions: Any) -> Any:
    return g[(np.arange(len(g))[:, None], *(p - 1 for p in positions))]


@with_vjps(_sum_at_adjoint)
def sum_at(xp: Namespace, values: Array, whole: Array, *positions: Any) -> Array:
    """As batching.sum_at, for each draw; `whole` has the axis of the draws too, and positions may have it."""
    return batching.added_at(xp, values, whole, positions, 1)


def rep_array(xp: Namespace, value: Array, *sizes: int) -> Array:
    """The value of each draw at every place of an array."""
    draws, *shape = np.shape(value)
    return xp.np.broadcast_to(spaced(xp, value, 1, len(sizes)), (draws, *sizes, *shape))


def for_all(xp: Namespace, value: Array, draw: Array) -> Array:
    """The value of every draw, which may be one number for all."""
    return value if np.ndim(value) else value * np.ones(len(draw))


def chosen(xp: Namespace, condition: Array, then: Array, otherwise: Array) -> Array:
    """For each draw the one value or the other, each of which may be a container."""
    holds = np.not_equal(xp.plain(condition), 0)
    return xp.np.where(spaced(xp, holds, 1, np.ndim(then) - 1), then, otherwise)


def absent(xp: Namespace) -> None:
    """The value of a choice before one of its sides sets it: none, of any size."""


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
