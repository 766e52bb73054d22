"""Linear systems.  Stan Functions Reference, "Linear algebra functions and solvers".

Every function takes leading axes.  A system that has no solution gives nan, never an exception.  Adjoints:
Giles (2008), section 2.2.3: if A X = B then the adjoint of B is A^-T X~, that of A minus this times X'.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions.products import matrix_matrix, outer, transposed
from ppl.stdlib.record import Function, leading


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


def _triangular(xp: Namespace, lower: Array, b: Array, trans: int) -> Array:
    """L^-1 B or L^-T B from the lower triangle alone."""
    if np.ndim(lower) == 2 and np.ndim(b) == 2:
        solver = partial(xp.slinalg.solve_triangular, lower=True, trans=trans, check_finite=False)
        return or_nan(solver, lower, b)
    lower = xp.np.tril(lower)
    return or_nan(xp.linalg.solve, transposed(xp, lower) if trans else lower, b)


def _lower_adjoint(xp: Namespace, g: Array, ans: Array, lower: Array, b: Array) -> Array:
    w = lower_transposed_solve(xp, lower, g)
    return -xp.np.tril(matrix_matrix(xp, w, transposed(xp, ans)))


def _lower_right_adjoint(xp: Namespace, g: Array, ans: Array, lower: Array, b: Array) -> Array:
    return lower_transposed_solve(xp, lower, g)


@with_vjps(_lower_adjoint, _lower_right_adjoint)
def lower_solve(xp: Namespace, lower: Array, b: Array) -> Array:
    """X with L X = B, for matrices; only the lower triangle of L is read."""
    return _triangular(xp, lower, b, 0)


def _transposed_adjoint(xp: Namespace, g: Array, ans: Array, lower: Array, b: Array) -> Array:
    w = lower_solve(xp, lower, g)
    return -xp.np.tril(matrix_matrix(xp, ans, transposed(xp, w)))


def _transposed_right_adjoint(xp: Namespace, g: Array, ans: Array, lower: Array, b: Array) -> Array:
    return lower_solve(xp, lower, g)


@with_vjps(_transposed_adjoint, _transposed_right_adjoint)
def lower_transposed_solve(xp: Namespace, lower: Array, b: Array) -> Array:
    """X with L' X = B, for matrices; only the lower triangle of L is read."""
    return _triangular(xp, lower, b, 1)


def mdivide_right_tri_low(xp: Namespace, b: Array, lower: Array) -> Array:
    """B L^-1 = (L' \\ B')'."""
    return transposed(xp, lower_transposed_solve(xp, lower, transposed(xp, b)))


def mdivide_right_tri_low_row(xp: Namespace, b: Array, lower: Array) -> Array:
    return lower_transposed_solve(xp, lower, b[..., None])[..., 0]


FUNCTIONS: tuple[Function, ...] = (
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
