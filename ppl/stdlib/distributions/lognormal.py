"""The lognormal distribution.  Stan Functions Reference, "Lognormal distribution"."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions import normal
from ppl.stdlib.reals import reals
from ppl.stdlib.record import Distribution, guarded, supported
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI


@reals
@with_partials(
    lambda xp, ans, y, mu, sigma: ((mu - xp.np.log(y)) / sigma**2 - 1.0) / y,
    lambda xp, ans, y, mu, sigma: (xp.np.log(y) - mu) / sigma**2,
    lambda xp, ans, y, mu, sigma: (((xp.np.log(y) - mu) / sigma) ** 2 - 1.0) / sigma,
)
def log_density(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
    log_y = xp.np.log(y)
    z = (log_y - mu) / sigma
    value = -0.5 * z * z - xp.np.log(sigma) - log_y - HALF_LOG_TWO_PI
    return guarded(xp, sigma > 0, supported(xp, y > 0, value))


def _through(standard: Callable[..., Any], at_zero: float) -> Callable[..., Any]:
    """The function of (y, mu, sigma) that is `standard` of (log y - mu) / sigma, `at_zero` for y <= 0."""

    @reals
    def function(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        inside = y > 0
        z = (xp.np.log(xp.np.where(inside, y, 1.0)) - mu) / sigma
        return guarded(xp, sigma > 0, xp.np.where(inside, standard(xp, z), at_zero))

    return function


def rng(rng: np.random.Generator, mu: Any, sigma: Any) -> Any:
    return rng.lognormal(mu, sigma)


LOGNORMAL = Distribution(
    name="lognormal",
    meaning="the exponential of a normal(mu, sigma)",
    discrete=False,
    signatures=("reals | reals, reals",),
    args=(("y", "nonnegative"), ("mu", "real"), ("sigma", "positive")),
    log_density=log_density,
    cdf=_through(normal.standard_cdf, 0.0),
    lcdf=_through(normal.standard_lcdf, -math.inf),
    lccdf=_through(normal.standard_lccdf, 0.0),
    rng=rng,
    constants=(  # Stan keeps the 2 pi of this one
        (("sigma",), lambda xp, sigma: -xp.np.log(sigma)),
        (("y",), lambda xp, y: -xp.np.log(y)),
    ),
)

FAMILIES = (LOGNORMAL,)
