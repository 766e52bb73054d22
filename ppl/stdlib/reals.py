"""NumPy's floats for an implementation whose arguments may be Python numbers or ints."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace, Node


def as_real(x: Array) -> Array:
    """`x` as NumPy floats when it holds plain ints or Python numbers; anything else as it is."""
    if isinstance(x, int | float | np.integer):
        return np.float64(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "biu":
        return x.astype(float)
    return x


def reals(implementation: Callable[..., Any]) -> Callable[..., Any]:
    """Make every argument of `implementation(xp, *args)` real.

    Division by a zero is then inf or nan, as in Stan, instead of Python's ZeroDivisionError, and a power
    of an int is never integer arithmetic.
    """

    if isinstance(implementation, Node):
        return implementation.accepting(as_real)

    @wraps(implementation)
    def call(xp: Namespace, *args: Array) -> Array:
        return implementation(xp, *map(as_real, args))

    return call
