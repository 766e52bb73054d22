"""Linear systems.  Stan Functions Reference, "Linear algebra functions and solvers".

A system that has no solution gives nan, never an exception.  Adjoints: Giles (2008), section 2.2.3: if
A X = B then the adjoint of B is A^-T X~, and that of A is minus this times X'.
"""

from collections.abc import Callable

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions.products import matrix_matrix, outer, transposed


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
