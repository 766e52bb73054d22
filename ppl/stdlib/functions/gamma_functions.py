"""The gamma and beta functions, binomial coefficients and factorials.

Stan Functions Reference, "Combinatorial functions".
"""

import math
from collections.abc import Callable

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.errors import InferenceError
from ppl.stdlib.functions.operators import LARGEST_INT
from ppl.stdlib.record import Function, Impl, binary, elementwise, guarded, unary
from ppl.stdlib.special import log_gamma_ratio
from ppl.stdlib.special.polygamma import digamma, log_gamma, trigamma


def _not_a_pole(xp: Namespace, x: Array) -> Array:
    """Whether the gamma function has a value: at 0, -1, -2, ... it has none."""
    return (x > 0) | (x != xp.np.floor(x))


@with_partials(lambda xp, ans, x: ans * digamma(xp, x))
def tgamma(xp: Namespace, x: Array) -> Array:
    return guarded(xp, _not_a_pole(xp, 1.0 * x), xp.special.gamma(1.0 * x))


def _half_steps(xp: Namespace, f: Callable[..., Array], k: Array, x: Array) -> Array:
    """The sum of f(x - j/2) over j = 0, ..., k - 1."""
    largest = int(np.max(xp.plain(k), initial=0))
    return sum((xp.np.where(j < k, f(xp, x - 0.5 * j), 0.0) for j in range(largest)), 0.0 * x)


@with_partials(None, lambda xp, ans, k, x: _half_steps(xp, digamma, k, x))
def lmgamma(xp: Namespace, k: Array, x: Array) -> Array:
    """The log of the k-variate gamma function (T. W. Anderson, "Multivariate Statistical Analysis", 7.2)."""
    return 0.25 * k * (k - 1) * math.log(math.pi) + _half_steps(xp, log_gamma, k, x)


def lbeta(xp: Namespace, a: Array, b: Array) -> Array:
    """nan where Stan refuses: an argument is negative."""
    return guarded(xp, (a >= 0) & (b >= 0), log_gamma_ratio.log_beta(xp, 1.0 * a, 1.0 * b))


def _beta_slope(xp: Namespace, ans: Array, a: Array, b: Array) -> Array:
    """The derivative of beta(a, b) in a, which is defined for negative numbers, too."""
    positive = (a > 0) & (b > 0)
    x, y = xp.np.where(positive, a, 1.0), xp.np.where(positive, b, 1.0)
    rise = log_gamma_ratio.digamma_rise(xp, x, y)
    return -ans * xp.np.where(positive, rise, digamma(xp, a + b) - digamma(xp, 1.0 * a))


@with_partials(_beta_slope, lambda xp, ans, a, b: _beta_slope(xp, ans, b, a))
def beta(xp: Namespace, a: Array, b: Array) -> Array:
    """At the poles of the gamma function never finite, although the quotient may have a limit there."""
    value = xp.special.beta(a, b)
    defined = _not_a_pole(xp, 1.0 * a) & _not_a_pole(xp, 1.0 * b)
    return guarded(xp, defined | xp.np.isinf(value), value)


@with_partials(
    lambda xp, ans, n, k: log_gamma_ratio.digamma_rise(xp, n - k + 1.0, k),
    lambda xp, ans, n, k: digamma(xp, n - k + 1.0) - digamma(xp, k + 1.0),
)
def lchoose(xp: Namespace, n: Array, k: Array) -> Array:
    """nan where Stan refuses: n, k or n - k is below -1."""
    value = xp.np.where(k == 0, 0.0, log_gamma_ratio.log_choose(xp, 1.0 * n, 1.0 * k))
    return guarded(xp, (n >= -1) & (k >= -1) & (n - k >= -1), value)


