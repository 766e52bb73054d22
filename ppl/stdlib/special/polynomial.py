"""Polynomials in one variable."""

from collections.abc import Sequence

from ppl.arrays import Array


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """By Horner's rule, from the coefficients of x^0, x^1, ..."""
    total: Array = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total
