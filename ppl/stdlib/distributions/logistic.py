"""The logistic distribution.  Stan Functions Reference, "Logistic distribution"."""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions.location_scale import location_scale
from ppl.stdlib.reals import reals
from ppl.stdlib.record import Distribution, validity
from ppl.stdlib.special.log_add import expit, softplus


@reals
@with_partials(
    lambda xp, ans, y, mu, sigma: -xp.np.tanh(0.5 * (y - mu) / sigma) / sigma,
    lambda xp, ans, y, mu, sigma: xp.np.tanh(0.5 * (y - mu) / sigma) / sigma,
    lambda xp, ans, y, mu, sigma: (((y - mu) / sigma) * xp.np.tanh(0.5 * (y - mu) / sigma) - 1.0) / sigma,
)
def log_density(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
    distance = xp.np.abs((y - mu) / sigma)
    value = -distance - 2.0 * xp.np.log1p(xp.np.exp(-distance)) - xp.np.log(sigma)
    return value + validity(xp, sigma > 0)


def standard_cdf(xp: Namespace, z: Array) -> Array:
    return expit(xp, z)


def standard_lcdf(xp: Namespace, z: Array) -> Array:
    return -softplus(xp, -z)


def standard_lccdf(xp: Namespace, z: Array) -> Array:
    return -softplus(xp, z)


def rng(rng: np.random.Generator, mu: Any, sigma: Any) -> Any:
    return rng.logistic(mu, sigma)


LOGISTIC = Distribution(
    name="logistic",
    meaning="logistic with location mu and scale sigma",
    discrete=False,
    signatures=("reals | reals, reals",),
    args=(("y", "real"), ("mu", "real"), ("sigma", "positive")),
    log_density=log_density,
    cdf=location_scale(standard_cdf),
    lcdf=location_scale(standard_lcdf),
    lccdf=location_scale(standard_lccdf),
    rng=rng,
    constants=((("sigma",), lambda xp, sigma: -xp.np.log(sigma)),),
)

FAMILIES = (LOGISTIC,)
