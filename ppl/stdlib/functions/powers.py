"""Powers and roots.  Stan Functions Reference, "Power and logarithm functions"."""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.record import Function, from_numpy, unary


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


FUNCTIONS: tuple[Function, ...] = (
    unary("square", "x^2", square),
    unary("sqrt", "the square root", sqrt),
    unary("cbrt", "the cube root", cbrt),
    unary("inv", "1 / x", inv),
    unary("inv_sqrt", "1 / sqrt(x)", inv_sqrt),
    unary("inv_square", "1 / x^2", inv_square),
)
