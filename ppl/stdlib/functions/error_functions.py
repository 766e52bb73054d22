"""The error function, its inverse, Owen's T and Lambert's W.

Stan Functions Reference, "Probability-related functions" and "Combinatorial functions"; D. B. Owen, "Tables
for computing bivariate normal probabilities" (1956); Corless et al., "On the Lambert W function" (1996).
"""

import math

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.late import special
from ppl.stdlib.record import Function, binary, guarded, unary
from ppl.stdlib.special.constants import SQRT_HALF, SQRT_TWO_PI, TWO_OVER_SQRT_PI


@with_partials(lambda xp, ans, x: TWO_OVER_SQRT_PI * xp.np.exp(-x * x))
def erf(xp: Namespace, x: Array) -> Array:
    return xp.special.erf(1.0 * x)


@with_partials(lambda xp, ans, x: -TWO_OVER_SQRT_PI * xp.np.exp(-x * x))
def erfc(xp: Namespace, x: Array) -> Array:
    return xp.special.erfc(1.0 * x)


@with_partials(lambda xp, ans, x: -xp.np.exp(ans * ans) / TWO_OVER_SQRT_PI)
def inv_erfc(xp: Namespace, x: Array) -> Array:
    return guarded(xp, (x > 0) & (x < 2), xp.special.erfcinv(1.0 * x))


@with_partials(
    lambda xp, ans, h, a: -xp.np.exp(-0.5 * h * h) * erf(xp, SQRT_HALF * a * h) / (2.0 * SQRT_TWO_PI),
    lambda xp, ans, h, a: xp.np.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * math.pi * (1.0 + a * a)),
)
def owens_t(xp: Namespace, h: Array, a: Array) -> Array:
    return xp.special.owens_t(1.0 * h, 1.0 * a)


@with_partials(lambda xp, ans, x: xp.np.exp(-ans) / (1.0 + ans))
def lambert_w0(xp: Namespace, x: Array) -> Array:
    """nan below -1/e, where W is complex."""
    return _real(special.lambertw(x, 0))


@with_partials(lambda xp, ans, x: xp.np.exp(-ans) / (1.0 + ans))
def lambert_wm1(xp: Namespace, x: Array) -> Array:
    """nan outside [-1/e, 0), where W is complex."""
    return _real(special.lambertw(x, -1))


def _real(w: Array) -> Array:
    return np.where(w.imag == 0, w.real, np.nan)


FUNCTIONS: tuple[Function, ...] = (
    unary("erf", "the error function", erf),
    unary("erfc", "1 - erf(x)", erfc),
    unary("inv_erfc", "the inverse of erfc", inv_erfc),
    binary("owens_t", "Owen's T function of h and a", owens_t),
    unary("lambert_w0", "the principal branch of Lambert's W", lambert_w0),
    unary("lambert_wm1", "the branch of Lambert's W below -1", lambert_wm1),
)
