"""The Wishart distribution of positive definite matrices and of their Cholesky factors.

Stan Functions Reference, "Wishart distribution" and "Wishart distribution, Cholesky Parameterization".
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.constraints.layout import squared
from ppl.stdlib.distributions.quadratic_form import (
    diagonal,
    lifted,
    log_determinant,
    log_diagonal,
    log_multivariate_gamma,
    trace,
)
from ppl.stdlib.functions.solves import solve
from ppl.stdlib.moments import Moments, each
from ppl.stdlib.record import Distribution, Relation, guarded
from ppl.stdlib.special.constants import LOG_TWO


def log_normaliser(xp: Namespace, nu: Array, size: int) -> Array:
    """The terms that depend on nu alone; nan unless nu > K - 1."""
    valid = nu > size - 1.0
    nu = xp.np.where(valid, nu, float(size))
    return guarded(xp, valid, -0.5 * nu * size * LOG_TWO - log_multivariate_gamma(xp, size, 0.5 * nu))


def log_jacobian(xp: Namespace, lower: Array, power: float) -> Array:
    """log |d (L L') / d L| = K log 2 + sum_k (K - k + 1) log L_kk, and `power` more of every log L_kk."""
    size = lower.shape[-1]
    powers = lifted(xp, power, 1) + np.arange(size, 0, -1)
    return size * LOG_TWO + xp.np.sum(powers * xp.np.log(diagonal(xp, lower)), axis=-1)


def log_density(xp: Namespace, w: Array, nu: Array, scale: Array) -> Array:
    size = w.shape[-1]
    return (
        log_normaliser(xp, nu, size)
        + 0.5 * (nu - size - 1.0) * log_determinant(xp, w)
        - 0.5 * nu * log_determinant(xp, scale)
        - 0.5 * trace(xp, solve(xp, scale, w))
    )


def cholesky_log_density(xp: Namespace, lower: Array, nu: Array, scale: Array) -> Array:
    size = lower.shape[-1]
    return (
        log_normaliser(xp, nu, size)
        + log_jacobian(xp, lower, nu - size - 1.0)
        - nu * log_diagonal(xp, scale)
        - 0.5 * xp.np.sum(solve(xp, scale, lower) ** 2, axis=(-2, -1))
    )


def cholesky_rng(rng: np.random.Generator, nu: Any, scale: Any) -> Any:
    """Bartlett's decomposition."""
    size = np.shape(scale)[-1]
    lead = np.broadcast_shapes(np.shape(nu), np.shape(scale)[:-2])
    below = np.tril(rng.standard_normal((*lead, size, size)), -1)
    squares = rng.chisquare(lifted(NUMPY, nu, 1) - np.arange(size), (*lead, size))
    return np.matmul(scale, np.where(np.eye(size) == 1.0, np.sqrt(squares)[..., None, :], below))


def rng(rng: np.random.Generator, nu: Any, scale: Any) -> Any:
    return squared(NUMPY, cholesky_rng(rng, nu, np.linalg.cholesky(scale)))


def cholesky_nu_term(xp: Namespace, nu: Array, lower: Array) -> Array:
    """Stan drops no more than this of the two Cholesky parameterizations."""
    size = np.shape(lower)[-1]
    return log_normaliser(xp, nu, size) + size * LOG_TWO


WISHART = Distribution(
    name="wishart",
    meaning="the scatter matrix of nu normal vectors with covariance S",
    signatures=("matrix | real, matrix",),
    args=(("W", "cov_matrix"), ("nu", "positive"), ("S", "cov_matrix")),
    log_density=log_density,
    rng=rng,
    rng_signatures=("(real, matrix) => matrix",),
    relations=(
        Relation("nu", "greater than K - 1 for K rows", lambda nu, scale: nu > np.shape(scale)[-1] - 1),
    ),
    constants=(
        (("nu",), lambda xp, nu, w: log_normaliser(xp, nu, np.shape(w)[-1]), ("W",)),
        (("nu", "S"), lambda xp, nu, scale: -0.5 * nu * log_determinant(xp, scale)),
        (("W", "nu"), lambda xp, w, nu: 0.5 * (nu - w.shape[-1] - 1.0) * log_determinant(xp, w)),
        (("W", "S"), lambda xp, w, scale: -0.5 * trace(xp, solve(xp, scale, w))),
    ),
    moments=each("nu * S", "nu * (S .* S + diagonal(S) * diagonal(S)')"),
)

WISHART_CHOLESKY = replace(
    WISHART,
    name="wishart_cholesky",
    meaning="the Cholesky factor of a matrix that is wishart(nu, L_S L_S')",
    args=(("L_W", "cholesky_factor_cov"), ("nu", "positive"), ("L_S", "cholesky_factor_cov")),
    log_density=cholesky_log_density,
    rng=cholesky_rng,
    constants=((("nu",), cholesky_nu_term, ("L_W",)),),
    moments=Moments(without="the mean of a Cholesky factor has no closed form here"),
)
