"""The beta distribution, by its two shapes or by mean and precision.

Stan Functions Reference, "Beta distribution" and "Beta proportion distribution".
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import AT_ENDS
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Impl, continuous, guarded, supported
from ppl.stdlib.special.incomplete_beta import BELOW
from ppl.stdlib.special.log_gamma_ratio import digamma_rise, log_beta


@with_partials(
    lambda xp, ans, y, alpha, beta: (alpha - 1.0) / y - (beta - 1.0) / (1.0 - y),
    lambda xp, ans, y, alpha, beta: xp.np.log(y) + digamma_rise(xp, alpha, beta),
    lambda xp, ans, y, alpha, beta: xp.np.log1p(-y) + digamma_rise(xp, beta, alpha),
)
def log_density(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    kernel = xp.special.xlogy(alpha - 1.0, y) + xp.special.xlog1py(beta - 1.0, -y)
    value = kernel - log_beta(xp, alpha, beta)
    return guarded(xp, (alpha > 0) & (beta > 0), supported(xp, (y >= 0) & (y <= 1), value))


def _through(tail: Impl, at_zero: float, at_one: float) -> Impl:
    """The function of (y, alpha, beta) that is `tail` for 0 < y < 1, and constant on either side."""

    def function(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
        inside = (y > 0) & (y < 1)
        x = xp.np.where(inside, y, 0.5)
        outside = xp.np.where(y > 0, at_one, at_zero)
        value = xp.np.where(inside, tail(xp, alpha, beta, x, 1.0 - x), outside)
        return guarded(xp, (alpha > 0) & (beta > 0), value)

    return function


CDFS = tuple(map(_through, BELOW, *AT_ENDS))


def _by_proportion(of_shapes: Impl) -> Impl:
    return lambda xp, y, mu, kappa: of_shapes(xp, y, mu * kappa, (1.0 - mu) * kappa)


BETA = continuous(
    name="beta",
    meaning="beta with shapes alpha and beta",
    args=(("y", "unit_interval"), ("alpha", "positive"), ("beta", "positive")),
    log_density=log_density,
    cdfs=CDFS,
    rng=lambda rng, alpha, beta: rng.beta(alpha, beta),
    constants=(
        (("alpha",), lambda xp, alpha: -xp.special.gammaln(alpha)),
        (("beta",), lambda xp, beta: -xp.special.gammaln(beta)),
        (("alpha", "beta"), lambda xp, alpha, beta: xp.special.gammaln(alpha + beta)),
        (("y", "alpha"), lambda xp, y, alpha: (alpha - 1.0) * xp.np.log(y)),
        (("y", "beta"), lambda xp, y, beta: (beta - 1.0) * xp.np.log1p(-y)),
    ),
    moments=Moments(
        "alpha / (alpha + beta)",
        "alpha * beta / ((alpha + beta) ^ 2 * (alpha + beta + 1))",
        beyond="y * (1 - y) / (alpha + beta)",
    ),
)

BETA_PROPORTION = continuous(
    name="beta_proportion",
    meaning="beta with mean mu and precision kappa",
    args=(("y", "unit_interval"), ("mu", "open_unit"), ("kappa", "positive")),
    log_density=_by_proportion(log_density),
    cdfs=(None, *map(_by_proportion, CDFS[1:])),
    rng=lambda rng, mu, kappa: rng.beta(np.multiply(mu, kappa), np.multiply(np.subtract(1.0, mu), kappa)),
    constants=(
        (("kappa",), lambda xp, kappa: xp.special.gammaln(kappa)),
        (
            ("mu", "kappa"),
            lambda xp, mu, kappa: -xp.special.gammaln(mu * kappa) - xp.special.gammaln((1.0 - mu) * kappa),
        ),
    ),
    moments=Moments("mu", "mu * (1 - mu) / (kappa + 1)", beyond="y * (1 - y) / kappa"),
)