@with_partials(
    lambda xp, ans, x, n: digamma(xp, x + 1.0) - digamma(xp, x - n + 1.0),
    lambda xp, ans, x, n: digamma(xp, x - n + 1.0),
)
def log_falling_factorial(xp: Namespace, x: Array, n: Array) -> Array:
    """lgamma(x + 1) - lgamma(x - n + 1), of a positive x."""
    return guarded(xp, x > 0, log_gamma(xp, x + 1.0) - log_gamma(xp, x - n + 1.0))


@with_partials(
    lambda xp, ans, x, n: digamma(xp, x + n) - digamma(xp, x),
    lambda xp, ans, x, n: digamma(xp, x + n),
)
def log_rising_factorial(xp: Namespace, x: Array, n: Array) -> Array:
    """lgamma(x + n) - lgamma(x), of a positive x."""
    return guarded(xp, x > 0, log_gamma(xp, 1.0 * x + n) - log_gamma(xp, 1.0 * x))


def _has_factorial(x: Array, n: Array) -> Array:
    return (x == x) & (n >= 0)


@with_partials(lambda xp, ans, x, n: ans * (digamma(xp, x + n) - digamma(xp, x)), None)
def rising_factorial(xp: Namespace, x: Array, n: Array) -> Array:
    return guarded(xp, _has_factorial(x, n), xp.special.poch(x, n))


@with_partials(lambda xp, ans, x, n: ans * (digamma(xp, x + 1.0) - digamma(xp, x - n + 1.0)), None)
def falling_factorial(xp: Namespace, x: Array, n: Array) -> Array:
    return guarded(xp, _has_factorial(x, n), xp.special.poch(x - n + 1.0, n))


def _counting(name: str, count: Callable[[int, int], int]) -> Callable[..., Array]:
    """`count` over ints and arrays of them, which refuses what has no answer among Stan's ints."""

    def one(n: int, k: int) -> int:
        if k < 0:
            raise InferenceError(f"{name}({n}, {k}): the second argument must not be negative")
        value = count(int(n), int(k))
        if abs(value) > LARGEST_INT:
            raise InferenceError(f"{name}({n}, {k}) is {value}, beyond the largest int {LARGEST_INT}")
        return value

    return lambda xp, n, k: np.vectorize(one, otypes=[int])(n, k)[()]


def _choose(n: int, k: int) -> int:
    if n < 0:
        raise InferenceError(f"choose({n}, {k}): the first argument must not be negative")
    return math.comb(n, k)


def _factorial(name: str, meaning: str, on_ints: Impl, impl: Impl) -> Function:
    return elementwise(name, meaning, ("(I, I) => I", on_ints), ("(T, I) => T", impl))


FUNCTIONS: tuple[Function, ...] = (
    unary("lgamma", "the log of the absolute value of the gamma function", log_gamma),
    unary("tgamma", "the gamma function", tgamma),
    unary("digamma", "the derivative of lgamma", digamma),
    unary("trigamma", "the second derivative of lgamma", trigamma),
    elementwise("lmgamma", "the log of the k-variate gamma function", ("(I, T) => T", lmgamma)),
    binary("lbeta", "the log of the beta function", lbeta, rejects=True),
    binary("beta", "the beta function", beta),
    binary("lchoose", "the log of the binomial coefficient, for reals", lchoose, rejects=True),
    elementwise(
        "choose", "the number of ways to choose k of n", ("(I, I) => I", _counting("choose", _choose))
    ),
    _factorial(
        "rising_factorial",
        "x (x + 1) ... (x + n - 1)",
        _counting("rising_factorial", lambda x, n: math.prod(range(x, x + n))),
        rising_factorial,
    ),
    _factorial(
        "falling_factorial",
        "x (x - 1) ... (x - n + 1)",
        _counting("falling_factorial", lambda x, n: math.prod(range(x - n + 1, x + 1))),
        falling_factorial,
    ),
    binary("log_rising_factorial", "lgamma(x + n) - lgamma(x)", log_rising_factorial, rejects=True),
    binary("log_falling_factorial", "lgamma(x + 1) - lgamma(x - n + 1)", log_falling_factorial, rejects=True),
)
