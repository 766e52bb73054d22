"""Trigonometric and hyperbolic functions.  Stan Functions Reference, "Trigonometric functions"."""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.record import Function, binary, unary


@with_partials(lambda xp, ans, x: 1.0 + ans * ans)
def tan(xp: Namespace, x: Array) -> Array:
    return xp.np.tan(x)


@with_partials(lambda xp, ans, x: -1.0 / xp.np.sqrt((1.0 - x) * (1.0 + x)))
def acos(xp: Namespace, x: Array) -> Array:
    return xp.np.arccos(x)


@with_partials(lambda xp, ans, x: 1.0 / xp.np.sqrt((1.0 - x) * (1.0 + x)))
def asin(xp: Namespace, x: Array) -> Array:
    return xp.np.arcsin(x)


@with_partials(lambda xp, ans, x: 1.0 / (1.0 + x * x))
def atan(xp: Namespace, x: Array) -> Array:
    return xp.np.arctan(x)


@with_partials(lambda xp, ans, y, x: x / (x * x + y * y), lambda xp, ans, y, x: -y / (x * x + y * y))
def atan2(xp: Namespace, y: Array, x: Array) -> Array:
    return xp.np.arctan2(y, x)


@with_partials(lambda xp, ans, x: xp.np.cosh(xp.np.clip(x, -350.0, 350.0)) ** -2.0)
def tanh(xp: Namespace, x: Array) -> Array:
    return xp.np.tanh(x)


@with_partials(lambda xp, ans, x: 1.0 / xp.np.sqrt((x - 1.0) * (x + 1.0)))
def acosh(xp: Namespace, x: Array) -> Array:
    return xp.np.arccosh(x)


@with_partials(lambda xp, ans, x: 1.0 / xp.np.cosh(ans))
def asinh(xp: Namespace, x: Array) -> Array:
    return xp.np.arcsinh(x)


@with_partials(lambda xp, ans, x: 1.0 / ((1.0 - x) * (1.0 + x)))
def atanh(xp: Namespace, x: Array) -> Array:
    return xp.np.arctanh(x)


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
