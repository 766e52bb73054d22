"""The Bernoulli distribution by its chance of success or its log-odds.

Stan Functions Reference, "Bernoulli distribution" and "Bernoulli distribution, logit parameterization".
"""

from ppl.arrays import Array, Namespace, with_partials
from ppl.late import special
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution, guarded, supported
from ppl.stdlib.special.counts import per
from ppl.stdlib.special.log_add import expit, softplus


def _is_chance(theta: Array) -> Array:
    return (theta >= 0) & (theta <= 1)


def _is_outcome(y: Array) -> Array:
    return (y == 0) | (y == 1)


@with_partials(None, lambda xp, ans, y, theta: per(xp, y, theta) - per(xp, 1 - y, 1.0 - theta))
def log_density(xp: Namespace, y: Array, theta: Array) -> Array:
    value = xp.special.xlogy(y, theta) + xp.special.xlog1py(1 - y, -theta)
    return guarded(xp, _is_chance(theta), supported(xp, _is_outcome(y), value))


@with_partials(None, lambda xp, ans, y, theta: xp.np.where(y == 0, -1.0, 0.0))
def cdf(xp: Namespace, y: Array, theta: Array) -> Array:
    value = xp.np.where(y < 0, 0.0, xp.np.where(y == 0, 1.0 - theta, 1.0))
    return guarded(xp, _is_chance(theta), value)


@with_partials(None, lambda xp, ans, y, theta: xp.np.where(y == 0, xp.np.divide(1.0, theta - 1.0), 0.0))
def lcdf(xp: Namespace, y: Array, theta: Array) -> Array:
    value = xp.np.where(y == 0, xp.np.log1p(-theta), 0.0)
    return guarded(xp, _is_chance(theta), supported(xp, y >= 0, value))


@with_partials(None, lambda xp, ans, y, theta: xp.np.where(y == 0, xp.np.divide(1.0, theta), 0.0))
def lccdf(xp: Namespace, y: Array, theta: Array) -> Array:
    value = xp.np.where(y == 0, xp.np.log(theta), 0.0)
    return guarded(xp, _is_chance(theta), supported(xp, y < 1, value))


def _sign(y: Array) -> Array:
    return 2.0 * y - 1.0


@with_partials(None, lambda xp, ans, y, alpha: _sign(y) * expit(xp, -_sign(y) * alpha))
def logit_log_density(xp: Namespace, y: Array, alpha: Array) -> Array:
    return supported(xp, _is_outcome(y), 0.0) - softplus(xp, -_sign(y) * alpha)


BERNOULLI = Distribution(
    name="bernoulli",
    meaning="one with chance theta, otherwise zero",
    signatures=("ints | reals",),
    args=(("y", "binary"), ("theta", "unit_interval")),
    log_density=log_density,
    cdfs=(cdf, lcdf, lccdf),
    rng=lambda rng, theta: rng.binomial(1, theta),
    moments=Moments("theta", "theta * (1 - theta)"),
)

BERNOULLI_LOGIT = Distribution(
    name="bernoulli_logit",
    meaning="one with log-odds alpha, otherwise zero",
    signatures=("ints | reals",),
    args=(("y", "binary"), ("alpha", "real")),
    log_density=logit_log_density,
    rng=lambda rng, alpha: rng.binomial(1, special.expit(alpha)),
    moments=Moments("inv_logit(alpha)", "inv_logit(alpha) * inv_logit(-alpha)"),
)
