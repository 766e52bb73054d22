"""The multivariate Student-t distribution by scale matrix or its Cholesky factor.

Stan Functions Reference, "Multivariate Student-t distribution" and its Cholesky parameterization.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.distributions.multi_normal import RNG_SIGNATURES
from ppl.stdlib.distributions.quadratic_form import (
    lifted,
    log_determinant,
    log_diagonal,
    quadratic,
    whitened_square,
)
from ppl.stdlib.moments import together
from ppl.stdlib.record import Distribution, guarded
from ppl.stdlib.special.constants import LOG_PI, LOG_TWO_PI
from ppl.stdlib.special.log_gamma_ratio import log_rise


def log_density(xp: Namespace, y: Array, nu: Array, mu: Array, sigma: Array) -> Array:
    square = quadratic(xp, y - mu, sigma)
    return _tail(xp, square, nu, np.shape(y)[-1]) - 0.5 * log_determinant(xp, sigma)


def cholesky_log_density(xp: Namespace, y: Array, nu: Array, mu: Array, lower: Array) -> Array:
    square = whitened_square(xp, y - mu, lower)
    return _tail(xp, square, nu, np.shape(y)[-1]) - log_diagonal(xp, lower)


def _tail(xp: Namespace, square: Array, nu: Array, size: int) -> Array:
    """All but the determinant; the normal limit at nu = infinity."""
    normal = -0.5 * (square + size * LOG_TWO_PI)
    limit = xp.plain(nu) == np.inf
    nu = xp.np.where(limit, 1.0, nu)
    value = (
        log_rise(xp, 0.5 * nu, 0.5 * size)
        - 0.5 * size * xp.np.log(math.pi * nu)
        - 0.5 * (nu + size) * xp.np.log1p(square / nu)
    )
    return guarded(xp, nu > 0, xp.np.where(limit, normal, value))


def cholesky_rng(rng: np.random.Generator, nu: Any, mu: Any, lower: Any) -> Any:
    shape = np.broadcast_shapes(np.shape(mu), np.shape(lower)[:-1], (*np.shape(nu), 1))
    half, scale = lifted(NUMPY, 0.5 * nu, 1), lifted(NUMPY, 2.0 / nu, 1)
    z = rng.standard_normal(shape) / np.sqrt(rng.gamma(half, scale, (*shape[:-1], 1)))
    return mu + np.matmul(lower, z[..., None])[..., 0]


def _nu_term(xp: Namespace, nu: Array, y: Array) -> Array:
    half = 0.5 * np.shape(y)[-1]
    return log_rise(xp, 0.5 * nu, half) - half * xp.np.log(nu)


CONSTANTS = (((), lambda xp, y: -0.5 * np.shape(y)[-1] * LOG_PI, ("y",)), (("nu",), _nu_term, ("y",)))

MULTI_STUDENT_T = Distribution(
    name="multi_student_t",
    meaning="multivariate Student-t with nu degrees of freedom, location mu and scale matrix Sigma",
    signatures=("vectors | real, vectors, matrix",),
    args=(("y", "real"), ("nu", "positive"), ("mu", "real"), ("Sigma", "cov_matrix")),
    log_density=log_density,
    rng=lambda rng, nu, mu, sigma: cholesky_rng(rng, nu, mu, np.linalg.cholesky(sigma)),
    rng_signatures=tuple(s.replace("(", "(real, ", 1) for s in RNG_SIGNATURES),
    constants=(*CONSTANTS, (("Sigma",), lambda xp, sigma: -0.5 * log_determinant(xp, sigma))),
    moments=together("mu", "nu / (nu - 2) * Sigma", "nu > 1", "nu > 2"),
)

MULTI_STUDENT_T_CHOLESKY = replace(
    MULTI_STUDENT_T,
    name="multi_student_t_cholesky",
    meaning="multivariate Student-t with nu degrees of freedom, location mu and scale matrix L L'",
    args=(("y", "real"), ("nu", "positive"), ("mu", "real"), ("L", "cholesky_factor_cov")),
    log_density=cholesky_log_density,
    rng=cholesky_rng,
    constants=(*CONSTANTS, (("L",), lambda xp, lower: -log_diagonal(xp, lower))),
    moments=together("mu", "nu / (nu - 2) * (L * L')", "nu > 1", "nu > 2"),
)
