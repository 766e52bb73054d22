"""Arrays of tuples: nested lists, since NumPy holds no tuples.  Indices are zero-based here."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ppl.arrays import Namespace


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
