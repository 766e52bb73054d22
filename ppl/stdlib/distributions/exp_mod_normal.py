"""The exponentially modified normal distribution: a normal plus an independent exponential.

With z = (y - mu) / sigma, v = lambda sigma and B = exp(v^2 / 2 - v z) Phi(z - v) the density is lambda B, the
cdf Phi(z) - B.  Stan Functions Reference, "Exponentially modified normal distribution".
"""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Impl, continuous, guarded
from ppl.stdlib.special.constants import LOG_TWO
from ppl.stdlib.special.log_concave import DEEP_IN_TAIL, log_left_tail
from ppl.stdlib.special.mills import inverse_mills, log_tilted_tail, mills_excess


def log_density(xp: Namespace, y: Array, mu: Array, sigma: Array, rate: Array) -> Array:
    value = xp.np.log(rate) + log_tilted_tail(xp, (y - mu) / sigma, rate * sigma)
    return guarded(xp, (sigma > 0) & (rate > 0), value)


def _in_standard_form(standard: Impl) -> Impl:
    """The function of (y, mu, sigma, lambda) that is `standard(xp, z, v)`."""

    def function(xp: Namespace, y: Array, mu: Array, sigma: Array, rate: Array) -> Array:
        return guarded(xp, (sigma > 0) & (rate > 0), standard(xp, (y - mu) / sigma, rate * sigma))

    return function


def _slopes(xp: Namespace, log_p: Array, z: Array, v: Array) -> tuple[Array, Array]:
    """The derivatives of the cdf in z and v, over exp(log_p)."""
    over_p = xp.np.exp(log_tilted_tail(xp, z, v) - log_p)
    return v * over_p, mills_excess(xp, z - v) * over_p


@with_partials(
    lambda xp, ans, z, v: _slopes(xp, 0.0, z, v)[0],
    lambda xp, ans, z, v: _slopes(xp, 0.0, z, v)[1],
)
def standard_cdf(xp: Namespace, z: Array, v: Array) -> Array:
    return xp.special.ndtr(z) - xp.np.exp(log_tilted_tail(xp, z, v))


@with_partials(
    lambda xp, ans, z, v: _slopes(xp, ans, z, v)[0],
    lambda xp, ans, z, v: _slopes(xp, ans, z, v)[1],
)
def standard_lcdf(xp: Namespace, z: Array, v: Array) -> Array:
    p = standard_cdf(xp, z, v)
    slope = inverse_mills(xp, z - v) - v
    deep = (p < DEEP_IN_TAIL) & (slope > 1.0)
    from_above = xp.np.log1p(-xp.np.exp(standard_lccdf(xp, z, v)))
    value = xp.np.where(p > 0.5, from_above, xp.np.log(xp.np.where(deep, 0.5, p)))

    def tail() -> Array:
        wide = xp.np.asarray(v)[..., None]
        inside = xp.np.where(deep, z, -10.0), xp.np.where(deep, slope, 10.0)
        log_p = log_left_tail(xp, lambda x: xp.np.log(wide) + log_tilted_tail(xp, x, wide), *inside)
        return xp.np.where(deep, log_p, value)

    return xp.rarely(deep, tail, value)


@with_partials(
    lambda xp, ans, z, v: -_slopes(xp, ans, z, v)[0],
    lambda xp, ans, z, v: -_slopes(xp, ans, z, v)[1],
)
def standard_lccdf(xp: Namespace, z: Array, v: Array) -> Array:
    return xp.np.logaddexp(xp.special.log_ndtr(-z), log_tilted_tail(xp, z, v))


def rng(rng: np.random.Generator, mu: Any, sigma: Any, rate: Any) -> Any:
    size = np.broadcast_shapes(np.shape(mu), np.shape(sigma), np.shape(rate))
    return rng.normal(mu, sigma, size) + np.divide(rng.standard_exponential(size), rate)


EXP_MOD_NORMAL = continuous(
    name="exp_mod_normal",
    meaning="a normal(mu, sigma) plus an exponential(lambda)",
    args=(("y", "real"), ("mu", "real"), ("sigma", "positive"), ("lambda", "positive")),
    log_density=log_density,
    cdfs=tuple(map(_in_standard_form, (standard_cdf, standard_lcdf, standard_lccdf))),
    rng=rng,
    constants=(((), lambda xp: -LOG_TWO), (("lambda",), lambda xp, rate: xp.np.log(rate))),
    moments=Moments("mu + 1 / lambda", "sigma ^ 2 + 1 / lambda ^ 2"),
)
