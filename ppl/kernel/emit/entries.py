"""Entries of arrays at every place along the axes of loops and draws, and where they are set.

Every function takes the namespace first; library.py binds it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, is_basic, is_traced, with_vjps
from ppl.stdlib.functions.complex_parts import to_complex


def cross_index(xp: Namespace, x: Array, *items: Any) -> tuple[Any, ...]:
    """Index arrays that pick every combination of `items`, as Stan does; a single int drops its axis."""
    return items if isinstance(x, list) else cross_indices(x.shape, 0, ((),) * len(items), items)


def index_of(
    xp: Namespace, x: Array, whole: int, axes: int, places: Sequence[Any], *items: Any
) -> tuple[Any, ...]:
    """The index of entries after the first `whole` axes of x: along so many axes, and then their own.

    Each item varies over the axes at its `places` among these.
    """
    return (slice(None),) * whole + cross_indices(np.shape(x)[whole:], axes, places, items)


def cross_indices(
    shape: Sequence[int], axes: int, places: Sequence[Sequence[int]], items: Sequence[Any]
) -> tuple[Any, ...]:
    """Index arrays shaped to broadcast: these axes first, then one for each index that keeps its own."""
    whole = [np.arange(shape[k])[i] if isinstance(i, slice) else i for k, i in enumerate(items)]
    own_axes = [np.ndim(i) - len(at) for at, i in zip(places, whole, strict=True)]
    seen, out = 0, []
    for i, at, own in zip(whole, places, own_axes, strict=True):
        sizes = [1] * (axes + sum(own_axes))
        for place, size in zip((*at, axes + seen)[: np.ndim(i)], np.shape(i), strict=True):
            sizes[place] = size
        out.append(np.reshape(i, sizes) if np.ndim(i) else i)
        seen += own
    return tuple(out)


def pick(xp: Namespace, x: Array, index: tuple[Any, ...]) -> Array:
    """x[index] of each draw; on a tape the adjoint of a single entry is sparse, as x[index] has it."""
    if xp is NUMPY and type(x) is np.ndarray:  # what the rate of a differential equation mostly does
        return _entry(x, index)
    return x[index] if is_traced(x) and is_basic(index) else picked(xp, x, index)


def _put_back(xp: Namespace, g: Array, ans: Array, x: Array, index: Any) -> Array:
    return put_back(xp, g, index, np.shape(x))


@with_vjps(_put_back, None)
def picked(xp: Namespace, x: Array, index: Any) -> Array:
    """x[index] as one entry of the tape."""
    return _entry(x, index)


def _entry(x: Array, index: Any) -> Array:
    """x[index]; a number of each draw is a copy, as the number of one draw is."""
    match index:
        case (slice(start=None, stop=None, step=None), np.ndarray() as at) if isinstance(x, np.ndarray):
            return np.take(x, at, axis=1)  # in the order of memory that sums and products are fast in
    entry = x[index]
    return entry.copy() if np.ndim(entry) == 1 else entry


@with_vjps(lambda xp, g, ans, entry, index, shape: picked(xp, g, index), None, None)
def put_back(xp: Namespace, entry: Array, index: Any, shape: tuple[int, ...]) -> Array:
    """Zeros of the given shape with `entry` added at `index`: the transpose of `picked`."""
    if not isinstance(index, tuple) or is_basic(index):
        out = np.zeros(shape, np.result_type(entry))
        out[index] = entry
        return out
    if np.iscomplexobj(entry):
        parts = (put_back(xp, part, index, shape) for part in (entry.real, entry.imag))
        return to_complex(xp, *parts)
    draws, size = shape[0], int(np.prod(shape[1:]))
    place = np.arange(size).reshape(shape[1:])[index[1:]]  # each draw's entries go to places of its own
    places = np.add.outer(np.arange(draws) * size, place.ravel())
    added = np.bincount(places.ravel(), np.ravel(entry), draws * size)
    return added.astype(float, copy=False).reshape(shape)  # of no entries NumPy makes ints
