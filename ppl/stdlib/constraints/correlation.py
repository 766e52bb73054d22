"""Correlation matrices and their Cholesky factors, from canonical partial correlations tanh(u).

Lewandowski, Kurowicka and Joe 2009; Stan Reference Manual, "Correlation matrix" and "Cholesky factor of a
correlation matrix".  With z_ij = tanh(u_ij) below the diagonal,
L_ij = z_ij prod_{j' < j} sqrt(1 - z_ij'^2) and L_ii = prod_{j' < i} sqrt(1 - z_ij'^2).
"""

import math

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, flip, with_partials, with_vjps
from ppl.stdlib.constraints.conditions import (
    LOWER_TRIANGULAR,
    POSITIVE_DEFINITE,
    POSITIVE_DIAGONAL,
    SYMMETRIC,
    UNIT_DIAGONAL,
    constraint,
    of_length_one,
)
from ppl.stdlib.constraints.layout import (
    Places,
    place,
    squared,
    strictly_lower_by_columns,
    strictly_lower_by_rows,
)
from ppl.stdlib.constraints.record import ConstraintPage, Shape
from ppl.stdlib.functions.symmetric import cholesky_decompose


@with_partials(lambda xp, ans, u: -2.0 * xp.np.tanh(u))
def _log_one_minus_squared_tanh(xp: Namespace, u: Array) -> Array:
    """log(1 - tanh(u)^2) = -2 log cosh(u)."""
    return 2.0 * (math.log(2.0) - xp.np.logaddexp(u, -u))


def _rests(xp: Namespace, u: Array, shape: Shape, places: Places) -> Array:
    """prod_{j' < j} sqrt(1 - z_ij'^2) for every (i, j)."""
    logs = place(xp, _log_one_minus_squared_tanh(xp, u), shape, places)
    return xp.np.exp(0.5 * (xp.np.cumsum(logs, axis=-1) - logs))


def _factor_adjoint(xp: Namespace, g: Array, ans: Array, u: Array, shape: Shape, places: Places) -> Array:
    """u_ij moves L_ij itself and, through what it leaves, every L_ik with k > j."""
    scaled = g * ans
    later = flip(xp, xp.np.cumsum(flip(xp, scaled, -1), axis=-1), -1) - scaled
    direct = g * _rests(xp, u, shape, places)
    slope = xp.np.exp(_log_one_minus_squared_tanh(xp, u))
    return slope * direct[(..., *places)] - xp.np.tanh(u) * later[(..., *places)]


@with_vjps(_factor_adjoint, None, None)
def _factor(xp: Namespace, u: Array, shape: Shape, places: Places) -> Array:
    partials = place(xp, xp.np.tanh(u), shape, places) + np.eye(shape[0])
    return partials * _rests(xp, u, shape, places)


def constrain_cholesky(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """log|J| = sum_{j < i} (1 + (i - j - 1) / 2) log(1 - z_ij^2)."""
    rows, columns = places = strictly_lower_by_rows(shape[0])
    log_jacobian = (1.0 + 0.5 * (rows - columns - 1)) * _log_one_minus_squared_tanh(xp, u)
    return _factor(xp, u, shape, places), log_jacobian


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """X = L L' with log|J| = sum_{j < i} (1 + (K - j - 1) / 2) log(1 - z_ij^2)."""
    _, columns = places = strictly_lower_by_columns(shape[0])
    log_jacobian = (1.0 + 0.5 * (shape[0] - columns - 2)) * _log_one_minus_squared_tanh(xp, u)
    return squared(xp, _factor(xp, u, shape, places)), log_jacobian


def _partial_correlations(xp: Namespace, factor: Array, places: Places) -> Array:
    """u = artanh(z) = arsinh(L_ij / sqrt(sum_{j' > j} L_ij'^2)), free of cancellation near |z| = 1."""
    squares = factor * factor
    from_here_on = flip(xp, xp.np.cumsum(flip(xp, squares, -1), axis=-1), -1)
    elements = factor[(..., *places)]
    after = from_here_on[(..., places[0], places[1] + 1)]
    return xp.np.arcsinh(elements / xp.np.sqrt(after))


def unconstrain_cholesky(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    return _partial_correlations(xp, x, strictly_lower_by_rows(shape[0]))


def unconstrain(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    return _partial_correlations(xp, cholesky_decompose(xp, x), strictly_lower_by_columns(shape[0]))


UNIT_ROWS = of_length_one("is not the factor of a correlation matrix")

CHOLESKY_FACTOR_CORR = constraint(
    keyword="cholesky_factor_corr",
    meaning="the lower triangular factor, with positive diagonal, of a correlation matrix",
    free_shape=lambda shape: (shape[0] * (shape[0] - 1) // 2,),
    constrain=constrain_cholesky,
    unconstrain=unconstrain_cholesky,
    interval=(-1.0, 1.0),
    conditions=(LOWER_TRIANGULAR, POSITIVE_DIAGONAL, UNIT_ROWS),
    value="matrix",
    sizes=(1,),
    page=ConstraintPage(
        "cholesky_factor_corr[K] x;",
        "K * (K - 1) // 2",
        (
            "z = tanh(u); row by row below the diagonal",
            "x[i, j] = z[i, j] * prod(l < j, sqrt(1 - z[i, l] ^ 2))",
            "x[i, i] = prod(l < i, sqrt(1 - z[i, l] ^ 2))",
        ),
        "sum(j < i, (1 + (i - j - 1) / 2) * log(1 - z[i, j] ^ 2))",
        (2, 2),
    ),
)

CORR_MATRIX = constraint(
    keyword="corr_matrix",
    meaning="a symmetric positive definite matrix with unit diagonal",
    free_shape=lambda shape: (shape[0] * (shape[0] - 1) // 2,),
    constrain=constrain,
    unconstrain=unconstrain,
    interval=(-1.0, 1.0),
    conditions=(SYMMETRIC, UNIT_DIAGONAL, POSITIVE_DEFINITE),
    value="matrix",
    sizes=(1,),
    page=ConstraintPage(
        "corr_matrix[K] x;",
        "K * (K - 1) // 2",
        (
            "x = L * L'; with L as for cholesky_factor_corr",
            "z = tanh(u); column by column below the diagonal",
        ),
        "sum(j < i, (1 + (K - j - 1) / 2) * log(1 - z[i, j] ^ 2))",
        (2, 2),
    ),
)
