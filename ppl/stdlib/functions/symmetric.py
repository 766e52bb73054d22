"""Symmetric and positive definite matrices: Cholesky factor, inverse, determinant and linear systems.

Stan Functions Reference, "Linear algebra functions and solvers".  Every function takes leading axes.  A
matrix that is not what it must be gives nan, never an exception.
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.constraints.sentences import TOLERANCE
from ppl.stdlib.functions.products import matrix_matrix, transposed
from ppl.stdlib.functions.solves import lower_solve, lower_transposed_solve, or_nan
from ppl.stdlib.record import Function, leading


@with_vjps(lambda xp, g, ans, a: g)
def symmetric_or_nan(xp: Namespace, a: Array) -> Array:
    gap = xp.np.max(xp.np.abs(a - transposed(xp, a)), axis=(-1, -2), initial=0.0)
    return xp.np.where(gap[..., None, None] <= TOLERANCE, a, xp.np.nan)


def _cholesky_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    """I. Murray, "Differentiation of the Cholesky decomposition" (2016), equation 8, kept symmetric."""
    inner = matrix_matrix(xp, transposed(xp, ans), g)
    halved_diagonal = xp.np.tril(inner) - 0.5 * inner * np.eye(inner.shape[-1])
    left = lower_transposed_solve(xp, ans, halved_diagonal)
    s = transposed(xp, lower_transposed_solve(xp, ans, transposed(xp, left)))
    return 0.5 * (s + transposed(xp, s))


@with_vjps(_cholesky_adjoint)
def cholesky_decompose(xp: Namespace, a: Array) -> Array:
    """The lower L with L L' = A."""
    return or_nan(xp.linalg.cholesky, symmetric_or_nan(xp, a))


@with_vjps(lambda xp, g, ans, lower: g)
def lower_or_nan(xp: Namespace, lower: Array) -> Array:
    above = xp.np.any(xp.np.triu(lower, 1) != 0.0, axis=(-1, -2))
    return xp.np.where(above[..., None, None], xp.np.nan, lower)


def chol2inv(xp: Namespace, lower: Array) -> Array:
    """(L L')^-1 of a matrix that must be lower triangular."""
    return inverse_of_factor(xp, lower_or_nan(xp, lower))


def inverse_of_factor(xp: Namespace, lower: Array) -> Array:
    """(L L')^-1 of the lower triangle."""
    inverse_factor = lower_solve(xp, lower, np.eye(lower.shape[-1]))
    return matrix_matrix(xp, transposed(xp, inverse_factor), inverse_factor)


def log_determinant_spd(xp: Namespace, a: Array) -> Array:
    lower = cholesky_decompose(xp, a)
    return 2.0 * xp.np.sum(xp.np.log(xp.np.sum(lower * np.eye(lower.shape[-1]), axis=-1)), axis=-1)


def mdivide_left_spd(xp: Namespace, a: Array, b: Array) -> Array:
    lower = cholesky_decompose(xp, a)
    return lower_transposed_solve(xp, lower, lower_solve(xp, lower, b))


def mdivide_left_spd_vector(xp: Namespace, a: Array, b: Array) -> Array:
    return mdivide_left_spd(xp, a, b[..., None])[..., 0]


def mdivide_right_spd(xp: Namespace, b: Array, a: Array) -> Array:
    return transposed(xp, mdivide_left_spd(xp, a, transposed(xp, b)))


FUNCTIONS: tuple[Function, ...] = (
    leading(
        "cholesky_decompose",
        "the lower triangular L with L L' = A",
        ("(matrix) => matrix", cholesky_decompose),
        rejects=True,
    ),
    leading("chol2inv", "(L L')^-1, L lower triangular", ("(matrix) => matrix", chol2inv)),
    leading(
        "inverse_spd",
        "the inverse of a symmetric positive definite matrix",
        ("(matrix) => matrix", lambda xp, a: inverse_of_factor(xp, cholesky_decompose(xp, a))),
    ),
    leading(
        "log_determinant_spd",
        "the log determinant of a symmetric positive definite matrix",
        ("(matrix) => real", log_determinant_spd),
    ),
    leading(
        "mdivide_left_spd",
        "A^-1 b for symmetric positive definite A",
        ("(matrix, vector) => vector", mdivide_left_spd_vector),
        ("(matrix, matrix) => matrix", mdivide_left_spd),
    ),
    leading(
        "mdivide_right_spd",
        "b A^-1 for symmetric positive definite A",
        ("(row_vector, matrix) => row_vector", lambda xp, b, a: mdivide_left_spd_vector(xp, a, b)),
        ("(matrix, matrix) => matrix", mdivide_right_spd),
    ),
)
