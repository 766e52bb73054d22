"""Special functions that JAX lacks, or loses digits of."""

import math
from collections.abc import Callable
from functools import reduce

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np

from ppl.arrays import Array
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI, SQRT_HALF
from ppl.stdlib.special.polynomial import polynomial

ArrayFunction = Callable[[Array], Array]

SHIFT = 8
"""From here on eight terms of each series are exact to double precision."""
FACTOR_SHIFTS = (0, 6, 10, 12)
"""x (x + 1) ... (x + 7) is the product of w + p over these p, where w = x (x + 7)."""

EIGHT_OF_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
"""Coefficients of x^-1, x^-3, ... in lgamma; Abramowitz & Stegun 6.1.42."""
EIGHT_OF_DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12, 3617 / 8160)
"""Coefficients of x^-2, x^-4, ... in digamma; Abramowitz & Stegun 6.3.18."""


def _log_gamma(x: Array) -> Array:
    z = jnp.where(x < SHIFT, x + SHIFT, x)
    remainder = polynomial(EIGHT_OF_STIRLING, 1.0 / (z * z)) / z
    stirling = (z - 0.5) * jnp.log(z) - z + HALF_LOG_TWO_PI + remainder
    w = x * (x + (SHIFT - 1))
    product = reduce(lambda product, p: product * (w + p), FACTOR_SHIFTS[1:], w)
    value = stirling - jnp.where(x < SHIFT, jnp.log(product), 0.0)
    return jnp.where(x == jnp.inf, jnp.inf, value)


def _digamma(x: Array) -> Array:
    z = jnp.where(x < SHIFT, x + SHIFT, x)
    inverse_square = 1.0 / (z * z)
    asymptotic = jnp.log(z) - 0.5 / z + polynomial(EIGHT_OF_DIGAMMA, inverse_square) * inverse_square
    below = jnp.where(x < SHIFT, x, 1.0)
    w = below * (below + (SHIFT - 1))
    product, slope = w, 1.0
    for p in FACTOR_SHIFTS[1:]:  # the slope in w, by the product rule
        product, slope = product * (w + p), slope * (w + p) + product
    return asymptotic - jnp.where(x < SHIFT, slope * (2.0 * below + (SHIFT - 1)) / product, 0.0)


def with_slope(f: ArrayFunction, slope: ArrayFunction) -> ArrayFunction:
    """The function, its derivative being another."""
    function = jax.custom_jvp(f)
    function.defjvp(lambda at, tangents: (function(*at), slope(*at) * tangents[0]))
    return lambda x: function(jnp.asarray(x, dtype=float))


digamma = with_slope(_digamma, lambda x: jax.scipy.special.polygamma(1, x))
gammaln = with_slope(_log_gamma, digamma)


ERFCX_ASYMPTOTIC = (1.0, -1 / 2, 3 / 4, -15 / 8, 105 / 16, -945 / 32, 10395 / 64, -135135 / 128)
"""Coefficients of x^0, x^-2, ... in sqrt(pi) x erfcx(x): NIST Digital Library of Mathematical Functions
7.12.1.
"""
ERFCX_FAR = 20.0
"""From here on these are exact to double precision."""


def erfcx(x: Array) -> Array:
    """exp(x^2) erfc(x), by its asymptotic series where it is far: JAX's own is 0 from 26.54 to 26.64."""
    far = jnp.where(x > ERFCX_FAR, x, ERFCX_FAR)
    series = jnp.polyval(jnp.array(ERFCX_ASYMPTOTIC[::-1]), 1.0 / (far * far)) / (math.pi**0.5 * far)
    return jnp.where(x > ERFCX_FAR, series, jax.scipy.special.erfcx(jnp.where(x > ERFCX_FAR, ERFCX_FAR, x)))


def log_ndtr(z: Array) -> Array:
    """log Phi(z): by the scaled erfc in the left tail, which jax.scipy's own series loses digits in."""
    left = jnp.where(z < 0.0, z, 0.0)
    tail = jnp.log(0.5 * erfcx(-left * SQRT_HALF)) - 0.5 * left * left
    right = jnp.where(z < 0.0, 0.0, z)
    return jnp.where(z < 0.0, tail, jnp.log1p(-0.5 * jax.scipy.special.erfc(right * SQRT_HALF)))


# --- Quantiles of the normal distribution ---------------------------------------------------------------

TAIL_BELOW = -30.0
"""Of a log probability: below it Newton's method takes over from the quantile of the probability."""
TAIL_STEPS = 4
"""Of Newton's method, which doubles the digits of a start that has two."""


def erfcinv(x: Array) -> Array:
    return -SQRT_HALF * jax.scipy.special.ndtri(0.5 * x)


def ndtri_exp(log_p: Array) -> Array:
    """The normal quantile of exp(log_p); in the left tail by Newton's method on log Phi, which is concave."""
    upper = log_p > -math.log(2.0)
    inside = jnp.where(log_p < TAIL_BELOW, -1.0, log_p)
    quantile = jnp.where(
        upper,
        -jax.scipy.special.ndtri(-jnp.expm1(jnp.where(upper, log_p, -1.0))),
        jax.scipy.special.ndtri(jnp.exp(inside)),
    )
    deep = jnp.where(log_p < TAIL_BELOW, log_p, TAIL_BELOW)
    z = -jnp.sqrt(-2.0 * deep - jnp.log(-4.0 * math.pi * deep))
    for _ in range(TAIL_STEPS):
        over_density = math.sqrt(0.5 * math.pi) * erfcx(-z * SQRT_HALF)  # Phi(z) / phi(z)
        z = z - (jnp.log(over_density) - 0.5 * math.log(2.0 * math.pi) - 0.5 * z * z - deep) * over_density
    return jnp.where(log_p == -jnp.inf, -jnp.inf, jnp.where(log_p < TAIL_BELOW, z, quantile))


# --- Owen's T -------------------------------------------------------------------------------------------

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
OWEN_CUTOFF = 9.0
"""Standard deviations of the normal factor of Owen's integral, beyond which nothing is left."""
OWEN_INFINITE = 1e150
"""Stands for infinity, so that no product overflows or is nan."""


def owens_t(h: Array, a: Array) -> Array:
    """T(h, a) by its integral, which is smooth for |a| <= 1; beyond from T(a h, 1/a): Owen (1956), 2.3."""
    h, slope = jnp.minimum(jnp.abs(h), OWEN_INFINITE), jnp.minimum(jnp.abs(a), OWEN_INFINITE)
    steep, across = slope > 1.0, slope * h
    within = _owens_integral(jnp.where(steep, across, h), jnp.where(steep, 1.0 / slope, slope))
    flat, turned = (0.5 * jax.scipy.special.erfc(x * SQRT_HALF) for x in (h, across))
    inner, outer = (0.5 * jax.scipy.special.erf(x * SQRT_HALF) for x in (h, across))
    rest = jnp.where(across < 0.67, 0.25 - inner * outer, 0.5 * (flat + turned) - flat * turned)
    return jnp.sign(a) * jnp.where(steep, rest - within, within)


def _owens_integral(h: Array, a: Array) -> Array:
    end = jnp.minimum(a, OWEN_CUTOFF / jnp.where(h == 0.0, 1.0, h))
    half = 0.5 * jnp.where(h == 0.0, a, end)[..., None]
    x = half * (NODES + 1.0)
    heights = jnp.exp(-0.5 * (h[..., None] * x) ** 2) / (1.0 + x * x)
    return jnp.exp(-0.5 * h * h) / (2.0 * math.pi) * jnp.sum(half * WEIGHTS * heights, axis=-1)
