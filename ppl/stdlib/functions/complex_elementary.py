"""Elementary functions of a complex number.

Stan Functions Reference, "Complex exponential and logarithmic functions", "Complex power functions" and the
trigonometric and hyperbolic ones.  Principal values, with the branch cuts of C99 Annex G; derivatives are
written so that they lie on the same branch.
"""

import math

from ppl.arrays import Array, Namespace, Node, with_partials
from ppl.stdlib.functions.complex_parts import absolute
from ppl.stdlib.functions.elementary import by_exponent, sqrt, tan
from ppl.stdlib.record import Overload, from_numpy


def _by_base(xp: Namespace, ans: Array, x: Array, y: Array) -> Array:
    flat = x == 0
    return xp.np.where(flat, 1.0 * (y == 1), y * ans / xp.np.where(flat, 1.0, x))


@with_partials(_by_base, by_exponent)
def power(xp: Namespace, x: Array, y: Array) -> Array:
    """The principal value exp(y log x)."""
    return xp.np.power(x, y)


def _asin_slope(xp: Namespace, ans: Array, z: Array) -> Array:
    return xp.np.true_divide(1.0, xp.np.sqrt(1.0 - z) * xp.np.sqrt(1.0 + z))


def _asinh_slope(xp: Namespace, ans: Array, z: Array) -> Array:
    return xp.np.true_divide(1.0, xp.np.sqrt(1.0 + 1j * z) * xp.np.sqrt(1.0 - 1j * z))


def _acosh_slope(xp: Namespace, ans: Array, z: Array) -> Array:
    return xp.np.true_divide(1.0, xp.np.sqrt(z - 1.0) * xp.np.sqrt(z + 1.0))


OF_NUMBERS: dict[str, Node] = {
    "exp": from_numpy("exp", lambda xp, ans, z: ans),
    "log": from_numpy("log", lambda xp, ans, z: xp.np.true_divide(1.0, z)),
    "log10": from_numpy("log10", lambda xp, ans, z: xp.np.true_divide(1.0 / math.log(10.0), z)),
    "sqrt": sqrt,
    "sin": from_numpy("sin", lambda xp, ans, z: xp.np.cos(z)),
    "cos": from_numpy("cos", lambda xp, ans, z: -xp.np.sin(z)),
    "tan": tan,
    "asin": from_numpy("arcsin", _asin_slope),
    "acos": from_numpy("arccos", lambda xp, ans, z: -_asin_slope(xp, ans, z)),
    "atan": from_numpy("arctan", lambda xp, ans, z: xp.np.true_divide(1.0, 1.0 + z * z)),
    "sinh": from_numpy("sinh", lambda xp, ans, z: xp.np.cosh(z)),
    "cosh": from_numpy("cosh", lambda xp, ans, z: xp.np.sinh(z)),
    "tanh": from_numpy("tanh", lambda xp, ans, z: 1.0 - ans * ans),
    "asinh": from_numpy("arcsinh", _asinh_slope),
    "acosh": from_numpy("arccosh", _acosh_slope),
    "atanh": from_numpy("arctanh", lambda xp, ans, z: xp.np.true_divide(1.0, (1.0 - z) * (1.0 + z))),
}
"""Functions of one complex number, by the names that they have in the language."""

OVERLOADS: dict[str, tuple[Overload, ...]] = {
    **{name: (Overload("(complex) => complex", f, "elementwise"),) for name, f in OF_NUMBERS.items()},
    "pow": (Overload("(C, C) => C", power, "elementwise"),),
    "abs": (Overload("(C) => T", absolute, "elementwise"),),
}
"""The functions of reals for complex numbers, by their names."""
