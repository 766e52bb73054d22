"""Eigenvalues of symmetric matrices, singular values and the QR decomposition.

Stan Functions Reference, "Linear algebra functions and solvers".  The adjoints recompute what they need of
the decomposition, so that each factor is a node of its own.
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions.diagonals import symmetrize_from_lower_tri
from ppl.stdlib.functions.products import matrix_matrix, outer, transposed, vector_matrix
from ppl.stdlib.functions.solves import if_finite, mdivide_right
from ppl.stdlib.functions.symmetric import symmetric_or_nan
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


def reciprocal_gaps(xp: Namespace, values: Array) -> Array:
    """1 / (v_j - v_i) off the diagonal, 0 on it and where two values coincide."""
    gap = values[None, :] - values[:, None]
    return xp.np.where(gap == 0, 0.0, 1.0 / xp.np.where(gap == 0, 1.0, gap))


def _eigenvalues_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    v = eigenvectors_sym(xp, a)
    return matrix_matrix(xp, v * g, transposed(xp, v))


@with_vjps(_eigenvalues_adjoint)
def eigenvalues_sym(xp: Namespace, a: Array) -> Array:
    """In ascending order, shape (K,)."""
    return if_finite(xp, xp.linalg.eigvalsh, symmetric_or_nan(xp, a))


def _eigenvectors_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    """Giles (2008), section 3.1, kept symmetric.

    What nearly equal eigenvalues v_i and v_j cancel is subtracted before it is divided by their gap: the
    rounding error of a pair stays in its own entry, where the derivative of a smooth function in the matrix
    has the divided difference (f(v_j) - f(v_i)) / (v_j - v_i), to some eps / |v_j - v_i|.
    """
    back = transposed(xp, ans)
    turn = matrix_matrix(xp, back, g)
    core = 0.5 * reciprocal_gaps(xp, eigenvalues_sym(xp, a)) * (turn - transposed(xp, turn))
    return matrix_matrix(xp, ans, matrix_matrix(xp, core, back))


@with_vjps(_eigenvectors_adjoint)
def eigenvectors_sym(xp: Namespace, a: Array) -> Array:
    """In columns, in the order of the eigenvalues; the sign of each is LAPACK's."""
    return if_finite(xp, lambda b: xp.linalg.eigh(b)[1], symmetric_or_nan(xp, a))


def eigendecompose_sym(xp: Namespace, a: Array) -> tuple[Array, Array]:
    return eigenvectors_sym(xp, a), eigenvalues_sym(xp, a)


def _singular_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    return matrix_matrix(xp, svd_u(xp, a) * g, transposed(xp, svd_v(xp, a)))


@with_vjps(_singular_adjoint)
def singular_values(xp: Namespace, a: Array) -> Array:
    """In descending order, shape (K,), K the smaller of rows and columns."""
    return if_finite(xp, lambda b: xp.linalg.svd(b, compute_uv=False), a)


def _left_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    """J. Townsend, "Differentiating the singular value decomposition" (2016), the terms in U."""
    return matrix_matrix(xp, _in_vectors(xp, g, ans, a), transposed(xp, svd_v(xp, a)))


def _in_vectors(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    s, m = singular_values(xp, a), matrix_matrix(xp, transposed(xp, ans), g)
    turn = matrix_matrix(xp, ans, reciprocal_gaps(xp, s * s) * (m - transposed(xp, m))) * s
    return turn + (g - matrix_matrix(xp, ans, m)) / s


@with_vjps(_left_adjoint)
def svd_u(xp: Namespace, a: Array) -> Array:
    """U (R, K)."""
    return if_finite(xp, lambda b: xp.linalg.svd(b, full_matrices=False)[0], a)


def _right_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    """V is the U of the transpose."""
    return matrix_matrix(xp, svd_u(xp, a), transposed(xp, _in_vectors(xp, g, ans, a)))


@with_vjps(_right_adjoint)
def svd_v(xp: Namespace, a: Array) -> Array:
    """V (C, K)."""
    return if_finite(xp, lambda b: transposed(xp, xp.linalg.svd(b, full_matrices=False)[2]), a)


def svd(xp: Namespace, a: Array) -> tuple[Array, Array, Array]:
    return svd_u(xp, a), singular_values(xp, a), svd_v(xp, a)


FUNCTIONS: tuple[Function, ...] = (
    function("qr_Q", "the orthogonal factor of A = Q R", ("(matrix) => matrix", qr_q)),
    function("qr_R", "the upper triangular factor of A = Q R", ("(matrix) => matrix", qr_r)),
    function("qr", "the factors of A = Q R", ("(matrix) => tuple(matrix, matrix)", qr)),
    function("qr_thin_Q", "Q of the thin decomposition A = Q R", ("(matrix) => matrix", qr_thin_q)),
    function("qr_thin_R", "R of the thin decomposition A = Q R", ("(matrix) => matrix", qr_thin_r)),
    function("qr_thin", "the thin decomposition A = Q R", ("(matrix) => tuple(matrix, matrix)", qr_thin)),
    function(
        "eigenvalues_sym",
        "the eigenvalues of a symmetric matrix, ascending",
        ("(matrix) => vector", eigenvalues_sym),
    ),
    function(
        "eigenvectors_sym",
        "the eigenvectors of a symmetric matrix, in columns",
        ("(matrix) => matrix", eigenvectors_sym),
    ),
    function(
        "eigendecompose_sym",
        "the eigenvectors and eigenvalues of a symmetric matrix",
        ("(matrix) => tuple(matrix, vector)", eigendecompose_sym),
    ),
    function("singular_values", "the singular values, descending", ("(matrix) => vector", singular_values)),
    function("svd_U", "the left singular vectors, in columns", ("(matrix) => matrix", svd_u)),
    function("svd_V", "the right singular vectors, in columns", ("(matrix) => matrix", svd_v)),
    function(
        "svd",
        "the left singular vectors, singular values and right singular vectors",
        ("(matrix) => tuple(matrix, vector, matrix)", svd),
    ),
)
