"""Sorting and ranks.  Stan Functions Reference, "Sorting functions".  Equal elements keep their order."""

from ppl.arrays import Array, Namespace
from ppl.stdlib.functions.checks import require_index
from ppl.stdlib.record import Function, Impl, function, guarded

LISTS = ("vector", "row_vector", "array[] int", "array[] real")


def _ascending(xp: Namespace, x: Array) -> Array:
    return xp.np.argsort(xp.plain(x), stable=True)


def _descending(xp: Namespace, x: Array) -> Array:
    return xp.np.argsort(-xp.plain(x), stable=True)


def _in_order(xp: Namespace, x: Array, order: Array) -> Array:
    """x[order], which has any nan at its end; all become nan then, as in Stan nothing is sorted."""
    found = x[order]
    return guarded(xp, found[-1:] == found[-1:], found) if found.dtype.kind == "f" else found


def sort_asc(xp: Namespace, x: Array) -> Array:
    return _in_order(xp, x, _ascending(xp, x))


def sort_desc(xp: Namespace, x: Array) -> Array:
    return _in_order(xp, x, _descending(xp, x))


def sort_indices_asc(xp: Namespace, x: Array) -> Array:
    return _ascending(xp, x) + 1


def sort_indices_desc(xp: Namespace, x: Array) -> Array:
    return _descending(xp, x) + 1


def rank(xp: Namespace, x: Array, s: int) -> Array:
    require_index("rank", s, len(x))
    values = xp.plain(x)
    return xp.np.sum(values < values[s - 1])


def _sorted(name: str, meaning: str, impl: Impl) -> Function:
    return function(name, meaning, *[(f"({kind}) => {kind}", impl) for kind in LISTS])


def _indices(name: str, meaning: str, impl: Impl) -> Function:
    return function(name, meaning, *[(f"({kind}) => array[] int", impl) for kind in LISTS])


FUNCTIONS = (
    _sorted("sort_asc", "the elements from least to greatest", sort_asc),
    _sorted("sort_desc", "the elements from greatest to least", sort_desc),
    _indices("sort_indices_asc", "where the elements are, from least to greatest", sort_indices_asc),
    _indices("sort_indices_desc", "where the elements are, from greatest to least", sort_indices_desc),
    function(
        "rank", "how many elements are less than the s-th", *[(f"({k}, int) => int", rank) for k in LISTS]
    ),
)
