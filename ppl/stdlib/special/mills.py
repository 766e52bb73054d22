"""Ratios of the normal density and its tail, which neither overflow nor cancel."""

import math

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI, SQRT_TWO


@with_partials(lambda xp, ans, t: -ans * (t + ans))
def inverse_mills(xp: Namespace, t: Array) -> Array:
    """phi(t) / Phi(t), the derivative of log Phi(t)."""
    left = xp.np.minimum(t, 0.0)
    right = xp.np.maximum(t, 0.0)
    return xp.np.where(
        t < 0.0,
        math.sqrt(2.0 / math.pi) / xp.special.erfcx(-left / SQRT_TWO),
        xp.np.exp(-0.5 * right * right - HALF_LOG_TWO_PI) / xp.special.ndtr(right),
    )


@with_partials(
    lambda xp, ans, z, v: inverse_mills(xp, z - v) - v,
    lambda xp, ans, z, v: v - z - inverse_mills(xp, z - v),
)
def log_tilted_tail(xp: Namespace, z: Array, v: Array) -> Array:
    """log(exp(v^2 / 2 - v z) Phi(z - v)), which is log(phi(z) Phi(z - v) / phi(z - v))."""
    gap = xp.np.maximum(v - z, 0.0)
    left = -0.5 * z * z - math.log(2.0) + xp.np.log(xp.special.erfcx(gap / SQRT_TWO))
    right = v * (0.5 * v - z) + xp.special.log_ndtr(xp.np.maximum(z - v, 0.0))
    return xp.np.where(z < v, left, right)
