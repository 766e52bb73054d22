"""Matrices made of diagonals and triangles.  Stan Functions Reference, "Diagonal matrix functions"."""

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.functions.checks import require
from ppl.stdlib.functions.products import transposed
from ppl.stdlib.record import leading


def diag_matrix(xp: Namespace, x: Array) -> Array:
    return xp.np.expand_dims(x, -1) * np.eye(x.shape[-1])


def add_diag(xp: Namespace, m: Array, x: Array) -> Array:
    """m plus the vector x on its diagonal, which is as long as the shorter side."""
    rows, cols = m.shape[-2:]
    short = min(rows, cols)
    require(x.shape[-1] == short, "add_diag", f"the diagonal has {short} elements, not {x.shape[-1]}")
    return m + xp.np.expand_dims(x, -1 if rows <= cols else -2) * np.eye(rows, cols)


def add_to_diag(xp: Namespace, m: Array, x: Array) -> Array:
    return m + xp.np.expand_dims(x, (-1, -2)) * np.eye(*m.shape[-2:])


def symmetrize_from_lower_tri(xp: Namespace, m: Array) -> Array:
    return xp.np.tril(m) + transposed(xp, xp.np.tril(m, -1))


FUNCTIONS = (
    leading("diag_matrix", "the matrix with this diagonal", ("(vector) => matrix", diag_matrix)),
    leading(
        "add_diag",
        "the matrix with a real or a vector added to its diagonal",
        ("(matrix, real) => matrix", add_to_diag),
        ("(matrix, vector) => matrix", add_diag),
        ("(matrix, row_vector) => matrix", add_diag),
    ),
    leading(
        "symmetrize_from_lower_tri",
        "the symmetric matrix with this lower triangle",
        ("(matrix) => matrix", symmetrize_from_lower_tri),
    ),
)
