"""Exponentials, logarithms, powers and roots, trigonometric and hyperbolic functions, the absolute value.

Stan Functions Reference, "Power and logarithm functions" and "Absolute functions".
"""

import math

from ppl.arrays import Array, Namespace, with_partials, with_vjps, without_share
from ppl.stdlib.record import Function, binary, elementwise, from_numpy, guarded, unary
from ppl.stdlib.special import log_add
from ppl.stdlib.special.log_add import expit, softplus


@with_partials(lambda xp, ans, x: -1.0 / (1.0 - x))
def log1m(xp: Namespace, x: Array) -> Array:
    return xp.np.log1p(-x)


@with_partials(lambda xp, ans, x: expit(xp, x))
def log1p_exp(xp: Namespace, x: Array) -> Array:
    return softplus(xp, x)


@with_partials(lambda xp, ans, x: xp.np.true_divide(-1.0, xp.np.expm1(-x)))
def log1m_exp(xp: Namespace, x: Array) -> Array:
    """log(1 - e^x) for x <= 0; nan for x > 0."""
    return log_add.log1m_exp(xp, x)


@with_partials(lambda xp, ans, x: expit(xp, -x))
def log_inv_logit(xp: Namespace, x: Array) -> Array:
    return -softplus(xp, -x)


@with_partials(lambda xp, ans, x: -expit(xp, x))
def log1m_inv_logit(xp: Namespace, x: Array) -> Array:
    return -softplus(xp, x)


@with_partials(
    lambda xp, ans, x, y: xp.np.true_divide(-1.0, xp.np.expm1(y - x)),
    lambda xp, ans, x, y: xp.np.true_divide(-1.0, xp.np.expm1(x - y)),
)
def log_diff_exp(xp: Namespace, x: Array, y: Array) -> Array:
    """log(e^x - e^y) for x >= y; nan otherwise.  Two equal infinities cancel: -inf for a negative pair."""
    gap = xp.np.where(x == y, 0.0, xp.np.subtract(y, x))
    return xp.np.where(xp.np.isposinf(x) & xp.np.isposinf(y), xp.np.nan, x + log1m_exp(xp, gap))


@with_partials(
    lambda xp, ans, x, y: expit(xp, -x) + xp.np.true_divide(1.0, xp.np.expm1(x - y)),
    lambda xp, ans, x, y: xp.np.true_divide(-1.0, xp.np.expm1(x - y)) - expit(xp, y),
)
def log_inv_logit_diff(xp: Namespace, x: Array, y: Array) -> Array:
    """log(inv_logit(x) - inv_logit(y)) for x > y."""
    return log_inv_logit(xp, x) - log1p_exp(xp, y) + log1m_exp(xp, y - x)


@with_partials(lambda xp, ans, x, y: xp.np.log(y), lambda xp, ans, x, y: xp.np.true_divide(x, y))
def lmultiply(xp: Namespace, x: Array, y: Array) -> Array:
    """x log y, 0 at x = y = 0 but nan at x = 0 > y."""
    return guarded(xp, 1.0 * y >= 0, xp.special.xlogy(x, y))


def _is_two(y: Array) -> bool:
    """Squares are what most programs write with `^`, and need no logarithm."""
    return isinstance(y, int | float) and y == 2


def _by_base(xp: Namespace, ans: Array, x: Array, y: Array) -> Array:
    if _is_two(y):
        return 2.0 * x
    flat = (y == 0) | ((x == 0) & (y < 1))  # at the root of a root 0, as in Stan, where the slope is infinite
    return xp.np.where(flat, 0.0, y * power(xp, xp.np.where(flat, 1.0, x), y - 1))


def by_exponent(xp: Namespace, ans: Array, x: Array, y: Array) -> Array:
    """ans log x, and its limit 0 at x = 0."""
    return ans * xp.np.log(xp.np.where(x == 0, 1.0, x))


@with_partials(_by_base, by_exponent)
def power(xp: Namespace, x: Array, y: Array) -> Array:
    """x^y as a real: nan, not complex, for a negative base and a fractional exponent."""
    return 1.0 * x * x if _is_two(y) else xp.np.power(x, 1.0 * y)


@with_partials(lambda xp, ans, x: 2.0 * x)
def square(xp: Namespace, x: Array) -> Array:
    return 1.0 * x * x


def _sqrt_slope(xp: Namespace, ans: Array, x: Array) -> Array:
    """At 0 it is 0, as in Stan: the root of a sum of squares has none there that could be followed."""
    return xp.np.where(ans == 0, 0.0, 0.5 / xp.np.where(ans == 0, 1.0, ans))


sqrt = from_numpy("sqrt", _sqrt_slope)
cbrt = from_numpy("cbrt", lambda xp, ans, x: 1.0 / (3.0 * ans * ans))


@with_partials(lambda xp, ans, x: -ans * ans)
def inv(xp: Namespace, x: Array) -> Array:
    return xp.np.true_divide(1.0, x)


@with_partials(lambda xp, ans, x: -0.5 * ans**3)
def inv_sqrt(xp: Namespace, x: Array) -> Array:
    return xp.np.true_divide(1.0, xp.np.sqrt(x))


@with_partials(lambda xp, ans, x: xp.np.true_divide(-2.0 * ans, x))
def inv_square(xp: Namespace, x: Array) -> Array:
    return xp.np.true_divide(1.0, 1.0 * x * x)


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


@with_vjps(lambda xp, g, ans, x: without_share(xp, g, xp.np.divide(g, x)))
def log(xp: Namespace, x: Array) -> Array:
    """Its adjoint is g / x, and 0 where g is 0 even at x = 0."""
    return xp.np.log(x)


absolute = from_numpy("abs", lambda xp, ans, x: xp.np.sign(x))


FUNCTIONS: tuple[Function, ...] = (
    unary("log1m", "log(1 - x), accurate near 0", log1m, rejects=True),
    unary("log1p_exp", "log(1 + exp(x))", log1p_exp),
    unary("log1m_exp", "log(1 - exp(x))", log1m_exp),
    unary("log_inv_logit", "log(inv_logit(x))", log_inv_logit),
    unary("log1m_inv_logit", "log(1 - inv_logit(x))", log1m_inv_logit),
    binary("log_diff_exp", "log(exp(x) - exp(y))", log_diff_exp),
    binary("log_inv_logit_diff", "log(inv_logit(x) - inv_logit(y))", log_inv_logit_diff),
    binary("lmultiply", "x log(y), 0 if both are 0", lmultiply),
    unary("square", "x^2", square),
    unary("sqrt", "the square root", sqrt),
    unary("cbrt", "the cube root", cbrt),
    unary("inv", "1 / x", inv),
    unary("inv_sqrt", "1 / sqrt(x)", inv_sqrt),
    unary("inv_square", "1 / x^2", inv_square),
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
    unary("acosh", "the inverse hyperbolic cosine", acosh, rejects=True),
    unary("asinh", "the inverse hyperbolic sine", asinh),
    unary("atanh", "the inverse hyperbolic tangent", atanh, rejects=True),
    binary("hypot", "sqrt(x^2 + y^2) without overflow", hypotenuse),
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
    unary("log1p", "log(1 + x), accurate near 0", lambda xp, x: xp.np.log1p(x), rejects=True),
    elementwise("abs", "the absolute value", ("(I) => I", absolute), ("(T) => T", absolute)),
)
