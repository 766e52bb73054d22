"""Exponentials, logarithms and the absolute value.

Stan Functions Reference, "Power and logarithm functions" and "Absolute functions".
"""

import math

from ppl.arrays import Array, Namespace, with_vjps, without_share
from ppl.stdlib.record import Function, elementwise, from_numpy, unary


@with_vjps(lambda xp, g, ans, x: without_share(xp, g, xp.np.divide(g, x)))
def log(xp: Namespace, x: Array) -> Array:
    """Its adjoint is g / x, and 0 where g is 0 even at x = 0."""
    return xp.np.log(x)


absolute = from_numpy("abs", lambda xp, ans, x: xp.np.sign(x))


FUNCTIONS: tuple[Function, ...] = (
    unary("exp", "the exponential", lambda xp, x: xp.np.exp(x)),
    unary("log", "the natural logarithm", log),
    unary("exp2", "2^x", lambda xp, x: xp.np.exp2(1.0 * x)),
    elementwise(
        "log2",
        "the logarithm to base 2; log2() is log(2)",
        ("() => real", lambda xp: math.log(2.0)),
        ("(T) => T", lambda xp, x: xp.np.log2(x)),
    ),
    elementwise(
        "log10",
        "the logarithm to base 10; log10() is log(10)",
        ("() => real", lambda xp: math.log(10.0)),
        ("(T) => T", lambda xp, x: xp.np.log10(x)),
    ),
    unary("expm1", "exp(x) - 1, accurate near 0", lambda xp, x: xp.np.expm1(x)),
    unary("log1p", "log(1 + x), accurate near 0", lambda xp, x: xp.np.log1p(x)),
    elementwise("abs", "the absolute value", ("(I) => I", absolute), ("(T) => T", absolute)),
)
