"""The multivariate normal distribution by covariance, precision or Cholesky factor.

Stan Functions Reference, "Multivariate normal distribution" and its precision and Cholesky
parameterizations.  Adjoints: Petersen and Pedersen, "The Matrix Cookbook", sections 2.1, 2.2 and 8.1.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, Node, Vjp, row_sums, with_vjps
from ppl.stdlib.distributions.quadratic_form import (
    factor,
    inverse,
    lifted,
    log_diagonal,
    solve_factored,
    solve_lower,
    solve_lower_transposed,
    solve_vectors,
    weighted,
    weighted_outer,
)
from ppl.stdlib.functions.products import vector_matrix
from ppl.stdlib.moments import together
from ppl.stdlib.record import Constant, Distribution, Impl
from ppl.stdlib.special.constants import LOG_TWO_PI


def _matrix_vector(xp: Namespace, matrix: Array, d: Array) -> Array:
    return xp.np.matmul(matrix, d[..., None])[..., 0]


def _by_mean(score: Impl, matrix_adjoint: Vjp) -> Callable[[Impl], Node]:
    """Make a density of y - mu and a matrix a node, of slope score(xp, matrix, y - mu) in mu."""

    def mu_adjoint(xp: Namespace, g: Array, ans: Array, y: Array, mu: Array, matrix: Array) -> Array:
        return lifted(xp, g, 1) * score(xp, matrix, y - mu)

    return with_vjps(lambda *args: -mu_adjoint(*args), mu_adjoint, matrix_adjoint)


def _covariance_adjoint(xp: Namespace, g: Array, ans: Array, y: Array, mu: Array, sigma: Array) -> Array:
    precision = inverse(xp, sigma)
    v = vector_matrix(xp, y - mu, precision)
    return 0.5 * (weighted_outer(xp, g, v, v, sigma) - weighted(xp, g, precision))


@_by_mean(solve_vectors, _covariance_adjoint)
def log_density(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
    return cholesky_log_density.value(xp, y, mu, factor(xp, sigma))


def _factor_adjoint(xp: Namespace, g: Array, ans: Array, y: Array, mu: Array, lower: Array) -> Array:
    z = solve_lower(xp, lower, y - mu)
    pull = weighted_outer(xp, g, solve_lower_transposed(xp, lower, z), z, lower)
    eye = np.eye(lower.shape[-1])
    return xp.np.tril(pull) - weighted(xp, g, eye / (lower * eye + (1.0 - eye)))


@_by_mean(solve_factored, _factor_adjoint)
def cholesky_log_density(xp: Namespace, y: Array, mu: Array, lower: Array) -> Array:
    z = solve_lower(xp, lower, y - mu)
    return -0.5 * row_sums(xp, z * z) - log_diagonal(xp, lower) - 0.5 * z.shape[-1] * LOG_TWO_PI


def _precision_adjoint(xp: Namespace, g: Array, ans: Array, y: Array, mu: Array, omega: Array) -> Array:
    d = y - mu
    return 0.5 * (weighted(xp, g, inverse(xp, omega)) - weighted_outer(xp, g, d, d, omega))


@_by_mean(_matrix_vector, _precision_adjoint)
def precision_log_density(xp: Namespace, y: Array, mu: Array, omega: Array) -> Array:
    lower = factor(xp, omega)
    z = _matrix_vector(xp, xp.np.swapaxes(lower, -1, -2), y - mu)
    return -0.5 * row_sums(xp, z * z) + log_diagonal(xp, lower) - 0.5 * z.shape[-1] * LOG_TWO_PI


def cholesky_rng(rng: np.random.Generator, mu: Any, lower: Any) -> Any:
    z = rng.standard_normal(np.broadcast_shapes(np.shape(mu), np.shape(lower)[:-1]))
    return mu + np.matmul(lower, z[..., None])[..., 0]


LOG_TWO_PI_TERM: Constant = ((), lambda xp, y: -0.5 * y.shape[-1] * LOG_TWO_PI, ("y",))
SIGNATURES = ("vectors | vectors, matrix",)
RNG_SIGNATURES = (
    "(vector, matrix) => vector",
    "(row_vector, matrix) => vector",
    "(array[] vector, matrix) => array[] vector",
    "(array[] row_vector, matrix) => array[] vector",
)

MULTI_NORMAL = Distribution(
    name="multi_normal",
    meaning="multivariate normal with mean mu and covariance Sigma",
    signatures=SIGNATURES,
    args=(("y", "real"), ("mu", "real"), ("Sigma", "cov_matrix")),
    log_density=log_density,
    rng=lambda rng, mu, sigma: cholesky_rng(rng, mu, np.linalg.cholesky(sigma)),
    rng_signatures=RNG_SIGNATURES,
    constants=(LOG_TWO_PI_TERM, (("Sigma",), lambda xp, sigma: -log_diagonal(xp, factor(xp, sigma)))),
    moments=together("mu", "Sigma"),
)

MULTI_NORMAL_CHOLESKY = replace(
    MULTI_NORMAL,
    name="multi_normal_cholesky",
    meaning="multivariate normal with mean mu and covariance L L'",
    args=(("y", "real"), ("mu", "real"), ("L", "cholesky_factor_cov")),
    log_density=cholesky_log_density,
    rng=cholesky_rng,
    constants=(LOG_TWO_PI_TERM, (("L",), lambda xp, lower: -log_diagonal(xp, lower))),
    moments=together("mu", "L * L'"),
)

MULTI_NORMAL_PREC = Distribution(
    name="multi_normal_prec",
    meaning="multivariate normal with mean mu and precision Omega",
    signatures=SIGNATURES,
    args=(("y", "real"), ("mu", "real"), ("Omega", "cov_matrix")),
    log_density=precision_log_density,
    constants=(LOG_TWO_PI_TERM, (("Omega",), lambda xp, omega: log_diagonal(xp, factor(xp, omega)))),
    moments=together("mu", "inverse(Omega)"),
)
