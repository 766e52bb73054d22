"""The trigamma function and its derivative on the whole real line.

SciPy's polygamma is nan for negative arguments; the reflection formula (NIST Digital Library of Mathematical
Functions 5.15.6) takes over there.
"""

import math

from ppl.arrays import Array, Namespace, with_partials


def _reflected(xp: Namespace, n: int, x: Array, reflection: Array) -> Array:
    """polygamma(n, x), from polygamma(n, 1 - x) and the reflection term where x is not positive."""
    positive = x > 0
    direct = xp.special.polygamma(n, xp.np.where(positive, x, 1.0))
    mirrored = xp.special.polygamma(n, xp.np.where(positive, 1.0, 1.0 - x))
    return xp.np.where(positive, direct, reflection - (-1.0) ** (n + 1) * mirrored)


def tetragamma(xp: Namespace, x: Array) -> Array:
    """The derivative of the trigamma function."""
    angle = math.pi * xp.np.where(x > 0, 0.5, x)
    return _reflected(xp, 2, x, -2.0 * math.pi**3 * xp.np.cos(angle) / xp.np.sin(angle) ** 3)


@with_partials(lambda xp, ans, x: tetragamma(xp, x))
def trigamma(xp: Namespace, x: Array) -> Array:
    """The second derivative of log gamma."""
    angle = math.pi * xp.np.where(x > 0, 0.5, x)
    return _reflected(xp, 1, x, (math.pi / xp.np.sin(angle)) ** 2)


@with_partials(lambda xp, ans, x: trigamma(xp, x))
def digamma(xp: Namespace, x: Array) -> Array:
    """The derivative of log gamma."""
    return xp.special.digamma(1.0 * x)
