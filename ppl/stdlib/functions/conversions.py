"""Conversions between containers.

Stan Functions Reference, "Mixed operations" and "Array data type conversion".

Matrices are read and filled by columns, arrays by rows.  Every function gives a value of its own.
"""

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.functions.checks import require
from ppl.stdlib.functions.products import transposed
from ppl.stdlib.functions.sizes import nested
from ppl.stdlib.functions.sums import flat
from ppl.stdlib.reals import as_real
from ppl.stdlib.record import Function, elementwise, leading, overloads_of

LISTS = ("vector", "row_vector", "array[] int", "array[] real")


def same(xp: Namespace, x: Array) -> Array:
    """A copy, ints made real."""
    return xp.own(as_real(x))


def by_columns(xp: Namespace, x: Array) -> Array:
    return flat(xp, transposed(xp, same(xp, x)))


def fill(xp: Namespace, x: Array, rows: int, cols: int, by_column: int = 1) -> Array:
    """A rows by cols matrix of the elements of the list x."""
    size = x.shape[-1]
    require(
        rows * cols == size, "to_matrix", f"{rows} by {cols} elements were requested, but there are {size}"
    )
    if by_column:
        return transposed(xp, xp.np.reshape(same(xp, x), (*x.shape[:-1], cols, rows)))
    return xp.np.reshape(same(xp, x), (*x.shape[:-1], rows, cols))


def refill(xp: Namespace, x: Array, rows: int, cols: int, by_column: int = 1) -> Array:
    return fill(xp, by_columns(xp, x), rows, cols, by_column)


def ravel(xp: Namespace, x: Array) -> Array:
    """The elements of an array of any depth, the last index running fastest; ints stay ints."""
    return xp.own(xp.np.reshape(x, (-1,)))


def to_int(xp: Namespace, x: Array) -> Array:
    """Truncated toward zero; Stan's ints have 32 bits."""
    plain = xp.plain(x)
    require(bool(np.all(np.abs(plain) < 2.0**31)), "to_int", f"{plain} has no int from -2^31 to 2^31 - 1")
    return xp.np.trunc(plain).astype(int)


TO_MATRIX = leading(
    "to_matrix",
    "a matrix of the given elements, by columns unless the last argument is 0",
    ("(vector) => matrix", lambda xp, x: xp.np.expand_dims(same(xp, x), -1)),
    ("(row_vector) => matrix", lambda xp, x: xp.np.expand_dims(same(xp, x), -2)),
    *[
        (f"({kind}) => matrix", same)
        for kind in ("matrix", "array[] row_vector", "array[,] int", "array[,] real")
    ],
    *[
        (f"({kind}, {sizes}) => matrix", refill if kind == "matrix" else fill)
        for kind in ("matrix", *LISTS)
        for sizes in ("int, int", "int, int, int")
    ],
)

FUNCTIONS = (
    *[
        leading(
            f"to_{result}",
            f"the elements as a {result}, a matrix read by columns",
            *[(f"({kind}) => {result}", same) for kind in LISTS],
            (f"(matrix) => {result}", by_columns),
        )
        for result in ("vector", "row_vector")
    ],
    TO_MATRIX,
    Function(
        "to_array_1d",
        "the elements as an array; arrays are read by rows, a matrix by columns",
        overloads_of(
            "leading",
            *[(f"({kind}) => array[] real", same) for kind in ("vector", "row_vector")],
            ("(matrix) => array[] real", by_columns),
        )
        + overloads_of(
            "none", *[(f"({a}) => array[] {t}", ravel) for t in ("int", "real") for a in nested(t)[1:]]
        ),
    ),
    leading("to_array_2d", "a matrix as an array of rows", ("(matrix) => array[,] real", same)),
    elementwise(
        "to_int",
        "the real truncated toward zero, as an int",
        ("(real) => int", to_int),
        *[(f"({kind}) => {kind.replace('real', 'int')}", to_int) for kind in nested("real")[1:]],
    ),
)
