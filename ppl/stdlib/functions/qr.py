"""The QR decomposition, thin and full, with a nonnegative diagonal of R as in Stan.

Stan Functions Reference, "Linear algebra functions and solvers".  R is Q' A, so that only Q has an adjoint.
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions.diagonals import symmetrize_from_lower_tri
from ppl.stdlib.functions.products import matrix_matrix, outer, transposed, vector_matrix
from ppl.stdlib.functions.solves import if_finite, mdivide_right
from ppl.stdlib.record import Function, function


def _tall_q_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    """Walter & Lehmann, "Algorithmic differentiation of linear algebra functions" (2018), section 4."""
    r = matrix_matrix(xp, transposed(xp, ans), a)
    m = symmetrize_from_lower_tri(xp, -matrix_matrix(xp, transposed(xp, g), ans))
    return mdivide_right(xp, g + matrix_matrix(xp, ans, m), transposed(xp, xp.np.triu(r)))


@with_vjps(_tall_q_adjoint)
def _tall_q(xp: Namespace, a: Array) -> Array:
    """Q (R, C) of a matrix with at least as many rows as columns."""

    def signed(b: Array) -> Array:
        q, r = xp.linalg.qr(b)
        return q * xp.np.where(xp.np.diagonal(r) < 0, -1.0, 1.0)

    return if_finite(xp, signed, a)


def qr_thin_q(xp: Namespace, a: Array) -> Array:
    """Q (R, K), K the smaller of rows and columns: the leading square block decides it for a wide matrix."""
    return _tall_q(xp, a[:, : a.shape[0]])


def qr_thin_r(xp: Namespace, a: Array) -> Array:
    """R (K, C)."""
    return xp.np.triu(matrix_matrix(xp, transposed(xp, qr_thin_q(xp, a)), a))


def qr_q(xp: Namespace, a: Array) -> Array:
    """Q (R, R).  The columns that complete it are those of Householder's reflections."""
    rows, columns = a.shape
    return _householder_q(xp, a) if rows > columns else qr_thin_q(xp, a)


def _householder_q(xp: Namespace, a: Array) -> Array:
    """Golub & Van Loan, "Matrix Computations", 5.2.2, from array operations alone."""
    rows, columns = a.shape
    q, signs = np.eye(rows), np.ones(rows)
    for k in range(columns):
        below, unit = np.arange(rows) >= k, np.eye(rows)[k]
        x = a[:, k] * below
        length = xp.np.sqrt(xp.np.sum(x * x))
        sign = np.where(xp.plain(x)[k] >= 0, -1.0, 1.0)
        v = x - sign * length * unit
        square = xp.np.sum(v * v)
        v = v / xp.np.sqrt(xp.np.where(square == 0, 1.0, square))  # nothing to reflect in a column of zeros
        a = a - 2.0 * outer(xp, v, vector_matrix(xp, v, a))
        q = q - 2.0 * outer(xp, matrix_matrix(xp, q, v[:, None])[:, 0], v)
        signs[k] = sign
    return q * signs


def qr_r(xp: Namespace, a: Array) -> Array:
    """R (R, C)."""
    extra = max(a.shape[0] - a.shape[1], 0)
    return xp.np.concatenate([qr_thin_r(xp, a), np.zeros((extra, a.shape[1]))], axis=0)


def qr(xp: Namespace, a: Array) -> tuple[Array, Array]:
    return qr_q(xp, a), qr_r(xp, a)


def qr_thin(xp: Namespace, a: Array) -> tuple[Array, Array]:
    return qr_thin_q(xp, a), qr_thin_r(xp, a)


FUNCTIONS: tuple[Function, ...] = (
    function("qr_Q", "the orthogonal factor of A = Q R", ("(matrix) => matrix", qr_q)),
    function("qr_R", "the upper triangular factor of A = Q R", ("(matrix) => matrix", qr_r)),
    function("qr", "the factors of A = Q R", ("(matrix) => tuple(matrix, matrix)", qr)),
    function("qr_thin_Q", "Q of the thin decomposition A = Q R", ("(matrix) => matrix", qr_thin_q)),
    function("qr_thin_R", "R of the thin decomposition A = Q R", ("(matrix) => matrix", qr_thin_r)),
    function("qr_thin", "the thin decomposition A = Q R", ("(matrix) => tuple(matrix, matrix)", qr_thin)),
)
