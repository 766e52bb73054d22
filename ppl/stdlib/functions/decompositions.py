"""Eigenvalues of symmetric matrices, singular values and the QR decomposition.

Stan Functions Reference, "Linear algebra functions and solvers".  The adjoints recompute what they need of
the decomposition, so that each factor is a node of its own.
"""

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions.products import matrix_matrix, transposed
from ppl.stdlib.functions.solves import if_finite
from ppl.stdlib.functions.symmetric import symmetric_or_nan
from ppl.stdlib.record import Function, function


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
