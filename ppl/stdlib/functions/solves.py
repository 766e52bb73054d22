"""Linear systems.  Stan Functions Reference, "Linear algebra functions and solvers".

Every function takes leading axes.  A system that has no solution gives nan, never an exception.  Adjoints:
Giles (2008), section 2.2.3: if A X = B then the adjoint of B is A^-T X~, that of A minus this times X'.
"""

from collections.abc import Callable

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.errors import InferenceError
from ppl.stdlib.functions.products import matrix_matrix, outer, transposed
from ppl.stdlib.record import Function, function, guarded, leading


def _sandwich(xp: Namespace, left: Array, middle: Array, right: Array) -> Array:
    return matrix_matrix(xp, left, matrix_matrix(xp, middle, right))


@with_vjps(lambda xp, g, ans, a: -_sandwich(xp, transposed(xp, ans), g, transposed(xp, ans)))
def inverse(xp: Namespace, a: Array) -> Array:
    return or_nan(xp.linalg.inv, a)


@with_vjps(lambda xp, g, ans, a: xp.np.expand_dims(g * ans, (-1, -2)) * transposed(xp, inverse(xp, a)))
def determinant(xp: Namespace, a: Array) -> Array:
    return xp.linalg.det(a)


@with_vjps(lambda xp, g, ans, a: xp.np.expand_dims(g, (-1, -2)) * transposed(xp, inverse(xp, a)))
def log_determinant(xp: Namespace, a: Array) -> Array:
    """log |det A|."""
    return xp.linalg.slogdet(a)[1]


def _pseudo_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    back, gt = transposed(xp, ans), transposed(xp, g)
    rows = np.eye(a.shape[-2]) - matrix_matrix(xp, a, ans)
    columns = np.eye(a.shape[-1]) - matrix_matrix(xp, ans, a)
    return (
        _sandwich(xp, matrix_matrix(xp, rows, gt), ans, back)
        + _sandwich(xp, back, matrix_matrix(xp, ans, gt), columns)
        - _sandwich(xp, back, g, back)
    )


@with_vjps(_pseudo_adjoint)
def generalized_inverse(xp: Namespace, a: Array) -> Array:
    """The Moore-Penrose pseudo-inverse, (C, R) for a matrix (R, C)."""
    return if_finite(xp, xp.linalg.pinv, a)


def _exp_adjoint(xp: Namespace, g: Array, ans: Array, a: Array) -> Array:
    """The Frechet derivative, read off the exponential of a block matrix (Mathias 1996, equation 1.2).

    It is linear in g, which is scaled: the norm of the block matrix says how often its exponential is
    squared, and each squaring doubles the relative error.
    """
    n, back = a.shape[-1], transposed(xp, a)
    largest = xp.np.max(xp.np.abs(xp.plain(g)), axis=(-1, -2), keepdims=True, initial=0.0)
    size = xp.np.where(largest > 0.0, largest, 1.0)
    top = xp.np.concatenate([back, g / size], axis=-1)
    bottom = xp.np.concatenate([np.zeros(a.shape), back], axis=-1)
    return size * matrix_exp(xp, xp.np.concatenate([top, bottom], axis=-2))[..., :n, n:]


@with_vjps(_exp_adjoint)
def matrix_exp(xp: Namespace, a: Array) -> Array:
    """Each matrix by itself; nan throughout unless all of its entries are finite."""
    finite = xp.np.all(xp.np.isfinite(a), axis=(-1, -2), keepdims=True)
    return guarded(xp, finite, xp.slinalg.expm(xp.np.where(finite, a, 0.0)))


def matrix_exp_multiply(xp: Namespace, a: Array, b: Array) -> Array:
    return matrix_matrix(xp, matrix_exp(xp, a), b)


def matrix_power(xp: Namespace, a: Array, n: int) -> Array:
    """A^n for n >= 0, nan unless all of A is finite."""
    if n < 0:
        raise InferenceError(f"matrix_power: the power is {n}, but must not be negative")
    finite = xp.np.all(xp.np.isfinite(a), axis=(-1, -2), keepdims=True)
    return guarded(xp, finite, _power(xp, a, n))


