"""Simplexes and matrices of them: the softmax of a vector that sums to zero.

Stan Reference Manual 2.37, "Unit simplex": the inverse isometric log-ratio transform, with
log|J| = sum_k log x_k + log(K) / 2.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, with_vjps
from ppl.stdlib.constraints.layout import empty, flatten, unflatten
from ppl.stdlib.constraints.record import Constraint, Shape
from ppl.stdlib.constraints.sentences import TOLERANCE, each, number
from ppl.stdlib.constraints.sum_to_zero import contract, expand


def _log_weights(xp: Namespace, u: Array) -> Array:
    z = expand(xp, u)
    z = z - xp.np.max(z, axis=-1, keepdims=True)
    return z - xp.np.log(xp.np.sum(xp.np.exp(z), axis=-1, keepdims=True))


def _weights_adjoint(xp: Namespace, g: Array, x: Array, u: Array) -> Array:
    return contract(xp, x * (g - xp.np.sum(g * x, axis=-1, keepdims=True)))


@with_vjps(_weights_adjoint)
def _weights(xp: Namespace, u: Array) -> Array:
    return xp.np.exp(_log_weights(xp, u))


@with_vjps(lambda xp, g, ans, u: -g[..., None] * (u.shape[-1] + 1) * contract(xp, _weights(xp, u)))
def _log_jacobian(xp: Namespace, u: Array) -> Array:
    return xp.np.sum(_log_weights(xp, u), axis=-1) + 0.5 * math.log(u.shape[-1] + 1)


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    return _weights(xp, u), _log_jacobian(xp, u)


def unconstrain(xp: Namespace, x: Array, shape: Shape) -> Array:
    return contract(xp, xp.np.log(x))


def constrain_rows(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    return constrain(xp, unflatten(xp, u, _free_rows(shape)), shape[1:])


def unconstrain_rows(xp: Namespace, x: Array, shape: Shape) -> Array:
    return flatten(xp, unconstrain(xp, x, shape[1:]), _free_rows(shape))


def constrain_columns(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    columns = xp.np.swapaxes(unflatten(xp, u, _free_columns(shape)), -1, -2)
    x, log_jacobian = constrain(xp, columns, shape[:1])
    return xp.np.swapaxes(x, -1, -2), log_jacobian


def unconstrain_columns(xp: Namespace, x: Array, shape: Shape) -> Array:
    columns = unconstrain(xp, xp.np.swapaxes(x, -1, -2), shape[:1])
    return flatten(xp, xp.np.swapaxes(columns, -1, -2), _free_columns(shape))


def _free_rows(shape: Shape) -> Shape:
    return shape[0], shape[1] - 1


def _free_columns(shape: Shape) -> Shape:
    return shape[0] - 1, shape[1]


def _not_a_simplex(x: np.ndarray) -> str | None:
    negative = np.argwhere(~(x >= 0))
    if len(negative):
        k = int(negative[0, 0])
        return f"is not a simplex: element [{k + 1}] is {number(x[k])}, but must be at least 0"
    if not abs(x.sum() - 1) <= TOLERANCE:
        return f"is not a simplex: sums to {number(x.sum())}, but must sum to 1 (tolerance {TOLERANCE:g})"
    return None


def _are_simplexes(x: np.ndarray) -> Any:
    return np.all(x >= 0, axis=-1) & (np.abs(x.sum(axis=-1) - 1) <= TOLERANCE)


def _not_stochastic(lines: np.ndarray, name: str) -> str | None:
    for i, line in enumerate(lines):
        if (fault := _not_a_simplex(line)) is not None:
            return f"is not stochastic: {name} {i + 1} {fault}"
    return None


def check(x: Array, shape: Shape) -> str | None:
    return each(x, 1, _not_a_simplex, _are_simplexes)


def check_rows(x: Array, shape: Shape) -> str | None:
    return each(x, 2, lambda matrix: _not_stochastic(matrix, "row"))


def check_columns(x: Array, shape: Shape) -> str | None:
    return each(x, 2, lambda matrix: _not_stochastic(matrix.T, "column"))


SIMPLEX = Constraint(
    keyword="simplex",
    meaning="a vector of non-negative numbers that sums to one",
    arguments=(),
    free_shape=lambda shape: (shape[0] - 1,),
    constrain=constrain,
    unconstrain=partial(unconstrain, NUMPY),
    check=check,
    bad_shape=empty,
    bounded=True,
)

ROW_STOCHASTIC_MATRIX = Constraint(
    keyword="row_stochastic_matrix",
    meaning="a matrix whose rows are simplexes",
    arguments=(),
    free_shape=lambda shape: (math.prod(_free_rows(shape)),),
    constrain=constrain_rows,
    unconstrain=partial(unconstrain_rows, NUMPY),
    check=check_rows,
    bad_shape=empty,
    bounded=True,
)

COLUMN_STOCHASTIC_MATRIX = Constraint(
    keyword="column_stochastic_matrix",
    meaning="a matrix whose columns are simplexes",
    arguments=(),
    free_shape=lambda shape: (math.prod(_free_columns(shape)),),
    constrain=constrain_columns,
    unconstrain=partial(unconstrain_columns, NUMPY),
    check=check_columns,
    bad_shape=empty,
    bounded=True,
)
