"""The LKJ distribution of correlation matrices, of their Cholesky factors, and of covariances.

Lewandowski, Kurowicka and Joe 2009; Stan Functions Reference, "LKJ correlation distribution" and
"Cholesky LKJ correlation distribution".
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.constraints.correlation import constrain_cholesky
from ppl.stdlib.constraints.layout import squared, strictly_lower_by_rows
from ppl.stdlib.distributions import lognormal
from ppl.stdlib.distributions.quadratic_form import diagonal, lifted, log_determinant
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution, guarded

SMALLEST = np.finfo(float).tiny
"""Of the positive numbers in full precision."""


def log_normaliser(xp: Namespace, eta: Array, size: int) -> Array:
    """Minus the log of the integral of |Omega|^(eta - 1) over correlation matrices of that size."""
    k = np.arange(1, size)
    used = xp.np.sum(xp.special.gammaln(lifted(xp, eta, 1) + 0.5 * (size - 1 - k)), axis=-1)
    value = (size - 1) * xp.special.gammaln(eta + 0.5 * (size - 1)) - used
    return guarded(xp, eta > 0, value - 0.25 * size * (size - 1) * math.log(math.pi))


def log_density(xp: Namespace, omega: Array, eta: Array) -> Array:
    value = log_normaliser(xp, eta, omega.shape[-1]) + (eta - 1.0) * log_determinant(xp, omega)
    unit = xp.np.all(xp.np.abs(diagonal(xp, xp.plain(omega)) - 1.0) <= 1e-8, axis=-1)
    return guarded(xp, unit, value)


def cholesky_log_density(xp: Namespace, lower: Array, eta: Array) -> Array:
    """With the Jacobian of L L': powers K - k + 2 eta - 2 of the k-th diagonal entry."""
    size = lower.shape[-1]
    logs = xp.np.log(diagonal(xp, lower)[..., 1:])
    powers = np.arange(size - 2, -1, -1) + lifted(xp, 2.0 * eta - 2.0, 1)
    return log_normaliser(xp, eta, size) + xp.np.sum(powers * logs, axis=-1)


def covariance_log_density(xp: Namespace, y: Array, mu: Array, sigma: Array, eta: Array) -> Array:
    """Standard deviations lognormal(mu, sigma), correlations lkj_corr(eta); deprecated in Stan."""
    scales = xp.np.sqrt(diagonal(xp, y))
    omega = y / (scales[..., :, None] * scales[..., None, :])
    return xp.np.sum(lognormal.log_density(xp, scales, mu, sigma), axis=-1) + log_density(xp, omega, eta)


def cholesky_rng(rng: np.random.Generator, size: int, eta: Any) -> Any:
    """Canonical partial correlations of column j are 2 beta(b, b) - 1 with b = eta + (K - 1 - j) / 2."""
    _, columns = strictly_lower_by_rows(size)
    b = lifted(NUMPY, eta, 1) + 0.5 * (size - 2 - columns)
    difference = _log_gamma_variates(rng, b) - _log_gamma_variates(rng, b)
    u = np.clip(0.5 * difference, -300.0, 300.0)
    return constrain_cholesky(NUMPY, u, (size, size))[0]


def _log_gamma_variates(rng: np.random.Generator, b: Array) -> Array:
    """Logarithms of gamma(b) variates, those that underflow too: their density is as x^(b - 1) there."""
    variates = rng.gamma(b)
    below = variates < SMALLEST
    logs = np.log(np.where(below, SMALLEST, variates))
    if below.any():
        logs[below] -= rng.standard_exponential(np.count_nonzero(below)) / b[below]
    return logs


def _eta_term(xp: Namespace, eta: Array, omega: Array) -> Array:
    return log_normaliser(xp, eta, np.shape(omega)[-1])


LKJ_CORR = Distribution(
    name="lkj_corr",
    meaning="a correlation matrix with density proportional to |Omega|^(eta - 1)",
    signatures=("matrix | real",),
    args=(("Omega", "corr_matrix"), ("eta", "positive")),
    log_density=log_density,
    rng=lambda rng, size, eta: squared(NUMPY, cholesky_rng(rng, size, eta)),
    rng_signatures=("(int, real) => matrix",),
    rng_args=(("K", "positive_count"), ("eta", "positive")),
    constants=((("eta",), _eta_term, ("Omega",)),),
    moments=Moments("identity_matrix(K)"),
)

LKJ_CORR_CHOLESKY = replace(
    LKJ_CORR,
    name="lkj_corr_cholesky",
    meaning="the Cholesky factor of a correlation matrix that is lkj_corr(eta)",
    args=(("L", "cholesky_factor_corr"), ("eta", "positive")),
    log_density=cholesky_log_density,
    rng=cholesky_rng,
    constants=((("eta",), _eta_term, ("L",)),),
    moments=Moments(without="the mean of a Cholesky factor has no closed form here"),
)

LKJ_COV = Distribution(
    name="lkj_cov",
    meaning="a covariance with lognormal(mu, sigma) standard deviations and lkj_corr(eta) correlations",
    signatures=("matrix | vector, vector, real",),
    args=(("y", "cov_matrix"), ("mu", "real"), ("sigma", "positive"), ("eta", "positive")),
    log_density=covariance_log_density,
    moments=Moments(without="it is the prior of a covariance, not a distribution of data"),
)
