"""Compressed row storage.  Stan Functions Reference, "Sparse matrix operations".

w holds the values by rows, v the column of each (from 1) and u, one longer than there are rows, where each
row starts in w (from 1).
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions.checks import require
from ppl.stdlib.record import function


def _gather_adjoint(xp: Namespace, g: Array, ans: Array, x: Array, index: Array, size: int) -> Array:
    return scatter_add(xp, g, index, size)


@with_vjps(_gather_adjoint)
def gather(xp: Namespace, x: Array, index: Array, size: int) -> Array:
    """x[index], where x has `size` elements."""
    return x[index]


@with_vjps(lambda xp, g, ans, x, index, size: gather(xp, g, index, size))
def scatter_add(xp: Namespace, x: Array, index: Array, size: int) -> Array:
    """The sums of the x that share an index, for every index below `size`: the adjoint of gather."""
    return xp.np.bincount(index, weights=x, minlength=size)


def _places(m: int, n: int, w: Array, v: Array, u: Array) -> tuple[Array, Array]:
    """The row and column of every value, from 0."""
    v, u = np.asarray(v, dtype=int), np.asarray(u, dtype=int)
    require(m > 0 and n > 0, "csr", f"the matrix is {m} by {n}, but must have a row and a column")
    require(len(u) == m + 1, "csr", f"u has {len(u)} elements, but must have one more than the {m} rows")
    require(
        len(v) == len(w) == u[-1] - 1,
        "csr",
        "w, v and the last element of u disagree on the number of values",
    )
    require(u[0] == 1 and bool(np.all(np.diff(u) >= 0)), "csr", "u must begin with 1 and never fall")
    require(bool(np.all((v >= 1) & (v <= n))), "csr", f"v must hold columns from 1 to {n}")
    return np.repeat(np.arange(m), np.diff(u)), v - 1


def csr_matrix_times_vector(xp: Namespace, m: int, n: int, w: Array, v: Array, u: Array, b: Array) -> Array:
    rows, cols = _places(m, n, w, v, u)
    require(
        len(b) == n, "csr_matrix_times_vector", f"the vector has {len(b)} elements, the matrix {n} columns"
    )
    return scatter_add(xp, w * gather(xp, b, cols, n), rows, m)


def csr_to_dense_matrix(xp: Namespace, m: int, n: int, w: Array, v: Array, u: Array) -> Array:
    rows, cols = _places(m, n, w, v, u)
    return xp.np.reshape(scatter_add(xp, w, rows * n + cols, m * n), (m, n))


def csr_extract_w(xp: Namespace, a: Array) -> Array:
    return a[np.nonzero(xp.plain(a))]


def csr_extract_v(xp: Namespace, a: Array) -> Array:
    return np.nonzero(xp.plain(a))[1] + 1


def csr_extract_u(xp: Namespace, a: Array) -> Array:
    return 1 + np.concatenate(([0], np.cumsum(np.count_nonzero(xp.plain(a), axis=1))))


def csr_extract(xp: Namespace, a: Array) -> tuple[Array, Array, Array]:
    return csr_extract_w(xp, a), csr_extract_v(xp, a), csr_extract_u(xp, a)


FUNCTIONS = (
    function(
        "csr_matrix_times_vector",
        "the product of a sparse m by n matrix and a vector",
        ("(int, int, vector, array[] int, array[] int, vector) => vector", csr_matrix_times_vector),
    ),
    function(
        "csr_to_dense_matrix",
        "a sparse m by n matrix in full",
        ("(int, int, vector, array[] int, array[] int) => matrix", csr_to_dense_matrix),
    ),
    function("csr_extract_w", "the nonzero values, by rows", ("(matrix) => vector", csr_extract_w)),
    function("csr_extract_v", "the column of each nonzero value", ("(matrix) => array[] int", csr_extract_v)),
    function("csr_extract_u", "where each row starts", ("(matrix) => array[] int", csr_extract_u)),
    function(
        "csr_extract",
        "values, columns and row starts of the nonzero values",
        ("(matrix) => tuple(vector, array[] int, array[] int)", csr_extract),
    ),
)
