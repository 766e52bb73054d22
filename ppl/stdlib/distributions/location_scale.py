"""Functions of (y - mu) / sigma from functions of the standard variable."""

from collections.abc import Callable
from typing import Any

from ppl.arrays import Array, Namespace
from ppl.stdlib.reals import reals
from ppl.stdlib.record import guarded


def location_scale(standard: Callable[..., Any]) -> Callable[..., Any]:
    """The function of (y, mu, sigma, *shapes) that is `standard(xp, z, *shapes)` of z = (y - mu) / sigma."""

    @reals
    def function(xp: Namespace, y: Array, mu: Array, sigma: Array, *shapes: Array) -> Array:
        return guarded(xp, sigma > 0, standard(xp, (y - mu) / sigma, *shapes))

    return function
