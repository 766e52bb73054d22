"""The inverse gamma distribution and its two special cases, the inverse chi-squares.

inv_chi_square(nu) is inv_gamma(nu / 2, 1 / 2); scaled_inv_chi_square(nu, s) is inv_gamma(nu / 2, nu s^2 / 2).
Stan Functions Reference, chapter "Positive continuous distributions".
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import above_zero, positive
from ppl.stdlib.distributions.gamma import DEGREES_TERM
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Impl, continuous, guarded, supported
from ppl.stdlib.special.incomplete_gamma import ABOVE, log_gamma_kernel


@with_partials(
    lambda xp, ans, y, alpha, beta: (beta / y - alpha - 1.0) / y,
    lambda xp, ans, y, alpha, beta: xp.np.log(beta) - xp.np.log(y) - xp.special.digamma(alpha),
    lambda xp, ans, y, alpha, beta: alpha / beta - 1.0 / y,
)
def log_density(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    log_y = xp.np.log(y)
    value = log_gamma_kernel(xp, alpha, xp.np.log(beta) - log_y) - log_y
    return guarded(xp, (alpha > 0) & (beta > 0), supported(xp, y > 0, value))


CDFS = above_zero(positive, lambda xp, tail, y, alpha, beta: tail(xp, alpha, beta / y), *ABOVE)


def _inv_chi_square(of_inv_gamma: Impl) -> Impl:
    return lambda xp, y, nu: of_inv_gamma(xp, y, 0.5 * nu, 0.5)


def _scaled(of_inv_gamma: Impl) -> Impl:
    return lambda xp, y, nu, s: guarded(xp, s > 0, of_inv_gamma(xp, y, 0.5 * nu, 0.5 * nu * s * s))


INV_GAMMA = continuous(
    name="inv_gamma",
    meaning="inverse gamma with shape alpha and scale beta",
    args=(("y", "positive"), ("alpha", "positive"), ("beta", "positive")),
    log_density=log_density,
    cdfs=CDFS,
    rng=lambda rng, alpha, beta: np.divide(beta, rng.gamma(alpha, 1.0, np.broadcast(alpha, beta).shape)),
    constants=(
        (("alpha",), lambda xp, alpha: -xp.special.gammaln(alpha)),
        (("alpha", "beta"), lambda xp, alpha, beta: alpha * xp.np.log(beta)),
        (("y", "alpha"), lambda xp, y, alpha: -(alpha + 1.0) * xp.np.log(y)),
        (("y", "beta"), lambda xp, y, beta: -xp.np.divide(beta, y)),
    ),
    moments=Moments(
        "beta / (alpha - 1)",
        "beta ^ 2 / ((alpha - 1) ^ 2 * (alpha - 2))",
        "alpha > 1",
        "alpha > 2",
        beyond="y ^ 2 / (alpha - 1)",
    ),
)

INV_CHI_SQUARE = continuous(
    name="inv_chi_square",
    meaning="inverse chi-square with nu degrees of freedom",
    args=(("y", "positive"), ("nu", "positive")),
    log_density=_inv_chi_square(log_density),
    cdfs=tuple(map(_inv_chi_square, CDFS)),
    rng=lambda rng, nu: np.divide(1.0, rng.chisquare(nu)),
    constants=(DEGREES_TERM, (("y",), lambda xp, y: -xp.np.divide(0.5, y))),
    moments=Moments(
        "1 / (nu - 2)", "2 / ((nu - 2) ^ 2 * (nu - 4))", "nu > 2", "nu > 4", beyond="2 * y ^ 2 / (nu - 2)"
    ),
)

SCALED_INV_CHI_SQUARE = continuous(
    name="scaled_inv_chi_square",
    meaning="scaled inverse chi-square with nu degrees of freedom and scale s",
    args=(("y", "positive"), ("nu", "positive"), ("s", "positive")),
    log_density=_scaled(log_density),
    cdfs=tuple(map(_scaled, CDFS)),
    rng=lambda rng, nu, s: nu * np.square(s) / rng.chisquare(nu, np.broadcast(nu, s).shape),
    constants=(
        (("nu",), lambda xp, nu: 0.5 * nu * xp.np.log(0.5 * nu) - xp.special.gammaln(0.5 * nu)),
        (("nu", "s"), lambda xp, nu, s: nu * xp.np.log(s)),
        (("y", "nu"), lambda xp, y, nu: -(0.5 * nu + 1.0) * xp.np.log(y)),
    ),
    moments=Moments(
        "nu * s ^ 2 / (nu - 2)",
        "2 * nu ^ 2 * s ^ 4 / ((nu - 2) ^ 2 * (nu - 4))",
        "nu > 2",
        "nu > 4",
        beyond="2 * y ^ 2 / (nu - 2)",
    ),
)
