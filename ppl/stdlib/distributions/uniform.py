"""The uniform distribution.  Stan Functions Reference, "Uniform distribution"."""

import math

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Relation, continuous, guarded, supported


@with_partials(
    lambda xp, ans, y, alpha, beta: 0.0,
    lambda xp, ans, y, alpha, beta: 1.0 / (beta - alpha),
    lambda xp, ans, y, alpha, beta: 1.0 / (alpha - beta),
)
def log_density(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    value = -xp.np.log(beta - alpha)
    return guarded(xp, alpha < beta, supported(xp, (alpha <= y) & (y <= beta), value))


def cdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    fraction = xp.np.clip((y - alpha) / (beta - alpha), 0.0, 1.0)
    return guarded(xp, alpha < beta, fraction)


def lcdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    return guarded(xp, alpha < beta, _log_clipped(xp, (y - alpha) / (beta - alpha)))


def lccdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
    return guarded(xp, alpha < beta, _log_clipped(xp, (beta - y) / (beta - alpha)))


def _log_clipped(xp: Namespace, fraction: Array) -> Array:
    inside = (fraction > 0.0) & (fraction < 1.0)
    return xp.np.where(
        inside,
        xp.np.log(xp.np.where(inside, fraction, 1.0)),
        xp.np.where(fraction > 0.0, 0.0, -math.inf),
    )


UNIFORM = continuous(
    name="uniform",
    meaning="uniform between alpha and beta",
    args=(("y", "real"), ("alpha", "real"), ("beta", "real")),
    log_density=log_density,
    cdfs=(cdf, lcdf, lccdf),
    rng=lambda rng, alpha, beta: rng.uniform(alpha, beta),
    relations=(Relation("beta", "greater than alpha", lambda alpha, beta: beta > alpha),),
    constants=((("alpha", "beta"), lambda xp, alpha, beta: -xp.np.log(beta - alpha)),),
    moments=Moments("(alpha + beta) / 2", "(beta - alpha) ^ 2 / 12", beyond="(y - alpha) * (beta - y) / 2"),
)