def _power(xp: Namespace, a: Array, n: int) -> Array:
    """By repeated squaring."""
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    if n == 1:
        return a
    half = _power(xp, a, n // 2)
    whole = matrix_matrix(xp, half, half)
    return matrix_matrix(xp, whole, a) if n % 2 else whole


def or_nan(factor: Callable[..., Array], *matrices: Array) -> Array:
    """`factor(*matrices)`, with nan in the shape of the last one where LAPACK finds no answer.

    Only the entries of a batch that fail become nan.
    """
    try:
        return factor(*matrices)
    except np.linalg.LinAlgError:
        lead = np.broadcast_shapes(*[np.shape(m)[:-2] for m in matrices])
        if not lead:
            return np.full(np.shape(matrices[-1]), np.nan)
        rows = [np.broadcast_to(m, lead + np.shape(m)[-2:]) for m in matrices]
        return np.stack([or_nan(factor, *row) for row in zip(*rows, strict=True)])


def if_finite(xp: Namespace, factor: Callable[[Array], Array], a: Array) -> Array:
    """`factor(a)`; nan throughout unless all entries are finite, which LAPACK takes for granted."""
    finite = xp.np.all(xp.np.isfinite(a))
    return xp.np.where(finite, factor(xp.np.where(finite, a, 0.0)), xp.np.nan)


def _left_matrix_adjoint(xp: Namespace, g: Array, ans: Array, a: Array, b: Array) -> Array:
    return -matrix_matrix(xp, solve(xp, transposed(xp, a), g), transposed(xp, ans))


def _right_matrix_adjoint(xp: Namespace, g: Array, ans: Array, a: Array, b: Array) -> Array:
    return solve(xp, transposed(xp, a), g)


@with_vjps(_left_matrix_adjoint, _right_matrix_adjoint)
def solve(xp: Namespace, a: Array, b: Array) -> Array:
    """X with A X = B, for matrices."""
    return or_nan(xp.linalg.solve, a, b)


def _left_vector_adjoint(xp: Namespace, g: Array, ans: Array, a: Array, b: Array) -> Array:
    return -outer(xp, solve_vector(xp, transposed(xp, a), g), ans)


def _right_vector_adjoint(xp: Namespace, g: Array, ans: Array, a: Array, b: Array) -> Array:
    return solve_vector(xp, transposed(xp, a), g)


@with_vjps(_left_vector_adjoint, _right_vector_adjoint)
def solve_vector(xp: Namespace, a: Array, b: Array) -> Array:
    """x with A x = b, for vectors b."""
    return or_nan(xp.linalg.solve, a, b[..., None])[..., 0]


def mdivide_right(xp: Namespace, b: Array, a: Array) -> Array:
    """B / A = (A' \\ B')'."""
    return transposed(xp, solve(xp, transposed(xp, a), transposed(xp, b)))


def mdivide_right_row(xp: Namespace, b: Array, a: Array) -> Array:
    return solve_vector(xp, transposed(xp, a), b)


def _lower_adjoint(xp: Namespace, g: Array, ans: Array, lower: Array, b: Array) -> Array:
    w = lower_transposed_solve(xp, lower, g)
    return -xp.np.tril(matrix_matrix(xp, w, transposed(xp, ans)))


def _lower_right_adjoint(xp: Namespace, g: Array, ans: Array, lower: Array, b: Array) -> Array:
    return lower_transposed_solve(xp, lower, g)


@with_vjps(_lower_adjoint, _lower_right_adjoint)
def lower_solve(xp: Namespace, lower: Array, b: Array) -> Array:
    """X with L X = B, for matrices; only the lower triangle of L is read."""
    return xp.solve_lower(lower, b)


def _transposed_adjoint(xp: Namespace, g: Array, ans: Array, lower: Array, b: Array) -> Array:
    w = lower_solve(xp, lower, g)
    return -xp.np.tril(matrix_matrix(xp, ans, transposed(xp, w)))


def _transposed_right_adjoint(xp: Namespace, g: Array, ans: Array, lower: Array, b: Array) -> Array:
    return lower_solve(xp, lower, g)


@with_vjps(_transposed_adjoint, _transposed_right_adjoint)
def lower_transposed_solve(xp: Namespace, lower: Array, b: Array) -> Array:
    """X with L' X = B, for matrices; only the lower triangle of L is read."""
    return xp.solve_lower(lower, b, transposed=True)


def mdivide_right_tri_low(xp: Namespace, b: Array, lower: Array) -> Array:
    """B L^-1 = (L' \\ B')'."""
    return transposed(xp, lower_transposed_solve(xp, lower, transposed(xp, b)))


def mdivide_right_tri_low_row(xp: Namespace, b: Array, lower: Array) -> Array:
    return lower_transposed_solve(xp, lower, b[..., None])[..., 0]


FUNCTIONS: tuple[Function, ...] = (
    leading("inverse", "the inverse of a matrix", ("(matrix) => matrix", inverse)),
    leading("determinant", "the determinant", ("(matrix) => real", determinant)),
    leading(
        "log_determinant",
        "the log of the absolute value of the determinant",
        ("(matrix) => real", log_determinant),
    ),
    function(
        "generalized_inverse", "the Moore-Penrose pseudo-inverse", ("(matrix) => matrix", generalized_inverse)
    ),
    leading("matrix_exp", "the matrix exponential", ("(matrix) => matrix", matrix_exp)),
    leading("matrix_exp_multiply", "exp(A) B", ("(matrix, matrix) => matrix", matrix_exp_multiply)),
    function(
        "scale_matrix_exp_multiply",
        "exp(t A) B",
        ("(real, matrix, matrix) => matrix", lambda xp, t, a, b: matrix_exp_multiply(xp, t * a, b)),
    ),
    function("matrix_power", "A^n", ("(matrix, int) => matrix", matrix_power)),
    leading(
        "mdivide_left_tri_low",
        "L^-1 b for lower triangular L",
        ("(matrix, vector) => vector", lambda xp, lower, b: lower_solve(xp, lower, b[..., None])[..., 0]),
        ("(matrix, matrix) => matrix", lower_solve),
    ),
    leading(
        "mdivide_right_tri_low",
        "b L^-1 for lower triangular L",
        ("(row_vector, matrix) => row_vector", mdivide_right_tri_low_row),
        ("(matrix, matrix) => matrix", mdivide_right_tri_low),
    ),
)
