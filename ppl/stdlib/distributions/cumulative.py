"""(cdf, lcdf, lccdf) of a family, from those of a standard variable."""

import math
from typing import Any

from ppl.arrays import Array, Namespace
from ppl.stdlib.record import Impl, guarded


def location_scale(*standard: Impl) -> tuple[Impl, ...]:
    """Functions of (y, mu, sigma, *shapes) that are `standard(xp, z, *shapes)` of z = (y - mu) / sigma."""

    def scaled(standard: Impl) -> Impl:
        def function(xp: Namespace, y: Array, mu: Array, sigma: Array, *shapes: Array) -> Array:
            return guarded(xp, sigma > 0, standard(xp, (y - mu) / sigma, *shapes))

        return function

    return tuple(map(scaled, standard))


def above_zero(valid: Impl, of: Impl, *tails: Impl) -> tuple[Impl, ...]:
    """Functions of (y, *args) that are `of(xp, tail, y, *args)` for y > 0, where `valid(*args)`."""

    def through(tail: Impl, at_zero: float) -> Impl:
        def function(xp: Namespace, y: Array, *args: Any) -> Array:
            inside = y > 0
            value = of(xp, tail, xp.np.where(inside, y, 1.0), *args)
            return guarded(xp, valid(*args), xp.np.where(inside, value, at_zero))

        return function

    return tuple(map(through, tails, (0.0, -math.inf, 0.0)))


def positive(a: Array, b: Array) -> Array:
    return (a > 0) & (b > 0)
