"""Containers made from a rule: repeated, evenly spaced, one-hot.

Stan Functions Reference, "Broadcast functions", "Functions that create containers" and "Special matrix
construction functions".  Sizes are never batched; a repeated value may be.
"""

import math

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.memory import require_room
from ppl.stdlib.functions import sizes
from ppl.stdlib.functions.checks import require, require_index, require_size
from ppl.stdlib.functions.sizes import MAX_DIMS
from ppl.stdlib.record import Function, Impl, function, leading


def _ones(name: str, *sizes: int) -> Array:
    for size in sizes:
        require_size(name, size)
    require_room(sizes, f"what `{name}` gives")
    return np.ones(sizes)


def rep_vector(xp: Namespace, x: Array, n: int) -> Array:
    return xp.np.expand_dims(x, -1) * _ones("rep_vector", n)


def rep_matrix(xp: Namespace, x: Array, rows: int, cols: int) -> Array:
    return xp.np.expand_dims(x, (-1, -2)) * _ones("rep_matrix", rows, cols)


def rep_rows(xp: Namespace, x: Array, rows: int) -> Array:
    return xp.np.expand_dims(x, -2) * _ones("rep_matrix", rows, 1)


def rep_array(xp: Namespace, x: Array, *sizes: int) -> Array:
    """Ints stay ints."""
    copies = _ones("rep_array", *sizes).astype(int)
    return np.reshape(copies, (*sizes, *[1] * np.ndim(x))) * x


def linspaced(xp: Namespace, n: int, lower: float, upper: float) -> Array:
    """n points from lower to upper; a single one is the upper end."""
    require_size("linspaced", n)
    ends = f"the ends are {lower} and {upper}"
    require(math.isfinite(lower) and math.isfinite(upper), "linspaced", f"{ends}, but must be finite")
    require(lower <= upper, "linspaced", f"{ends}, but the upper one must not be below the lower one")
    require_room((n,), "what `linspaced` gives")
    return np.linspace(lower, upper, n) if n != 1 else np.full(1, 1.0 * upper)


def linspaced_int_array(xp: Namespace, n: int, lower: int, upper: int) -> Array:
    """Whole steps from lower, or each int repeated equally often; the upper end is not always reached."""
    require_size("linspaced_int_array", n)
    require_room((n,), "what `linspaced_int_array` gives")
    require(lower <= upper, "linspaced_int_array", f"the upper end {upper} is below the lower end {lower}")
    span = upper - lower
    if n == 1:
        return np.array([upper])
    if span + 1 < n:
        return lower + np.arange(n) // ((n + span) // (span + 1))
    return lower + np.arange(n) * (span // max(n - 1, 1))


def one_hot(xp: Namespace, n: int, k: int) -> Array:
    require_index("one_hot", k, n)
    return 1.0 * (np.arange(1, n + 1) == k)


def identity_matrix(xp: Namespace, n: int) -> Array:
    require_size("identity_matrix", n)
    require_room((n, n), "what `identity_matrix` gives")
    return np.eye(n)


def uniform_simplex(xp: Namespace, n: int) -> Array:
    require(n >= 1, "uniform_simplex", f"a simplex has at least 1 element, not {n}")
    return np.full(n, 1.0 / n)


REALS = {"array": "array[] real", "vector": "vector", "row_vector": "row_vector"}


def _of_reals(name: str, meaning: str, args: str, impl: Impl) -> list[Function]:
    """name_array, name_vector and name_row_vector."""
    return [
        function(f"{name}_{suffix}", f"{meaning}, as {kind}", (f"({args}) => {kind}", impl))
        for suffix, kind in REALS.items()
    ]


def _of_ints_too(name: str, meaning: str, args: str, impl: Impl) -> list[Function]:
    """The same and name_int_array."""
    overload = f"({args}) => array[] int", lambda *given: impl(*given).astype(int)
    return [*_of_reals(name, meaning, args, impl), function(f"{name}_int_array", meaning, overload)]


FUNCTIONS = (
    leading("rep_vector", "n copies of x", ("(real, int) => vector", rep_vector)),
    leading("rep_row_vector", "n copies of x", ("(real, int) => row_vector", rep_vector)),
    leading(
        "rep_matrix",
        "a matrix of copies of x, which may be a real, a column or a row",
        ("(real, int, int) => matrix", rep_matrix),
        ("(vector, int) => matrix", lambda xp, x, cols: xp.np.expand_dims(x, -1) * _ones("rep_matrix", cols)),
        ("(row_vector, int) => matrix", rep_rows),
    ),
    function(
        "rep_array",
        "an array of copies of x",
        *[(f"(E{', int' * n}) => array[{',' * (n - 1)}] E", rep_array) for n in range(1, MAX_DIMS)],
    ),
    *_of_reals("linspaced", "n evenly spaced reals from lower to upper", "int, real, real", linspaced),
    function(
        "linspaced_int_array",
        "n evenly spaced ints from lower to at most upper",
        ("(int, int, int) => array[] int", linspaced_int_array),
    ),
    *_of_ints_too("one_hot", "n zeros with a one at k", "int, int", one_hot),
    *_of_ints_too("ones", "n ones", "int", lambda xp, n: _ones("ones", n)),
    *_of_ints_too("zeros", "n zeros", "int", lambda xp, n: 0.0 * _ones("zeros", n)),
    function("identity_matrix", "the n by n identity", ("(int) => matrix", identity_matrix)),
    function("uniform_simplex", "n equal shares of one", ("(int) => vector", uniform_simplex)),
)

TRANSPARENT = frozenset({rep_array, *(o.impl for f in sizes.FUNCTIONS for o in f.overloads)})
"""Functions of shapes alone, or made of operators: any value of the shape is accepted."""
