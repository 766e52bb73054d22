"""Quadratic forms, determinants and factors of positive definite matrices, for the multivariate families.

Vectors are (..., K) and matrices (..., K, K); leading axes broadcast.  Whatever is not positive definite
gives nan, never an exception.
"""

import math
from collections.abc import Callable

import numpy as np

from ppl.arrays import Array, Namespace, Node, Vjp, row_sums, with_vjps
from ppl.stdlib.functions.products import transposed
from ppl.stdlib.functions.solves import lower_solve, lower_transposed_solve, or_nan
from ppl.stdlib.record import Impl, guarded

SYMMETRY = 1e-8
"""How far two mirrored entries may differ, as in Stan; relative for entries above one."""


def lifted(xp: Namespace, g: Array, axes: int) -> Array:
    """`g` with that many axes of length one after its own."""
    return xp.np.reshape(g, xp.np.shape(g) + (1,) * axes)


def is_shared(matrix: Array, d: Array) -> bool:
    """Whether the matrices (..., 1, K, K) are each that of n vectors of d (..., n, K)."""
    return bool(matrix.shape[-3] == 1 and d.ndim == matrix.ndim - 1)


def weighted(xp: Namespace, g: Array, matrix: Array) -> Array:
    """The adjoint of a matrix that every one of the weights `g` multiplies: summed where it is only one."""
    if matrix.ndim == 2:
        return xp.np.sum(g) * matrix
    if matrix.shape[-3] == 1:
        g = xp.np.sum(g, axis=-1, keepdims=True)
    return lifted(xp, g, 2) * matrix


def columns(xp: Namespace, d: Array) -> Array:
    """Vectors (*arrays, K) as the columns of a matrix; there may be none, or K may be 0."""
    return xp.np.reshape(d, (math.prod(d.shape[:-1]), d.shape[-1])).T


def weighted_outer(xp: Namespace, g: Array, a: Array, b: Array, like: Array) -> Array:
    """g a b' for every leading index, summed where `like` is a single matrix."""
    a = lifted(xp, g, 1) * a
    if like.ndim == 2:
        return xp.np.matmul(columns(xp, a), columns(xp, b).T)
    if is_shared(like, a):
        return xp.np.matmul(transposed(xp, a), b)[..., None, :, :]
    return a[..., :, None] * b[..., None, :]


def diagonal(xp: Namespace, matrix: Array) -> Array:
    return xp.np.diagonal(matrix, 0, -1, -2)


def trace(xp: Namespace, matrix: Array) -> Array:
    return xp.np.sum(matrix * np.eye(matrix.shape[-1]), axis=(-2, -1))


def factor(xp: Namespace, matrix: Array) -> Array:
    """The lower triangular L with L L' = matrix; nan where it is not symmetric and positive definite."""
    scale = xp.np.maximum(1.0, xp.np.abs(matrix))
    gap = xp.np.abs(matrix - transposed(xp, matrix))
    symmetric = xp.np.all(gap <= SYMMETRY * scale, axis=(-2, -1), keepdims=True)
    return guarded(xp, symmetric, _cholesky(xp, matrix))


def _cholesky(xp: Namespace, matrix: Array) -> Array:
    return or_nan(xp.linalg.cholesky, matrix)


def inverse(xp: Namespace, matrix: Array) -> Array:
    """The inverse of a positive definite matrix."""
    if matrix.ndim > 2:
        return or_nan(xp.linalg.inv, matrix)
    whitening = lower_solve(xp, _cholesky(xp, matrix), np.eye(len(matrix)))
    return xp.np.matmul(whitening.T, whitening)


def solve_vectors(xp: Namespace, matrix: Array, d: Array) -> Array:
    """matrix^-1 d for a positive definite matrix."""
    if matrix.ndim > 2:
        return _all_at_once(xp, _solve, matrix, d)
    return solve_factored(xp, _cholesky(xp, matrix), d)


def _solve(xp: Namespace, matrix: Array, columns: Array) -> Array:
    return or_nan(xp.linalg.solve, matrix, columns)


def solve_lower(xp: Namespace, lower: Array, d: Array) -> Array:
    """L^-1 d."""
    return _all_at_once(xp, lower_solve, lower, d)


def solve_lower_transposed(xp: Namespace, lower: Array, d: Array) -> Array:
    """L^-T d."""
    return _all_at_once(xp, lower_transposed_solve, lower, d)


def _all_at_once(xp: Namespace, solve: Impl, matrix: Array, d: Array) -> Array:
    """The systems of all vectors of a matrix at once, as columns."""
    if matrix.ndim == 2:
        return xp.np.reshape(solve(xp, matrix, columns(xp, d)).T, xp.np.shape(d))
    if is_shared(matrix, d):
        return transposed(xp, solve(xp, matrix[..., 0, :, :], transposed(xp, d)))
    return solve(xp, matrix, d[..., None])[..., 0]


def solve_factored(xp: Namespace, lower: Array, d: Array) -> Array:
    """(L L')^-1 d."""
    return solve_lower_transposed(xp, lower, solve_lower(xp, lower, d))


def _square(half_slope: Impl, matrix_adjoint: Vjp) -> Callable[[Impl], Node]:
    """Make a square of (d, matrix) a node: half_slope(xp, matrix, d) is half its slope in d."""
    return with_vjps(lambda xp, g, ans, d, m: 2.0 * lifted(xp, g, 1) * half_slope(xp, m, d), matrix_adjoint)


def _quadratic_matrix_adjoint(xp: Namespace, g: Array, ans: Array, d: Array, matrix: Array) -> Array:
    v = solve_vectors(xp, matrix, d)
    return -weighted_outer(xp, g, v, v, matrix)


@_square(solve_vectors, _quadratic_matrix_adjoint)
def quadratic(xp: Namespace, d: Array, matrix: Array) -> Array:
    """d' matrix^-1 d for a positive definite matrix."""
    return row_sums(xp, solve_lower(xp, factor(xp, matrix), d) ** 2)


def _whitened_matrix_adjoint(xp: Namespace, g: Array, ans: Array, d: Array, lower: Array) -> Array:
    z = solve_lower(xp, lower, d)
    return -2.0 * xp.np.tril(weighted_outer(xp, g, solve_lower_transposed(xp, lower, z), z, lower))


@_square(solve_factored, _whitened_matrix_adjoint)
def whitened_square(xp: Namespace, d: Array, lower: Array) -> Array:
    """|L^-1 d|^2."""
    return row_sums(xp, solve_lower(xp, lower, d) ** 2)


@with_vjps(lambda xp, g, ans, matrix: weighted(xp, g, inverse(xp, matrix)))
def log_determinant(xp: Namespace, matrix: Array) -> Array:
    """log |matrix| of a positive definite matrix."""
    return 2.0 * log_diagonal(xp, factor(xp, matrix))


def log_diagonal(xp: Namespace, lower: Array) -> Array:
    """The sum of the logs on the diagonal; nan where one of them is negative."""
    return row_sums(xp, xp.np.log(diagonal(xp, lower)))


def log_multivariate_gamma(xp: Namespace, size: int, x: Array) -> Array:
    """K (K - 1) / 4 log pi + sum_k lgamma(x - (k - 1) / 2)."""
    arguments = lifted(xp, x, 1) - 0.5 * np.arange(size)
    return 0.25 * size * (size - 1) * math.log(math.pi) + xp.np.sum(xp.special.gammaln(arguments), axis=-1)
