"""Elementary functions of a complex number.

Stan Functions Reference, "Complex exponential and logarithmic functions", "Complex power functions" and the
trigonometric and hyperbolic ones.  Principal values, with the branch cuts of C99 Annex G; derivatives are
written so that they lie on the same branch.
"""

import math

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.functions.complex_parts import absolute
from ppl.stdlib.record import Impl, Overload


@with_partials(lambda xp, ans, z: ans)
def exp(xp: Namespace, z: Array) -> Array:
    return xp.np.exp(z)


@with_partials(lambda xp, ans, z: xp.np.true_divide(1.0, z))
def log(xp: Namespace, z: Array) -> Array:
    return xp.np.log(z)


@with_partials(lambda xp, ans, z: xp.np.true_divide(1.0 / math.log(10.0), z))
def log10(xp: Namespace, z: Array) -> Array:
    return xp.np.log10(z)


@with_partials(lambda xp, ans, z: xp.np.where(ans == 0, 0.0, 0.5 / xp.np.where(ans == 0, 1.0, ans)))
def sqrt(xp: Namespace, z: Array) -> Array:
    """Its slope at 0 is 0, as that of a real root."""
    return xp.np.sqrt(z)


def _by_base(xp: Namespace, ans: Array, x: Array, y: Array) -> Array:
    flat = x == 0
    return xp.np.where(flat, 1.0 * (y == 1), y * ans / xp.np.where(flat, 1.0, x))


def _by_exponent(xp: Namespace, ans: Array, x: Array, y: Array) -> Array:
    return ans * xp.np.log(xp.np.where(x == 0, 1.0, x))


@with_partials(_by_base, _by_exponent)
def power(xp: Namespace, x: Array, y: Array) -> Array:
    """The principal value exp(y log x)."""
    return xp.np.power(x, y)


@with_partials(lambda xp, ans, z: xp.np.cos(z))
def sin(xp: Namespace, z: Array) -> Array:
    return xp.np.sin(z)


@with_partials(lambda xp, ans, z: -xp.np.sin(z))
def cos(xp: Namespace, z: Array) -> Array:
    return xp.np.cos(z)


@with_partials(lambda xp, ans, z: 1.0 + ans * ans)
def tan(xp: Namespace, z: Array) -> Array:
    return xp.np.tan(z)


def _asin_slope(xp: Namespace, ans: Array, z: Array) -> Array:
    return xp.np.true_divide(1.0, xp.np.sqrt(1.0 - z) * xp.np.sqrt(1.0 + z))


@with_partials(_asin_slope)
def asin(xp: Namespace, z: Array) -> Array:
    return xp.np.arcsin(z)


@with_partials(lambda xp, ans, z: -_asin_slope(xp, ans, z))
def acos(xp: Namespace, z: Array) -> Array:
    return xp.np.arccos(z)


@with_partials(lambda xp, ans, z: xp.np.true_divide(1.0, 1.0 + z * z))
def atan(xp: Namespace, z: Array) -> Array:
    return xp.np.arctan(z)


@with_partials(lambda xp, ans, z: xp.np.cosh(z))
def sinh(xp: Namespace, z: Array) -> Array:
    return xp.np.sinh(z)


@with_partials(lambda xp, ans, z: xp.np.sinh(z))
def cosh(xp: Namespace, z: Array) -> Array:
    return xp.np.cosh(z)


@with_partials(lambda xp, ans, z: 1.0 - ans * ans)
def tanh(xp: Namespace, z: Array) -> Array:
    return xp.np.tanh(z)


@with_partials(lambda xp, ans, z: xp.np.true_divide(1.0, xp.np.sqrt(1.0 + 1j * z) * xp.np.sqrt(1.0 - 1j * z)))
def asinh(xp: Namespace, z: Array) -> Array:
    return xp.np.arcsinh(z)


@with_partials(lambda xp, ans, z: xp.np.true_divide(1.0, xp.np.sqrt(z - 1.0) * xp.np.sqrt(z + 1.0)))
def acosh(xp: Namespace, z: Array) -> Array:
    return xp.np.arccosh(z)


@with_partials(lambda xp, ans, z: xp.np.true_divide(1.0, (1.0 - z) * (1.0 + z)))
def atanh(xp: Namespace, z: Array) -> Array:
    return xp.np.arctanh(z)


OF_NUMBERS: tuple[Impl, ...] = (
    *(exp, log, log10, sqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh),
)
"""Functions of one complex number, by the names that they have in the language."""

OVERLOADS: dict[str, tuple[Overload, ...]] = {
    **{f.__name__: (Overload("(complex) => complex", f, "elementwise"),) for f in OF_NUMBERS},
    "pow": (Overload("(C, C) => C", power, "elementwise"),),
    "abs": (Overload("(C) => T", absolute, "elementwise"),),
}
"""What functions of reals are for complex numbers, by their names."""
