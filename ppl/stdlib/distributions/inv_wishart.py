"""The inverse Wishart distribution of positive definite matrices and of their Cholesky factors.

Stan Functions Reference, "Inverse Wishart distribution" and its Cholesky parameterization.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.constraints.layout import squared
from ppl.stdlib.distributions import wishart
from ppl.stdlib.distributions.quadratic_form import (
    log_determinant,
    log_diagonal,
    log_multivariate_gamma,
    trace,
)
from ppl.stdlib.distributions.wishart import log_jacobian, log_normaliser
from ppl.stdlib.functions.solves import solve
from ppl.stdlib.moments import Moments, each
from ppl.stdlib.special.constants import LOG_TWO


def log_density(xp: Namespace, w: Array, nu: Array, scale: Array) -> Array:
    size = w.shape[-1]
    return (
        log_normaliser(xp, nu, size)
        + 0.5 * nu * log_determinant(xp, scale)
        - 0.5 * (nu + size + 1.0) * log_determinant(xp, w)
        - 0.5 * trace(xp, solve(xp, w, scale))
    )


def cholesky_log_density(xp: Namespace, lower: Array, nu: Array, scale: Array) -> Array:
    size = lower.shape[-1]
    return (
        log_normaliser(xp, nu, size)
        + log_jacobian(xp, lower, -nu - size - 1.0)
        + nu * log_diagonal(xp, scale)
        - 0.5 * xp.np.sum(solve(xp, lower, scale) ** 2, axis=(-2, -1))
    )


def draw(rng: np.random.Generator, nu: Any, scale: Any) -> Any:
    return np.linalg.inv(wishart.rng(rng, nu, np.linalg.inv(scale)))


INV_WISHART = replace(
    wishart.WISHART,
    name="inv_wishart",
    meaning="the inverse of a matrix that is wishart(nu, inverse(S))",
    log_density=log_density,
    rng=draw,
    constants=(
        (("nu",), lambda xp, nu, w: -log_multivariate_gamma(xp, np.shape(w)[-1], 0.5 * nu), ("W",)),
        (("nu", "S"), lambda xp, nu, s: 0.5 * nu * (log_determinant(xp, s) - s.shape[-1] * LOG_TWO)),
        (("W", "S"), lambda xp, w, scale: -0.5 * trace(xp, solve(xp, w, scale))),
    ),
    moments=each(
        "S / (nu - K - 1)",
        "((nu - K + 1) * S .* S + (nu - K - 1) * diagonal(S) * diagonal(S)') "
        "/ ((nu - K) * (nu - K - 1) ^ 2 * (nu - K - 3))",
        "nu > K + 1",
        "nu > K + 3",
    ),
)

INV_WISHART_CHOLESKY = replace(
    wishart.WISHART_CHOLESKY,
    name="inv_wishart_cholesky",
    meaning="the Cholesky factor of a matrix that is inv_wishart(nu, L_S L_S')",
    log_density=cholesky_log_density,
    rng=lambda rng, nu, scale: np.linalg.cholesky(draw(rng, nu, squared(NUMPY, scale))),
    moments=Moments(without="the mean of a Cholesky factor has no closed form here"),
)
