"""Vectors and matrices whose sums are zero, through an orthonormal basis of that subspace.

Stan Reference Manual 2.37, "Zero sum vector" and "Zero sum matrix": the inverse isometric log-ratio
basis; since it is orthonormal, the log-Jacobian is zero.
"""

from functools import partial

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, flip, with_vjps
from ppl.stdlib.constraints.layout import empty, flatten, unflatten
from ppl.stdlib.constraints.record import Constraint, Shape
from ppl.stdlib.constraints.sentences import TOLERANCE, each, number


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


def unconstrain(xp: Namespace, x: Array, shape: Shape) -> Array:
    return contract(xp, x)


def constrain_matrix(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """C_R U C_C' with the first row and column moved to the end, the element order of Stan."""
    x = unflatten(xp, u, _free_matrix(shape))
    return _expand_rolled(xp, _expand_rolled(xp, x).swapaxes(-1, -2)).swapaxes(-1, -2), 0.0


def unconstrain_matrix(xp: Namespace, x: Array, shape: Shape) -> Array:
    u = _contract_rolled(xp, _contract_rolled(xp, x).swapaxes(-1, -2)).swapaxes(-1, -2)
    return flatten(xp, u, _free_matrix(shape))


def _expand_rolled(xp: Namespace, u: Array) -> Array:
    x = expand(xp, u)
    return xp.np.concatenate([x[..., 1:], x[..., :1]], axis=-1)


def _contract_rolled(xp: Namespace, x: Array) -> Array:
    return contract(xp, xp.np.concatenate([x[..., -1:], x[..., :-1]], axis=-1))


def _free_matrix(shape: Shape) -> Shape:
    return shape[0] - 1, shape[1] - 1


def _nonzero_sum(x: np.ndarray) -> str | None:
    total = np.sum(x)
    if abs(total) <= TOLERANCE:
        return None
    return f"does not sum to zero: sums to {number(total)}, but must sum to 0 (tolerance {TOLERANCE:g})"


def _nonzero_margin(x: np.ndarray) -> str | None:
    for name, sums in (("row", x.sum(axis=1)), ("column", x.sum(axis=0))):
        for i, total in enumerate(sums):
            if not abs(total) <= TOLERANCE:
                return (
                    f"does not sum to zero: {name} {i + 1} sums to {number(total)}, "
                    f"but must sum to 0 (tolerance {TOLERANCE:g})"
                )
    return None


def check(x: Array, shape: Shape) -> str | None:
    return each(x, 1, _nonzero_sum)


def check_matrix(x: Array, shape: Shape) -> str | None:
    return each(x, 2, _nonzero_margin)


SUM_TO_ZERO_VECTOR = Constraint(
    keyword="sum_to_zero_vector",
    meaning="a vector that sums to zero",
    arguments=(),
    free_shape=lambda shape: (shape[0] - 1,),
    constrain=constrain,
    unconstrain=partial(unconstrain, NUMPY),
    check=check,
    bad_shape=empty,
)

SUM_TO_ZERO_MATRIX = Constraint(
    keyword="sum_to_zero_matrix",
    meaning="a matrix whose rows and columns sum to zero",
    arguments=(),
    free_shape=lambda shape: ((shape[0] - 1) * (shape[1] - 1),),
    constrain=constrain_matrix,
    unconstrain=partial(unconstrain_matrix, NUMPY),
    check=check_matrix,
    bad_shape=empty,
)
