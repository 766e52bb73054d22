"""Functions with steps and corners: rounding, remainders, the larger and the smaller of two.

Stan Functions Reference, "Step-like functions", "Logical functions" and "Bound functions".  Where a function
jumps its derivative is taken to be 0.
"""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.record import Function, binary, elementwise, unary

flat = with_partials(lambda xp, ans, x: 0.0)


@flat
def nearest(xp: Namespace, x: Array) -> Array:
    """The nearest integer, halves away from zero as in C (NumPy goes to the even one)."""
    whole = xp.np.trunc(1.0 * x)
    return whole + xp.np.sign(x) * (xp.np.abs(x - whole) >= 0.5)


@flat
def step(xp: Namespace, x: Array) -> Array:
    return xp.np.where(x >= 0, 1.0, 0.0)


def int_step(xp: Namespace, x: Array) -> Array:
    return 1 * (x > 0)


@with_partials(
    lambda xp, ans, x, y: 1.0 * ((x > y) | xp.np.isnan(y)),
    lambda xp, ans, x, y: 1.0 * ((y >= x) | xp.np.isnan(x)),
)
def fmax(xp: Namespace, x: Array, y: Array) -> Array:
    return 1.0 * xp.np.fmax(x, y)


@with_partials(
    lambda xp, ans, x, y: 1.0 * ((x < y) | xp.np.isnan(y)),
    lambda xp, ans, x, y: 1.0 * ((y <= x) | xp.np.isnan(x)),
)
def fmin(xp: Namespace, x: Array, y: Array) -> Array:
    return 1.0 * xp.np.fmin(x, y)


@with_partials(lambda xp, ans, x, y: 1.0 * (x > y), lambda xp, ans, x, y: -1.0 * (x > y))
def fdim(xp: Namespace, x: Array, y: Array) -> Array:
    return xp.np.maximum(1.0 * x - y, 0.0)


@with_partials(lambda xp, ans, x, y: 1.0, lambda xp, ans, x, y: -xp.np.trunc(x / y))
def fmod(xp: Namespace, x: Array, y: Array) -> Array:
    return xp.np.fmod(1.0 * x, y)


@with_partials(lambda xp, ans, x, n: xp.np.exp2(1.0 * n), None)
def ldexp(xp: Namespace, x: Array, n: Array) -> Array:
    return x * xp.np.exp2(1.0 * n)


FUNCTIONS: tuple[Function, ...] = (
    unary("floor", "the largest whole number that is not above x", flat(lambda xp, x: xp.np.floor(1.0 * x))),
    unary("ceil", "the smallest whole number that is not below x", flat(lambda xp, x: xp.np.ceil(1.0 * x))),
    unary("round", "the nearest whole number, halves away from zero", nearest),
    unary("trunc", "x without its fraction", flat(lambda xp, x: xp.np.trunc(1.0 * x))),
    elementwise("step", "0 below 0, otherwise 1", ("(real) => real", step)),
    elementwise(
        "int_step", "1 above 0, otherwise 0", ("(int) => int", int_step), ("(real) => int", int_step)
    ),
    elementwise("is_inf", "1 if x is infinite", ("(real) => int", lambda xp, x: 1 * xp.np.isinf(x))),
    elementwise("is_nan", "1 if x is nan", ("(real) => int", lambda xp, x: 1 * xp.np.isnan(x))),
    binary("fmax", "the larger of two, ignoring nan", fmax),
    binary("fmin", "the smaller of two, ignoring nan", fmin),
    binary("fdim", "x - y, but 0 if that is negative", fdim),
    binary("fmod", "the remainder of x / y, with the sign of x", fmod),
    elementwise("fma", "x y + z", ("(T, T, T) => T", lambda xp, x, y, z: 1.0 * x * y + z)),
    elementwise("ldexp", "x 2^n", ("(T, I) => T", ldexp)),
)
