"""Entries of arrays at every place along the axes of loops and draws, and where they are set.

Every function takes the namespace first; library.py binds it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, entry, is_basic, is_traced, with_vjps
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
    if axes == 1 and not any(own_axes):  # of that shape already, as in each step of a recurrence
        return tuple(whole)
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
        return _entry(x, index) if type(index[-1]) is not int else x[index].copy()
    return entry(x, index) if is_traced(x) and is_basic(index) else picked(xp, x, index)


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


# --- Arrays of tuples: nested lists, since NumPy holds no tuples ---------------------------------


def tuples(xp: Namespace, axes: int, outer: int, *items: Any) -> Any:
    """An array of tuples from one array an item, which of many draws has their axis first."""
    if not axes:
        return items
    size = next(len(i) if isinstance(i, list) else np.shape(i)[outer] for i in items)
    each = (slice(None),) * outer
    entries = [[i[k] if isinstance(i, list) else i[(*each, k)] for i in items] for k in range(size)]
    return [tuples(xp, axes - 1, outer, *entry) for entry in entries]


def items(xp: Namespace, x: Any, axes: int, k: int) -> Any:
    """Item k of every tuple in an array of them."""
    return [items(xp, entry, axes - 1, k) for entry in x] if axes else x[k]


def entries(xp: Namespace, x: Any, *where: Any) -> Any:
    """x[where], where a slice or an array of ints keeps its axis."""
    if not where:
        return x
    first, *rest = where
    if drops_axis(first):
        return entries(xp, x[first], *rest)
    return [entries(xp, x[k], *rest) for k in positions(x, first)]


def with_entries(xp: Namespace, x: list[Any], where: Sequence[Any], value: Any) -> list[Any]:
    """A copy of `x` in which x[where] is `value`."""
    first, *rest = where
    if drops_axis(first):
        changed = {range(len(x))[first]: value}
    else:
        changed = dict(zip(positions(x, first), value, strict=True))
    return [
        entry
        if k not in changed
        else with_entries(xp, entry, rest, changed[k])
        if rest
        else same_sizes(xp, entry, changed[k])
        for k, entry in enumerate(x)
    ]


def same_sizes(xp: Namespace, old: Any, x: Any) -> Any:
    """A tuple, or an array of them, in which all must have the sizes that they have in `old`.

    One of the two may have an axis of the draws before those of its own. The result of a function that was
    written in place of its call has no sizes before it is set.
    """
    if isinstance(x, list | tuple):
        if not isinstance(old, list | tuple):
            return x
        require_sizes((len(x),), (len(old),))
        for before, after in zip(old, x, strict=True):
            same_sizes(xp, before, after)
    elif axes := min(np.ndim(old), np.ndim(x)):
        require_sizes(np.shape(x)[-axes:], np.shape(old)[-axes:])
    return x


def require_sizes(actual: Sequence[int], expected: Sequence[int]) -> None:
    """Raise ValueError, in NumPy's words, unless two sizes are equal."""
    if actual != expected:
        raise ValueError(f"operands could not be broadcast together with shapes {actual} {expected}")


def drops_axis(index: Any) -> bool:
    return not isinstance(index, slice) and np.ndim(index) == 0


def positions(x: list[Any], index: Any) -> list[int]:
    return list(range(len(x))[index]) if isinstance(index, slice) else [int(k) for k in index]


def length(x: Any, axis: int) -> int:
    """The size of an axis of nested lists; of those inside an empty one, 0."""
    for _ in range(axis):
        x = x[0] if x else []
    return len(x)
