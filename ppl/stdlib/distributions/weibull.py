"""The Weibull, Fréchet and Rayleigh distributions: powers of an exponential variable.

(y / sigma)^alpha is standard exponential for the Weibull, (y / sigma)^-alpha for the Fréchet, and the
Rayleigh is the Weibull with alpha = 2 and scale sigma sqrt(2).  Stan Functions Reference, chapter "Positive
continuous distributions".
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import above_zero, of_survival, positive
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Impl, continuous, guarded, supported
from ppl.stdlib.special.constants import SQRT_TWO
from ppl.stdlib.special.log_add import log1m_exp


def _log_ratio(xp: Namespace, y: Array, sigma: Array) -> Array:
    """log(y / sigma), of whose two logarithms that of data is the same for all draws."""
    return xp.np.log(y) - xp.np.log(sigma)


def _power(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
    """(y / sigma)^alpha, which costs less by way of a logarithm that is there already."""
    return xp.np.exp(alpha * _log_ratio(xp, y, sigma))


@with_partials(
    lambda xp, ans, y, alpha, sigma: (alpha - 1.0 - alpha * _power(xp, y, alpha, sigma)) / y,
    lambda xp, ans, y, alpha, sigma: (
        1.0 / alpha + _log_ratio(xp, y, sigma) * (1.0 - _power(xp, y, alpha, sigma))
    ),
    lambda xp, ans, y, alpha, sigma: alpha * (_power(xp, y, alpha, sigma) - 1.0) / sigma,
)
def log_density(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
    value = xp.special.xlogy(alpha - 1.0, y) - alpha * xp.np.log(sigma) - _power(xp, y, alpha, sigma)
    return guarded(xp, (alpha > 0) & (sigma > 0), supported(xp, y >= 0, xp.np.log(alpha) + value))


@with_partials(
    lambda xp, ans, y, alpha, sigma: (alpha * _power(xp, y, -alpha, sigma) - alpha - 1.0) / y,
    lambda xp, ans, y, alpha, sigma: (
        1.0 / alpha + _log_ratio(xp, y, sigma) * (_power(xp, y, -alpha, sigma) - 1.0)
    ),
    lambda xp, ans, y, alpha, sigma: alpha * (1.0 - _power(xp, y, -alpha, sigma)) / sigma,
)
def frechet_log_density(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
    value = alpha * xp.np.log(sigma) - (alpha + 1.0) * xp.np.log(y) - _power(xp, y, -alpha, sigma)
    return guarded(xp, (alpha > 0) & (sigma > 0), supported(xp, y > 0, xp.np.log(alpha) + value))


@with_partials(
    lambda xp, ans, y, sigma: 1.0 / y - y / sigma**2,
    lambda xp, ans, y, sigma: ((y / sigma) ** 2 - 2.0) / sigma,
)
def rayleigh_log_density(xp: Namespace, y: Array, sigma: Array) -> Array:
    value = xp.np.log(y) - 2.0 * xp.np.log(sigma) - 0.5 * (y / sigma) ** 2
    return guarded(xp, sigma > 0, supported(xp, y > 0, value))


def lccdf(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
    inside = y > 0
    power = _power(xp, xp.np.where(inside, y, 1.0), alpha, sigma)
    return guarded(xp, positive(alpha, sigma), xp.np.where(inside, -power, 0.0))


CDFS = of_survival(lccdf)
FRECHET_CDFS = above_zero(
    positive,
    lambda xp, tail, y, alpha, sigma: tail(xp, -_power(xp, y, -alpha, sigma)),
    lambda xp, log_p: xp.np.exp(log_p),
    lambda xp, log_p: log_p,
    log1m_exp,
)


def _rayleigh(of_weibull: Impl) -> Impl:
    return lambda xp, y, sigma: of_weibull(xp, y, 2.0, SQRT_TWO * sigma)


WEIBULL = continuous(
    name="weibull",
    meaning="Weibull with shape alpha and scale sigma",
    args=(("y", "nonnegative"), ("alpha", "positive"), ("sigma", "positive")),
    log_density=log_density,
    cdfs=CDFS,
    rng=lambda rng, alpha, sigma: sigma * rng.weibull(alpha, np.broadcast(alpha, sigma).shape),
    constants=(
        (("alpha",), lambda xp, alpha: xp.np.log(alpha)),
        (("y", "alpha"), lambda xp, y, alpha: (alpha - 1.0) * xp.np.log(y)),
        (("alpha", "sigma"), lambda xp, alpha, sigma: -alpha * xp.np.log(sigma)),
    ),
    moments=Moments(
        "sigma * tgamma(1 + 1 / alpha)",
        "sigma ^ 2 * (tgamma(1 + 2 / alpha) - tgamma(1 + 1 / alpha) ^ 2)",
        beyond="sigma * tgamma(1 + 1 / alpha) * (gamma_q(1 + 1 / alpha, (y / sigma) ^ alpha) "
        "- exp(-(y / sigma) ^ alpha)) / exp(weibull_lpdf(y | alpha, sigma))",
    ),
)

FRECHET = continuous(
    name="frechet",
    meaning="Fréchet with shape alpha and scale sigma",
    args=(("y", "positive"), ("alpha", "positive"), ("sigma", "positive")),
    log_density=frechet_log_density,
    cdfs=FRECHET_CDFS,
    rng=lambda rng, alpha, sigma: np.divide(sigma, rng.weibull(alpha, np.broadcast(alpha, sigma).shape)),
    constants=(
        (("alpha",), lambda xp, alpha: xp.np.log(alpha)),
        (("y", "alpha"), lambda xp, y, alpha: -(alpha + 1.0) * xp.np.log(y)),
        (("alpha", "sigma"), lambda xp, alpha, sigma: alpha * xp.np.log(sigma)),
    ),
    moments=Moments(
        "sigma * tgamma(1 - 1 / alpha)",
        "sigma ^ 2 * (tgamma(1 - 2 / alpha) - tgamma(1 - 1 / alpha) ^ 2)",
        "alpha > 1",
        "alpha > 2",
    ),
)

RAYLEIGH = continuous(
    name="rayleigh",
    meaning="Rayleigh with scale sigma",
    args=(("y", "positive"), ("sigma", "positive")),
    log_density=rayleigh_log_density,
    cdfs=tuple(map(_rayleigh, CDFS)),
    rng=lambda rng, sigma: rng.rayleigh(sigma),
    constants=((("sigma",), lambda xp, sigma: -2.0 * xp.np.log(sigma)), (("y",), lambda xp, y: xp.np.log(y))),
    moments=Moments("sigma * sqrt(pi() / 2)", "(4 - pi()) * sigma ^ 2 / 2"),
)
