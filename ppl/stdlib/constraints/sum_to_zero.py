"""Vectors and matrices whose sums are zero, through an orthonormal basis of that subspace.

Stan Reference Manual 2.37, "Zero sum vector" and "Zero sum matrix": the inverse isometric log-ratio
basis; since it is orthonormal, the log-Jacobian is zero.
"""

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, flip, with_vjps
from ppl.stdlib.constraints.conditions import constraint, of_columns, of_rows, sums_to
from ppl.stdlib.constraints.layout import empty, flatten, unflatten
from ppl.stdlib.constraints.record import ConstraintPage, Shape


def _transpose_of_expand(xp: Namespace, g: Array, ans: Array, u: Array) -> Array:
    return contract(xp, g)


@with_vjps(_transpose_of_expand)
def expand(xp: Namespace, u: Array) -> Array:
    """(..., N) -> (..., N + 1): x_k = sum_{n >= k} w_n - (k - 1) w_{k-1} with w_n = u_n / sqrt(n (n + 1))."""
    n = np.arange(1, u.shape[-1] + 1)
    w = u / np.sqrt(n * (n + 1.0))
    zero = np.zeros((*u.shape[:-1], 1))
    tails = flip(xp, xp.np.cumsum(flip(xp, w, -1), axis=-1), -1)
    return xp.np.concatenate([tails, zero], axis=-1) - xp.np.concatenate([zero, n * w], axis=-1)


@with_vjps(lambda xp, g, ans, x: expand(xp, g))
def contract(xp: Namespace, x: Array) -> Array:
    """The transpose of `expand`, its inverse: u_n = (x_1 + ... + x_n - n x_{n+1}) / sqrt(n (n + 1))."""
    n = np.arange(1, x.shape[-1])
    return (xp.np.cumsum(x[..., :-1], axis=-1) - n * x[..., 1:]) / np.sqrt(n * (n + 1.0))


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    return expand(xp, u), 0.0


def unconstrain(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    return contract(xp, x)


def constrain_matrix(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """C_R U C_C' with the first row and column moved to the end, the element order of Stan."""
    x = unflatten(xp, u, _free_matrix(shape))
    return _expand_rolled(xp, _expand_rolled(xp, x).swapaxes(-1, -2)).swapaxes(-1, -2), 0.0


def unconstrain_matrix(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    u = _contract_rolled(xp, _contract_rolled(xp, x).swapaxes(-1, -2)).swapaxes(-1, -2)
    return flatten(xp, u, _free_matrix(shape))


def _expand_rolled(xp: Namespace, u: Array) -> Array:
    x = expand(xp, u)
    return xp.np.concatenate([x[..., 1:], x[..., :1]], axis=-1)


def _contract_rolled(xp: Namespace, x: Array) -> Array:
    return contract(xp, xp.np.concatenate([x[..., -1:], x[..., :-1]], axis=-1))


def _free_matrix(shape: Shape) -> Shape:
    return shape[0] - 1, shape[1] - 1


NOT_ZERO = "does not sum to zero"

SUM_TO_ZERO_VECTOR = constraint(
    keyword="sum_to_zero_vector",
    meaning="a vector that sums to zero",
    free_shape=lambda shape: (shape[0] - 1,),
    constrain=constrain,
    unconstrain=unconstrain,
    bad_shape=empty,
    conditions=(sums_to(0).named(NOT_ZERO),),
    value="vector",
    function="sum_to_zero",
    page=ConstraintPage(
        "sum_to_zero_vector[K] x;",
        "K - 1",
        ("x = H * u; the columns of H are orthonormal and sum to zero",),
        "0",
        (3,),
    ),
)

SUM_TO_ZERO_MATRIX = constraint(
    keyword="sum_to_zero_matrix",
    meaning="a matrix whose rows and columns sum to zero",
    free_shape=lambda shape: ((shape[0] - 1) * (shape[1] - 1),),
    constrain=constrain_matrix,
    unconstrain=unconstrain_matrix,
    bad_shape=empty,
    conditions=tuple(of_lines(sums_to(0)).named(NOT_ZERO) for of_lines in (of_rows, of_columns)),
    value="matrix",
    function="sum_to_zero",
    fewer=(1, 1),
    page=ConstraintPage(
        "sum_to_zero_matrix[M, N] x;",
        "(M - 1) * (N - 1)",
        ("x = H_M * U * H_N'; with the H of sum_to_zero_vector on either side",),
        "0",
        (2, 3),
    ),
)
