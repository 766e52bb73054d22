"""Simplexes and matrices of them: the softmax of a vector that sums to zero.

Stan Reference Manual 2.37, "Unit simplex": the inverse isometric log-ratio transform, with
log|J| = sum_k log x_k + log(K) / 2.
"""

import math

from ppl.arrays import NUMPY, Array, Namespace, with_vjps
from ppl.stdlib.constraints.conditions import NONNEGATIVE, constraint, of_columns, of_rows, sums_to
from ppl.stdlib.constraints.layout import empty, flatten, unflatten
from ppl.stdlib.constraints.record import ConstraintPage, Shape
from ppl.stdlib.constraints.sum_to_zero import contract, expand


def _log_weights(xp: Namespace, u: Array) -> Array:
    z = expand(xp, u)
    z = z - xp.np.max(z, axis=-1, keepdims=True)
    return z - xp.np.log(xp.np.sum(xp.np.exp(z), axis=-1, keepdims=True))


@with_vjps(lambda xp, g, x, u: contract(xp, x * (g - xp.np.sum(g * x, axis=-1, keepdims=True))))
def _weights(xp: Namespace, u: Array) -> Array:
    return xp.np.exp(_log_weights(xp, u))


@with_vjps(lambda xp, g, ans, u: -g[..., None] * (u.shape[-1] + 1) * contract(xp, _weights(xp, u)))
def _log_jacobian(xp: Namespace, u: Array) -> Array:
    return xp.np.sum(_log_weights(xp, u), axis=-1) + 0.5 * math.log(u.shape[-1] + 1)


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    return _weights(xp, u), _log_jacobian(xp, u)


def unconstrain(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    return contract(xp, xp.np.log(x))


def constrain_columns(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    columns = xp.np.swapaxes(unflatten(xp, u, _free_columns(shape)), -1, -2)
    x, log_jacobian = constrain(xp, columns, shape[:1])
    return xp.np.swapaxes(x, -1, -2), log_jacobian


def unconstrain_columns(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    columns = unconstrain(xp.np.swapaxes(x, -1, -2), shape[:1], xp)
    return flatten(xp, xp.np.swapaxes(columns, -1, -2), _free_columns(shape))


def _free_rows(shape: Shape) -> Shape:
    return shape[0], shape[1] - 1


def _free_columns(shape: Shape) -> Shape:
    return shape[0] - 1, shape[1]


WEIGHTS = (NONNEGATIVE, sums_to(1))

SIMPLEX = constraint(
    keyword="simplex",
    meaning="a vector of non-negative numbers that sums to one",
    free_shape=lambda shape: (shape[0] - 1,),
    constrain=constrain,
    unconstrain=unconstrain,
    bad_shape=empty,
    interval=(0.0, 1.0),
    conditions=tuple(c.named("is not a simplex") for c in WEIGHTS),
    value="vector",
    page=ConstraintPage(
        "simplex[K] x;",
        "K - 1",
        ("x = softmax(z); z is the sum_to_zero_vector[K] of u",),
        "sum(log(x)) + log(K) / 2",
        (3,),
    ),
)

ROW_STOCHASTIC_MATRIX = constraint(
    keyword="row_stochastic_matrix",
    meaning="a matrix whose rows are simplexes",
    free_shape=lambda shape: (math.prod(_free_rows(shape)),),
    constrain=lambda xp, u, shape: constrain(xp, unflatten(xp, u, _free_rows(shape)), shape[1:]),
    unconstrain=lambda x, shape, xp=NUMPY: flatten(xp, unconstrain(x, shape[1:], xp), _free_rows(shape)),
    bad_shape=empty,
    interval=(0.0, 1.0),
    conditions=tuple(of_rows(c).named("is not stochastic") for c in WEIGHTS),
    value="matrix",
    function="stochastic_row",
    fewer=(0, 1),
    page=ConstraintPage(
        "row_stochastic_matrix[M, N] x;",
        "M * (N - 1)",
        ("x[m] = softmax(z[m]); row by row, each a simplex",),
        "sum(log(x)) + M * log(N) / 2",
        (2, 2),
    ),
)

COLUMN_STOCHASTIC_MATRIX = constraint(
    keyword="column_stochastic_matrix",
    meaning="a matrix whose columns are simplexes",
    free_shape=lambda shape: (math.prod(_free_columns(shape)),),
    constrain=constrain_columns,
    unconstrain=unconstrain_columns,
    bad_shape=empty,
    interval=(0.0, 1.0),
    conditions=tuple(of_columns(c).named("is not stochastic") for c in WEIGHTS),
    value="matrix",
    function="stochastic_column",
    fewer=(1, 0),
    page=ConstraintPage(
        "column_stochastic_matrix[M, N] x;",
        "(M - 1) * N",
        ("x[n] = softmax(z[n]); column by column, each a simplex",),
        "sum(log(x)) + N * log(M) / 2",
        (2, 2),
    ),
)
