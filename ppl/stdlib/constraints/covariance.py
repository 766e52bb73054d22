"""Covariance matrices and their Cholesky factors.

Stan Reference Manual, "Covariance matrix" and "Cholesky factor of a covariance matrix": the triangle is
filled row by row, its diagonal with exponentials.
"""

import math

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, with_vjps
from ppl.stdlib.constraints.conditions import (
    LOWER_TRIANGULAR,
    POSITIVE_DEFINITE,
    POSITIVE_DIAGONAL,
    SYMMETRIC,
    constraint,
)
from ppl.stdlib.constraints.layout import lower_by_rows, place, squared
from ppl.stdlib.constraints.record import ConstraintPage, Shape
from ppl.stdlib.functions.symmetric import cholesky_decompose


def _factor_adjoint(xp: Namespace, g: Array, ans: Array, u: Array, shape: Shape) -> Array:
    places = lower_by_rows(shape)
    slopes = xp.np.where(places[0] == places[1], ans[(..., *places)], 1.0)
    return g[(..., *places)] * slopes


@with_vjps(_factor_adjoint, None)
def _factor(xp: Namespace, u: Array, shape: Shape) -> Array:
    places = lower_by_rows(shape)
    on_diagonal = places[0] == places[1]
    elements = xp.np.where(on_diagonal, xp.np.exp(xp.np.where(on_diagonal, u, 0.0)), u)
    return place(xp, elements, shape, places)


def constrain_cholesky(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """log|J| = sum of the elements of u on the diagonal."""
    rows, columns = lower_by_rows(shape)
    return _factor(xp, u, shape), (rows == columns) * u


def unconstrain_cholesky(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    places = lower_by_rows(shape)
    diagonal = np.flatnonzero(places[0] == places[1])
    elements = x[(..., *places)]
    return xp.put(elements, (..., diagonal), xp.np.log(elements[..., diagonal]))


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """X = L L' with log|J| = K log 2 + sum_i (K - i + 2) log L_ii."""
    size = shape[0]
    rows, columns = lower_by_rows(shape)
    weights = (rows == columns) * (size + 1.0 - rows)
    log_jacobian = xp.np.sum(weights * u, axis=-1) + size * math.log(2.0)
    return squared(xp, _factor(xp, u, shape)), log_jacobian


def unconstrain(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    return unconstrain_cholesky(cholesky_decompose(xp, x), shape, xp)


CHOLESKY_FACTOR_COV = constraint(
    keyword="cholesky_factor_cov",
    meaning="a lower triangular matrix with positive diagonal, at least as many rows as columns",
    free_shape=lambda shape: (len(lower_by_rows(shape)[0]),),
    constrain=constrain_cholesky,
    unconstrain=unconstrain_cholesky,
    bad_shape=lambda shape: "it has fewer rows than columns." if shape[0] < shape[1] else None,
    conditions=(LOWER_TRIANGULAR, POSITIVE_DIAGONAL),
    value="matrix",
    sizes=(1, 2),
    page=ConstraintPage(
        "cholesky_factor_cov[M, N] x;  ([K] is [K, K]; M at least N)",
        "N * (N + 1) // 2 + (M - N) * N",
        ("x[i, j] = u[i, j]; below the diagonal, row by row", "x[k, k] = exp(u[k, k])"),
        "sum(k, u[k, k])",
        (2, 2),
    ),
)

COV_MATRIX = constraint(
    keyword="cov_matrix",
    meaning="a symmetric positive definite matrix",
    free_shape=lambda shape: (shape[0] * (shape[0] + 1) // 2,),
    constrain=constrain,
    unconstrain=unconstrain,
    conditions=(SYMMETRIC, POSITIVE_DEFINITE),
    value="matrix",
    sizes=(1,),
    page=ConstraintPage(
        "cov_matrix[K] x;",
        "K * (K + 1) // 2",
        ("x = L * L'", "L[i, j] = u[i, j]; below the diagonal, row by row", "L[k, k] = exp(u[k, k])"),
        "K * log(2) + sum(k, (K - k + 2) * log(L[k, k]))",
        (2, 2),
    ),
)
