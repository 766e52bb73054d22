"""Shared by the discrete families: safe ratios, and sums of a mass function over a range of counts."""

from collections.abc import Callable
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.functions.log_sums import log_sum_exp

FEW_N = 64
"""Counts that are not worth a table."""


def per(xp: Namespace, n: Array, x: Array) -> Array:
    """n / x, and 0 where n is 0 even at x = 0: the derivative of n log x."""
    return xp.np.where(n == 0, 0.0, xp.np.divide(n, xp.np.where(n == 0, 1.0, x)))


def of_counts(f: Callable[..., Array], xp: Namespace, n: Array, *scalars: Array) -> Array:
    """f(xp, n, *scalars), computed once for each small count where many are equal."""
    many = isinstance(n, np.ndarray) and n.size > FEW_N and n.dtype.kind == "i"
    if many and not any(map(np.ndim, scalars)) and n.min() >= 0 and 4 * (most := n.max()) < n.size:
        return f(xp, np.arange(most + 1), *scalars)[n]
    return f(xp, n, *scalars)


def log_factorial(xp: Namespace, n: Array) -> Array:
    """log n!"""
    return of_counts(lambda xp, n: xp.special.gammaln(n + 1.0), xp, n)


def all_positive(*parameters: Array) -> Array:
    """Where all are positive and finite."""
    return reduce(and_, ((x > 0) & (x < np.inf) for x in parameters))


def distinct(xp: Namespace, n: Array) -> Array:
    """The different counts in an array, in order."""
    return np.unique(n)


def tally(xp: Namespace, n: Array) -> Array:
    """How often each of them occurs."""
    return np.unique(n, return_counts=True)[1]


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
