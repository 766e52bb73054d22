"""Trigonometric and hyperbolic functions.  Stan Functions Reference, "Trigonometric functions"."""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.record import Function, binary, from_numpy, unary

tan = from_numpy("tan", lambda xp, ans, x: 1.0 + ans * ans)
acos = from_numpy("arccos", lambda xp, ans, x: -1.0 / xp.np.sqrt((1.0 - x) * (1.0 + x)))
asin = from_numpy("arcsin", lambda xp, ans, x: 1.0 / xp.np.sqrt((1.0 - x) * (1.0 + x)))
atan = from_numpy("arctan", lambda xp, ans, x: 1.0 / (1.0 + x * x))


@with_partials(lambda xp, ans, y, x: x / (x * x + y * y), lambda xp, ans, y, x: -y / (x * x + y * y))
def atan2(xp: Namespace, y: Array, x: Array) -> Array:
    return xp.np.arctan2(y, x)


tanh = from_numpy("tanh", lambda xp, ans, x: xp.np.cosh(xp.np.clip(x, -350.0, 350.0)) ** -2.0)
acosh = from_numpy("arccosh", lambda xp, ans, x: 1.0 / xp.np.sqrt((x - 1.0) * (x + 1.0)))
asinh = from_numpy("arcsinh", lambda xp, ans, x: 1.0 / xp.np.cosh(ans))
atanh = from_numpy("arctanh", lambda xp, ans, x: 1.0 / ((1.0 - x) * (1.0 + x)))


@with_partials(lambda xp, ans, x, y: x / ans, lambda xp, ans, x, y: y / ans)
def hypotenuse(xp: Namespace, x: Array, y: Array) -> Array:
    return xp.np.hypot(x, y)


FUNCTIONS: tuple[Function, ...] = (
    unary("cos", "the cosine", lambda xp, x: xp.np.cos(x)),
    unary("sin", "the sine", lambda xp, x: xp.np.sin(x)),
    unary("tan", "the tangent", tan),
    unary("acos", "the principal arc cosine", acos),
    unary("asin", "the principal arc sine", asin),
    unary("atan", "the principal arc tangent", atan),
    binary("atan2", "the angle of the point (x, y), from atan2(y, x)", atan2),
    unary("cosh", "the hyperbolic cosine", lambda xp, x: xp.np.cosh(x)),
    unary("sinh", "the hyperbolic sine", lambda xp, x: xp.np.sinh(x)),
    unary("tanh", "the hyperbolic tangent", tanh),
    unary("acosh", "the inverse hyperbolic cosine", acosh),
    unary("asinh", "the inverse hyperbolic sine", asinh),
    unary("atanh", "the inverse hyperbolic tangent", atanh),
    binary("hypot", "sqrt(x^2 + y^2) without overflow", hypotenuse),
)
