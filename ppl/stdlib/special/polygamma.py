"""log Gamma and its derivatives on the whole real line.

A namespace's own need know positive arguments alone, as those of densities are; the reflection formulas (NIST
Digital Library of Mathematical Functions 5.5.3, 5.5.4 and 5.15.6) take over elsewhere.
"""

import math

from ppl.arrays import Array, Namespace, with_partials


def _mirrored(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """x or, where that is not positive, 1 - x; and there pi x less a multiple of pi."""
    return xp.np.where(x > 0, x, 1.0 - x), math.pi * xp.np.where(x > 0, 0.5, x - xp.np.round(x))


def _reflected(xp: Namespace, n: int, x: Array, reflection: Array) -> Array:
    """polygamma(n, x), from polygamma(n, 1 - x) and the reflection term where x is not positive."""
    direct = xp.special.polygamma(n, _mirrored(xp, x)[0])
    return xp.np.where(x > 0, direct, reflection - (-1.0) ** (n + 1) * direct)


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
    """The derivative of log gamma; nan at -1, -2, ..."""
    inside, angle = _mirrored(xp, x)
    at_pole = (x < 0) & (angle == 0.0)
    reflection = xp.np.where(at_pole, math.nan, xp.np.divide(math.pi, xp.np.tan(angle)))
    return xp.special.digamma(inside) - xp.np.where(x > 0, 0.0, reflection)


@with_partials(lambda xp, ans, x: digamma(xp, x))
def log_gamma(xp: Namespace, x: Array) -> Array:
    """The log of the absolute value of the gamma function; infinite at 0, -1, ..."""
    inside, angle = _mirrored(xp, x)
    direct = xp.special.gammaln(inside)
    reflection = xp.np.log(xp.np.divide(math.pi, xp.np.abs(xp.np.sin(angle))))
    return xp.np.where(x > 0, direct, reflection - direct)
