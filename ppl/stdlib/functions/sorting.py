"""Sorting and ranks.  Stan Functions Reference, "Sorting functions".  Equal elements keep their order."""

from ppl.arrays import Array, Namespace
from ppl.stdlib.functions.checks import require_index
from ppl.stdlib.functions.conversions import LISTS
from ppl.stdlib.record import Function, function, guarded


def _order(xp: Namespace, x: Array, sign: int) -> Array:
    """The places of the elements, ascending for the sign 1 and descending for -1."""
    return xp.np.argsort(sign * xp.plain(x), stable=True)


def _in_order(xp: Namespace, x: Array, sign: int) -> Array:
    """Any nan would be at the end; all become nan then, as in Stan nothing is sorted."""
    ordered = x[_order(xp, x, sign)]
    return guarded(xp, ordered[-1:] == ordered[-1:], ordered) if ordered.dtype.kind == "f" else ordered


def rank(xp: Namespace, x: Array, s: int) -> Array:
    require_index("rank", s, len(x))
    values = xp.plain(x)
    return xp.np.sum(values < values[s - 1])


def _sorted(direction: str, meaning: str, sign: int) -> tuple[Function, Function]:
    """sort_asc and sort_indices_asc, or those of the other direction."""
    elements = [(f"({kind}) => {kind}", lambda xp, x: _in_order(xp, x, sign)) for kind in LISTS]
    indices = [(f"({kind}) => array[] int", lambda xp, x: _order(xp, x, sign) + 1) for kind in LISTS]
    return (
        function(f"sort_{direction}", f"the elements {meaning}", *elements),
        function(f"sort_indices_{direction}", f"where the elements are, {meaning}", *indices),
    )


FUNCTIONS = (
    *_sorted("asc", "from least to greatest", 1),
    *_sorted("desc", "from greatest to least", -1),
    function(
        "rank", "how many elements are less than the s-th", *[(f"({k}, int) => int", rank) for k in LISTS]
    ),
)
