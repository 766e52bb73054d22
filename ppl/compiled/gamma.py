"""log Gamma and digamma in arithmetic that XLA runs on whole vector registers, in a third of JAX's time.

Stirling's series (Abramowitz & Stegun 6.1.41, 6.3.18) from SHIFT on; below, at x + SHIFT, less what the
recurrences 6.1.15 and 6.3.6 add between x and there.  Arguments that are not positive are left to JAX.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special
from jax.custom_batching import custom_vmap

from ppl.stdlib.special.log_gamma_ratio import HALF_LOG_TWO_PI

Array = Any
Function = Callable[[Array], Array]

SHIFT = 8
"""From here on eight terms of each series are exact to double precision."""

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12, 3617 / 8160)


def _series(coefficients: tuple[float, ...], x: Array) -> Array:
    return reduce(lambda total, c: total * x + c, reversed(coefficients), 0.0)


def _log_gamma(x: Array) -> Array:
    z = jnp.where(x < SHIFT, x + SHIFT, x)
    remainder = _series(STIRLING, 1.0 / (z * z)) / z
    stirling = (z - 0.5) * jnp.log(z) - z + HALF_LOG_TWO_PI + remainder
    product = reduce(lambda p, k: p * (x + k), range(1, SHIFT), x)
    value = stirling - jnp.where(x < SHIFT, jnp.log(product), 0.0)
    return jnp.where(x == jnp.inf, jnp.inf, value)


def _digamma(x: Array) -> Array:
    z = jnp.where(x < SHIFT, x + SHIFT, x)
    inverse_square = 1.0 / (z * z)
    asymptotic = jnp.log(z) - 0.5 / z + _series(DIGAMMA, inverse_square) * inverse_square
    product, slope = jnp.where(x < SHIFT, x, 1.0), 1.0
    for k in range(1, SHIFT):  # of the product x (x + 1) ... (x + 7), by the product rule
        product, slope = product * (x + k), slope * (x + k) + product
    return asymptotic - jnp.where(x < SHIFT, slope / product, 0.0)


def _where_positive(quick: Function, whole: Function) -> Function:
    """`quick` of arrays that are positive throughout, `whole` of others."""

    either = custom_vmap(lambda x: jax.lax.cond(jnp.all(x > 0.0), quick, whole, x))
    either.def_vmap(lambda size, is_batched, x: (either(x), True))
    return lambda x: either(jnp.asarray(x, dtype=float))


def _with_slope(f: Function, slope: Function) -> Function:
    """The function, its derivative being another."""
    made = jax.custom_jvp(f)
    made.defjvp(lambda at, along: (made(*at), slope(*at) * along[0]))
    found: Function = made
    return found


def _trigamma(x: Array) -> Array:
    return jax.scipy.special.polygamma(1, x)


digamma = _with_slope(_where_positive(_digamma, jax.scipy.special.digamma), _trigamma)
gammaln = _with_slope(_where_positive(_log_gamma, jax.scipy.special.gammaln), digamma)
