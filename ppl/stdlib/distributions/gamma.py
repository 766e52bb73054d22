"""The gamma distribution and the chi-square, which is gamma(nu / 2, 1 / 2).

Stan Functions Reference, "Gamma distribution" and "Chi-square distribution".
"""

import math

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import above_zero, positive
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Constant, Impl, continuous, guarded, supported
from ppl.stdlib.special.incomplete_gamma import BELOW, log_gamma_kernel


@with_partials(
    lambda xp, ans, y, alpha, beta: (alpha - 1.0) / y - beta,
    lambda xp, ans, y, alpha, beta: xp.np.log(beta) + xp.np.log(y) - xp.special.digamma(alpha),
    lambda xp, ans, y, alpha, beta: alpha / beta - y,
)
def log_density(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    log_y = xp.np.log(y)
    value = log_gamma_kernel(xp, alpha, log_y + xp.np.log(beta)) - log_y
    return guarded(xp, (alpha > 0) & (beta > 0), supported(xp, y > 0, value))


CDFS = above_zero(positive, lambda xp, tail, y, alpha, beta: tail(xp, alpha, beta * y), *BELOW)


def _chi_square(of_gamma: Impl) -> Impl:
    return lambda xp, y, nu: of_gamma(xp, y, 0.5 * nu, 0.5)


DEGREES_TERM: Constant = (
    ("nu",),
    lambda xp, nu: -0.5 * nu * math.log(2.0) - xp.special.gammaln(0.5 * nu),
)


GAMMA = continuous(
    name="gamma",
    meaning="gamma with shape alpha and inverse scale beta",
    args=(("y", "positive"), ("alpha", "positive"), ("beta", "positive")),
    log_density=log_density,
    cdfs=CDFS,
    rng=lambda rng, alpha, beta: rng.gamma(alpha, np.divide(1.0, beta)),
    constants=(
        (("alpha",), lambda xp, alpha: -xp.special.gammaln(alpha)),
        (("alpha", "beta"), lambda xp, alpha, beta: alpha * xp.np.log(beta)),
        (("y", "alpha"), lambda xp, y, alpha: (alpha - 1.0) * xp.np.log(y)),
        (("y", "beta"), lambda xp, y, beta: -beta * y),
    ),
    moments=Moments("alpha / beta", "alpha / beta ^ 2", beyond="y / beta"),
)

CHI_SQUARE = continuous(
    name="chi_square",
    meaning="chi-square with nu degrees of freedom",
    args=(("y", "positive"), ("nu", "positive")),
    log_density=_chi_square(log_density),
    cdfs=tuple(map(_chi_square, CDFS)),
    rng=lambda rng, nu: rng.chisquare(nu),
    constants=(DEGREES_TERM, (("y",), lambda xp, y: -0.5 * y)),
    moments=Moments("nu", "2 * nu", beyond="2 * y"),
)
