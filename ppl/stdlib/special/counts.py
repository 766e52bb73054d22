"""What the discrete families share: safe ratios, and sums of a mass function over a range of counts."""

from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.functions.log_sums import log_sum_exp


def per(xp: Namespace, n: Array, x: Array) -> Array:
    """n / x, and 0 where n is 0 even at x = 0: the derivative of n log x."""
    return xp.np.where(n == 0, 0.0, xp.np.divide(n, xp.np.where(n == 0, 1.0, x)))


def softplus(xp: Namespace, x: Array) -> Array:
    """log(1 + exp(x)), finite for every finite x."""
    return xp.np.logaddexp(0.0, x)


def log_sum(
    xp: Namespace, log_mass: Any, first: Array, last: Array, most: Array, *parameters: Array
) -> Array:
    """The log of the sum of exp(log_mass(xp, k, *parameters)) over k = first, ..., last.

    Elementwise with broadcasting; every k lies in 0, ..., most, and there may be none.
    """
    first, last, most = (np.expand_dims(x, -1) for x in (first, last, most))
    k = np.arange(np.max(last, initial=-1) + 1)
    terms = log_mass(xp, np.clip(k, 0, most), *(xp.np.expand_dims(x, -1) for x in parameters))
    return log_sum_exp(xp, xp.np.where((k >= first) & (k <= last), terms, -np.inf))
