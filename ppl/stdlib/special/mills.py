"""Ratios of the normal density and its tail, which neither overflow nor cancel."""

import math

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI, SQRT_TWO

FAR_LEFT = -60.0
"""From here on t + phi(t) / Phi(t), which is near -1 / t, has lost four digits, and its series none."""


def mills_excess(xp: Namespace, t: Array) -> Array:
    """t + phi(t) / Phi(t), with phi / Phi as -t - 1/t + 2/t^3 - 10/t^5 + ... far on the left."""
    near = xp.np.maximum(t, FAR_LEFT)
    far = 1.0 / xp.np.minimum(t, FAR_LEFT)
    w = far * far
    series = far * (-1.0 + w * (2.0 - w * (10.0 - w * (74.0 - w * 706.0))))
    return xp.np.where(t < FAR_LEFT, series, near + inverse_mills(xp, near))


@with_partials(lambda xp, ans, t: -ans * mills_excess(xp, t))
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
    lambda xp, ans, z, v: mills_excess(xp, z - v) - z,
    lambda xp, ans, z, v: -mills_excess(xp, z - v),
)
def log_tilted_tail(xp: Namespace, z: Array, v: Array) -> Array:
    """log(exp(v^2 / 2 - v z) Phi(z - v)), which is log(phi(z) Phi(z - v) / phi(z - v))."""
    gap = xp.np.maximum(v - z, 0.0)
    left = -0.5 * z * z - math.log(2.0) + xp.np.log(xp.special.erfcx(gap / SQRT_TWO))
    right = v * (0.5 * v - z) + xp.special.log_ndtr(xp.np.maximum(z - v, 0.0))
    return xp.np.where(z < v, left, right)
