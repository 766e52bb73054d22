"""The Cauchy distribution.  Stan Functions Reference, "Cauchy distribution"."""

import math

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.cumulative import LOG_SCALE, location_scale
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import continuous, validity
from ppl.stdlib.special.constants import LOG_PI
from ppl.stdlib.special.log_add import log_probability


@with_partials(
    lambda xp, ans, y, mu, sigma: 2.0 * (mu - y) / (sigma**2 + (y - mu) ** 2),
    lambda xp, ans, y, mu, sigma: 2.0 * (y - mu) / (sigma**2 + (y - mu) ** 2),
    lambda xp, ans, y, mu, sigma: ((y - mu) ** 2 - sigma**2) / (sigma * (sigma**2 + (y - mu) ** 2)),
)
def log_density(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
    z = (y - mu) / sigma
    return validity(xp, sigma > 0) - xp.np.log1p(z * z) - xp.np.log(sigma) - LOG_PI


def standard_cdf(xp: Namespace, z: Array) -> Array:
    """The angle of (-z, 1) over pi; unlike 1/2 + arctan(z) / pi it keeps its digits in the left tail."""
    return xp.np.arctan2(1.0, -z) / math.pi


def standard_lcdf(xp: Namespace, z: Array) -> Array:
    return log_probability(xp, standard_cdf(xp, z), standard_cdf(xp, -z))


CAUCHY = continuous(
    name="cauchy",
    meaning="Cauchy with location mu and scale sigma",
    args=(("y", "real"), ("mu", "real"), ("sigma", "positive")),
    log_density=log_density,
    cdfs=location_scale(standard_cdf, standard_lcdf, lambda xp, z: standard_lcdf(xp, -z)),
    rng=lambda rng, mu, sigma: mu + sigma * rng.standard_cauchy(np.broadcast(mu, sigma).shape),
    constants=(((), lambda xp: -LOG_PI), LOG_SCALE),
    moments=Moments(without="the integral of its mean does not converge"),
)
