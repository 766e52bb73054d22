"""Small helpers of the discrete families."""

from ppl.arrays import Array, Namespace


def per(xp: Namespace, n: Array, x: Array) -> Array:
    """n / x, and 0 where n is 0 even at x = 0: the derivative of n log x."""
    return xp.np.where(n == 0, 0.0, xp.np.divide(n, xp.np.where(n == 0, 1.0, x)))


def softplus(xp: Namespace, x: Array) -> Array:
    """log(1 + exp(x)), finite for every finite x."""
    return xp.np.logaddexp(0.0, x)
