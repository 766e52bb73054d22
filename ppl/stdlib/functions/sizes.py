"""Sizes of containers.

Stan Functions Reference, "Array size and dimension function" and "Integer-valued matrix size functions".
"""

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.record import function

MAX_DIMS = 9
"""Array axes that functions of any array take: none of Stan's own programs has more."""


def length(xp: Namespace, x: Array) -> int:
    return len(x)


def count(xp: Namespace, x: Array) -> int:
    return int(np.prod(np.shape(x)))


def _one(xp: Namespace, x: Array) -> int:
    return 1


def rows(xp: Namespace, x: Array) -> int:
    return int(np.shape(x)[-2])


def cols(xp: Namespace, x: Array) -> int:
    return int(np.shape(x)[-1])


def _dims_of_vectors(xp: Namespace, x: Array) -> Array:
    """A vector has one column, and Stan counts it."""
    return np.array((*np.shape(x), 1), dtype=int)


def _dims_of_row_vectors(xp: Namespace, x: Array) -> Array:
    *leading, length = np.shape(x)
    return np.array((*leading, 1, length), dtype=int)


def nested(kind: str, most: int = MAX_DIMS) -> list[str]:
    """The type under any number of array axes, none first."""
    return [kind, *(f"array[{',' * n}] {kind}" for n in range(most))]


FUNCTIONS = (
    function(
        "size",
        "the number of elements; of an array, of its first dimension",
        ("(vector) => int", length),
        ("(row_vector) => int", length),
        ("(matrix) => int", count),
        ("(array[..] E) => int", length),
        ("(real) => int", _one),
    ),
    function(
        "num_elements",
        "the number of scalars in a container",
        *[(f"({kind}) => int", count) for kind in ("vector", "row_vector", "matrix", "array[..] E")],
    ),
    function(
        "rows",
        "the number of rows",
        ("(vector) => int", length),
        ("(row_vector) => int", _one),
        ("(matrix) => int", rows),
    ),
    function(
        "cols",
        "the number of columns",
        ("(vector) => int", _one),
        ("(row_vector) => int", length),
        ("(matrix) => int", cols),
    ),
    function(
        "dims",
        "the sizes of all dimensions, array dimensions first",
        *[(f"({kind}) => array[] int", _dims_of_vectors) for kind in nested("vector")],
        *[(f"({kind}) => array[] int", _dims_of_row_vectors) for kind in nested("row_vector")],
        ("(E) => array[] int", lambda xp, x: np.array(np.shape(x), dtype=int)),
    ),
)
