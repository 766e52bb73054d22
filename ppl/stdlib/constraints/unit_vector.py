"""Vectors of length one.  Stan Reference Manual, "Unit vector"."""

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.constraints.conditions import constraint, of_length_one
from ppl.stdlib.constraints.record import ConstraintPage, Shape


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """x = u / |u|; in place of a Jacobian, which does not exist, the log density of a standard normal u."""
    squared = xp.np.sum(u * u, axis=-1, keepdims=True)
    return u / xp.np.sqrt(squared), -0.5 * squared


def unconstrain(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    return x


UNIT_VECTOR = constraint(
    keyword="unit_vector",
    meaning="a vector of Euclidean length one",
    constrain=constrain,
    unconstrain=unconstrain,
    # with one entry x is -1 or 1, which no density on R maps to; Stan refuses it too
    bad_shape=lambda shape: "it needs at least two entries." if shape[0] < 2 else None,
    interval=(-1.0, 1.0),
    conditions=(of_length_one("is not a unit vector"),),
    value="vector",
    page=ConstraintPage(
        "unit_vector[K] x;  (K at least 2)",
        "K",
        ("x = u / norm2(u)",),
        "-u' * u / 2; the log density of a standard normal u in place of it",
        (3,),
    ),
)
