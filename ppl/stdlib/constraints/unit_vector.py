"""Vectors of length one.  Stan Reference Manual, "Unit vector"."""

from functools import partial

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.constraints.layout import flat_shape
from ppl.stdlib.constraints.record import Constraint, Shape
from ppl.stdlib.constraints.sentences import TOLERANCE, each, number


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """x = u / |u|; in place of a Jacobian, which does not exist, the log density of a standard normal u."""
    squared = xp.np.sum(u * u, axis=-1, keepdims=True)
    return u / xp.np.sqrt(squared), -0.5 * squared


def unconstrain(xp: Namespace, x: Array, shape: Shape) -> Array:
    return x


def _not_unit(x: np.ndarray) -> str | None:
    squared = x @ x
    if abs(squared - 1) <= TOLERANCE:
        return None
    return (
        f"is not a unit vector: its squares sum to {number(squared)}, "
        f"but must sum to 1 (tolerance {TOLERANCE:g})"
    )


def check(x: Array, shape: Shape) -> str | None:
    return each(x, 1, _not_unit)


def bad_shape(shape: Shape) -> str | None:
    """With one entry x is -1 or 1, which no density on R maps to; Stan refuses it too."""
    return "it needs at least two entries." if shape[0] < 2 else None


UNIT_VECTOR = Constraint(
    keyword="unit_vector",
    meaning="a vector of Euclidean length one",
    arguments=(),
    free_shape=flat_shape,
    constrain=constrain,
    unconstrain=partial(unconstrain, NUMPY),
    check=check,
    bad_shape=bad_shape,
    bounded=True,
)
