"""(cdf, lcdf, lccdf) of a family, from those of a standard variable or from one of them; terms they share."""

import math
from functools import partial
from typing import Any

from ppl.arrays import Array, Namespace
from ppl.stdlib.record import Constant, Impl, guarded
from ppl.stdlib.special.log_add import log1m_exp

LOG_SCALE: Constant = (("sigma",), lambda xp, sigma: -xp.np.log(sigma))
"""The term of a scale in the log density."""


def location_scale(*standard: Impl) -> tuple[Impl, ...]:
    """Functions of (y, mu, sigma, *shapes) that are `standard(xp, z, *shapes)` of z = (y - mu) / sigma."""

    def scaled(standard: Impl) -> Impl:
        def function(xp: Namespace, y: Array, mu: Array, sigma: Array, *shapes: Array) -> Array:
            return guarded(xp, sigma > 0, standard(xp, (y - mu) / sigma, *shapes))

        return function

    return tuple(map(scaled, standard))


AT_ENDS = (0.0, -math.inf, 0.0), (1.0, 0.0, -math.inf)
"""The three below the support, and above it."""


def above_zero(valid: Impl, of: Impl, *tails: Impl, inside: Impl = lambda y: y > 0) -> tuple[Impl, ...]:
    """Functions of (y, *args) that are `of(xp, tail, y, *args)` for y > 0, where `valid(*args)`."""

    def through(tail: Impl, below: float) -> Impl:
        def function(xp: Namespace, y: Array, *args: Any) -> Array:
            within = inside(y)
            value = of(xp, tail, xp.np.where(within, y, 1.0), *args)
            return guarded(xp, valid(*args), xp.np.where(within, value, below))

        return function

    return tuple(map(through, tails, AT_ENDS[0]))


from_zero = partial(above_zero, inside=lambda y: y >= 0)
"""The same for y >= 0."""


def of_survival(lccdf: Impl) -> tuple[Impl, ...]:
    """The three, of which the log survival function is 0 as far as the support has not begun."""

    def cdf(xp: Namespace, *args: Array) -> Array:
        return -xp.np.expm1(lccdf(xp, *args))

    def lcdf(xp: Namespace, *args: Array) -> Array:
        log_above = lccdf(xp, *args)
        sure = log_above == 0
        return xp.np.where(sure, -math.inf, log1m_exp(xp, xp.np.where(sure, -1.0, log_above)))

    return cdf, lcdf, lccdf


def positive(a: Array, b: Array) -> Array:
    return (a > 0) & (b > 0)
