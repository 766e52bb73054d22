"""The negative binomial distribution: by shape and inverse scale, by mean, or by log-mean.

Stan Functions Reference, "Negative binomial distribution" and its two alternative parameterizations.  With
shape phi and mean mu the density is C(y + phi - 1, y) (mu / (mu + phi))^y (phi / (mu + phi))^phi; the first
form has phi = alpha and mu = alpha / beta.

In two parts the term of y and phi is log C(y + phi - 1, y) less (phi + y) log(phi + y) - phi log phi, which
the kernel has: so neither's slope in phi hides that of their sum where phi is large.
"""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.errors import Rejection
from ppl.stdlib.distributions.cumulative import from_zero
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import DensityParts, Distribution, Impl, Relation, guarded, supported
from ppl.stdlib.special.counts import all_positive, of_counts
from ppl.stdlib.special.incomplete_beta import BELOW
from ppl.stdlib.special.log_add import expit, softplus
from ppl.stdlib.special.log_gamma_ratio import digamma_excess, log1p_ratio, log_beta
from ppl.stdlib.special.polynomial import polynomial
from ppl.stdlib.supports import MOST_RATE


def log_coefficient(xp: Namespace, y: Array, shape: Array) -> Array:
    """log C(y + shape - 1, y)."""
    return of_counts(_log_coefficient_each, xp, y, shape)


def _log_coefficient_each(xp: Namespace, y: Array, shape: Array) -> Array:
    y = xp.np.maximum(y, 0)
    return -xp.np.log(shape + y) - log_beta(xp, shape, y + 1.0)


def _kernel_slope(xp: Namespace, gap: Array, log_ratio: Array) -> Array:
    """log1p(gap) - gap, given log_ratio = log1p(gap), which is right also where gap was rounded to -1."""
    series = polynomial([-((-1.0) ** k) / k for k in range(2, 10)], gap)
    return xp.np.where(xp.np.abs(gap) < 0.01, series * gap * gap, log_ratio - gap)


def _term_slope(xp: Namespace, y: Array, shape: Array) -> Array:
    return of_counts(lambda xp, y, shape: digamma_excess(xp, shape, y), xp, y, shape)


