"""The left tail of a log-concave density, in logs."""

from collections.abc import Callable
from functools import cache

import numpy as np

from ppl.arrays import Array, Namespace

LOG_CUTOFF = 40.0
"""exp(-40) is far below double precision."""


DEEP_IN_TAIL = 1e-4
"""Below it a difference of shares has lost digits that its log needs; the tail is integrated instead."""


@cache
def tail_rule() -> tuple[Array, Array]:
    """The nodes, and the logs of the weights, of the rule that integrates a tail, in units of its slope."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return 0.5 * LOG_CUTOFF * (nodes + 1.0), np.log(0.5 * LOG_CUTOFF * weights)


def log_left_tail(xp: Namespace, log_density: Callable[[Array], Array], z: Array, slope: Array) -> Array:
    """The log of the integral of exp(log_density) from -infinity to z, where its slope at z is positive.

    With s the slope, concavity bounds the density at z - u / s by exp(-u) times that at z, so that the
    integral over u in (0, 40) misses nothing, and what is left beside exp(-u) is smooth when z lies well
    inside the tail: Gauss-Legendre quadrature then is exact to double precision.

    `log_density` takes z with one more trailing axis.
    """
    z, slope = xp.np.asarray(z)[..., None], xp.np.asarray(slope)[..., None]
    distances, log_weights = tail_rule()
    heights = log_density(z - distances / slope) + log_weights
    peak = xp.np.max(heights, axis=-1, keepdims=True)
    total = xp.np.sum(xp.np.exp(heights - peak), axis=-1)
    return xp.np.log(total) + peak[..., 0] - xp.np.log(slope[..., 0])