@with_partials(
    None,
    lambda xp, ans, y, alpha, beta: (
        digamma_excess(xp, alpha, y) + log1p_ratio(xp, y, alpha) - log1p_ratio(xp, 1.0, beta)
    ),
    lambda xp, ans, y, alpha, beta: (xp.np.divide(alpha, beta) - y) / (1.0 + beta),
)
def log_density(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    value = log_coefficient(xp, y, alpha) - alpha * log1p_ratio(xp, 1.0, beta) - y * xp.np.log1p(beta)
    return guarded(xp, all_positive(alpha, beta), supported(xp, y >= 0, value))


def _x_log_x(xp: Namespace, y: Array, phi: Array) -> Array:
    """(phi + y) log(phi + y) - phi log phi."""
    return (phi + y) * log1p_ratio(xp, y, phi) + y * xp.np.log(phi)


@with_partials(None, None, lambda xp, ans, times, y, phi: times * digamma_excess(xp, phi, y))
def term(xp: Namespace, times: Array, y: Array, phi: Array) -> Array:
    value = _log_coefficient_each(xp, y, phi) - _x_log_x(xp, xp.np.maximum(y, 0), phi)
    return supported(xp, y >= 0, times * value)


@with_partials(
    None,
    lambda xp, ans, y, alpha, beta: log1p_ratio(xp, y, alpha) - log1p_ratio(xp, 1.0, beta),
    lambda xp, ans, y, alpha, beta: (xp.np.divide(alpha, beta) - y) / (1.0 + beta),
)
def kernel(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    value = of_counts(_x_log_x, xp, y, alpha) - alpha * log1p_ratio(xp, 1.0, beta) - y * xp.np.log1p(beta)
    return guarded(xp, all_positive(alpha, beta), value)


def _by_rate(xp: Namespace, tail: Impl, y: Array, alpha: Array, beta: Array) -> Array:
    """P(Y <= y) = I(phi, y + 1, phi / (mu + phi)), of phi = alpha and mu = alpha / beta."""
    chance = xp.np.divide(1.0, 1.0 + beta)
    return tail(xp, alpha, y + 1.0, beta * chance, chance)


def _by_mean(xp: Namespace, tail: Impl, y: Array, mu: Array, phi: Array) -> Array:
    total = mu + phi
    return tail(xp, phi, y + 1.0, xp.np.divide(phi, total), xp.np.divide(mu, total))


def poisson_counts(rng: np.random.Generator, name: str, rate: Any) -> Any:
    """Poisson counts whose rates are gamma variates."""
    if not np.all(rate < MOST_RATE):
        raise Rejection(f"`{name}`: the rate that it drew is {np.max(rate):.8g}, but must be below 2^30.")
    return rng.poisson(rate)


def _mean_slope(xp: Namespace, ans: Array, y: Array, mu: Array, phi: Array) -> Array:
    return xp.np.divide(y - mu, mu) / (1.0 + xp.np.divide(mu, phi))


def _mean_ratio(xp: Namespace, y: Array, mu: Array, phi: Array) -> Array:
    """log((phi + y) / (phi + mu))."""
    return of_counts(log1p_ratio, xp, y, phi) - log1p_ratio(xp, mu, phi)


def _mean_kernel_slope(xp: Namespace, ans: Array, y: Array, mu: Array, phi: Array) -> Array:
    return _kernel_slope(xp, xp.np.divide(y - mu, mu + phi), _mean_ratio(xp, y, mu, phi))


@with_partials(
    None,
    _mean_slope,
    lambda xp, ans, y, mu, phi: _mean_kernel_slope(xp, ans, y, mu, phi) + _term_slope(xp, y, phi),
)
def mean_log_density(xp: Namespace, y: Array, mu: Array, phi: Array) -> Array:
    value = (
        log_coefficient(xp, y, phi)
        - phi * log1p_ratio(xp, mu, phi)
        - xp.special.xlog1py(y, xp.np.divide(phi, mu))
    )
    return guarded(xp, all_positive(mu, phi), supported(xp, y >= 0, value))


@with_partials(None, _mean_slope, _mean_kernel_slope)
def mean_kernel(xp: Namespace, y: Array, mu: Array, phi: Array) -> Array:
    value = xp.special.xlogy(y, mu) + (phi + y) * _mean_ratio(xp, y, mu, phi)
    return guarded(xp, all_positive(mu, phi), value)


def _log_mean_gap(xp: Namespace, y: Array, eta: Array, phi: Array) -> Array:
    """(y - mu) / (mu + phi)."""
    logit = eta - xp.np.log(phi)
    return xp.np.divide(y, phi) * expit(xp, -logit) - expit(xp, logit)


def _log_mean_slope(xp: Namespace, ans: Array, y: Array, eta: Array, phi: Array) -> Array:
    return phi * _log_mean_gap(xp, y, eta, phi)


def _log_mean_ratio(xp: Namespace, y: Array, eta: Array, phi: Array) -> Array:
    return of_counts(log1p_ratio, xp, y, phi) - softplus(xp, eta - xp.np.log(phi))


def _log_mean_kernel_slope(xp: Namespace, ans: Array, y: Array, eta: Array, phi: Array) -> Array:
    return _kernel_slope(xp, _log_mean_gap(xp, y, eta, phi), _log_mean_ratio(xp, y, eta, phi))


@with_partials(
    None,
    _log_mean_slope,
    lambda xp, ans, y, eta, phi: _log_mean_kernel_slope(xp, ans, y, eta, phi) + _term_slope(xp, y, phi),
)
def log_mean_log_density(xp: Namespace, y: Array, eta: Array, phi: Array) -> Array:
    logit = eta - xp.np.log(phi)
    value = log_coefficient(xp, y, phi) - phi * softplus(xp, logit) - y * softplus(xp, -logit)
    return guarded(xp, all_positive(phi), supported(xp, y >= 0, value))


@with_partials(None, _log_mean_slope, _log_mean_kernel_slope)
def log_mean_kernel(xp: Namespace, y: Array, eta: Array, phi: Array) -> Array:
    value = y * eta + (phi + y) * _log_mean_ratio(xp, y, eta, phi)
    return guarded(xp, all_positive(phi), value)


def log_mean_rng(rng: np.random.Generator, eta: Any, phi: Any) -> Any:
    return poisson_counts(rng, "neg_binomial_2_log_rng", rng.gamma(phi, np.divide(np.exp(eta), phi)))


NEG_BINOMIAL = Distribution(
    name="neg_binomial",
    meaning="a Poisson count whose rate is gamma(alpha, beta)",
    signatures=("ints | reals, reals",),
    args=(("y", "count"), ("alpha", "positive"), ("beta", "positive")),
    log_density=log_density,
    cdfs=from_zero(all_positive, _by_rate, *BELOW),
    rng=lambda rng, alpha, beta: poisson_counts(
        rng, "neg_binomial_rng", rng.gamma(alpha, np.divide(1.0, beta))
    ),
    constants=((("y", "alpha"), log_coefficient),),
    parts=DensityParts(kernel, term, ("y", "alpha")),
    moments=Moments("alpha / beta", "alpha * (beta + 1) / beta ^ 2", beyond="y * (beta + 1) / beta"),
)

NEG_BINOMIAL_2 = Distribution(
    name="neg_binomial_2",
    meaning="a count with mean mu and variance mu + mu^2 / phi",
    signatures=("ints | reals, reals",),
    args=(("y", "count"), ("mu", "positive"), ("phi", "positive")),
    log_density=mean_log_density,
    cdfs=from_zero(all_positive, _by_mean, *BELOW),
    rng=lambda rng, mu, phi: poisson_counts(rng, "neg_binomial_2_rng", rng.gamma(phi, np.divide(mu, phi))),
    relations=(
        Relation(
            "mu",
            "such that mu / phi is positive and finite",
            lambda mu, phi: all_positive(np.divide(mu, phi)),
        ),
    ),
    constants=((("y", "phi"), log_coefficient), (("y", "mu"), lambda xp, y, mu: y * xp.np.log(mu))),
    parts=DensityParts(mean_kernel, term, ("y", "phi")),
    moments=Moments("mu", "mu + mu ^ 2 / phi", beyond="y * (mu + phi) / phi"),
)

NEG_BINOMIAL_2_LOG = Distribution(
    name="neg_binomial_2_log",
    meaning="a count with mean exp(eta) and variance exp(eta) + exp(2 eta) / phi",
    signatures=("ints | reals, reals",),
    args=(("y", "count"), ("eta", "real"), ("phi", "positive")),
    log_density=log_mean_log_density,
    rng=log_mean_rng,
    relations=(
        Relation(
            "eta",
            "such that exp(eta) / phi is positive and finite",
            lambda eta, phi: all_positive(np.divide(np.exp(eta), phi)),
        ),
    ),
    constants=((("y", "phi"), log_coefficient), (("y", "eta"), lambda xp, y, eta: y * eta)),
    parts=DensityParts(log_mean_kernel, term, ("y", "phi")),
    moments=Moments("exp(eta)", "exp(eta) + exp(2 * eta) / phi"),
)
