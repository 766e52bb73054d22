"""Vectors of length one.  Stan Reference Manual, "Unit vector"."""

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.constraints.conditions import Members, of_length_one
from ppl.stdlib.constraints.layout import flat_shape
from ppl.stdlib.constraints.record import Constraint, Page, Shape


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """x = u / |u|; in place of a Jacobian, which does not exist, the log density of a standard normal u."""
    squared = xp.np.sum(u * u, axis=-1, keepdims=True)
    return u / xp.np.sqrt(squared), -0.5 * squared


def unconstrain(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    return x


def bad_shape(shape: Shape) -> str | None:
    """With one entry x is -1 or 1, which no density on R maps to; Stan refuses it too."""
    return "it needs at least two entries." if shape[0] < 2 else None


MEMBERS = Members(1, (of_length_one("is not a unit vector"),))

UNIT_VECTOR = Constraint(
    keyword="unit_vector",
    meaning="a vector of Euclidean length one",
    free_shape=flat_shape,
    constrain=constrain,
    unconstrain=unconstrain,
    contains=MEMBERS.contains,
    check=MEMBERS.check,
    bad_shape=bad_shape,
    interval=(-1.0, 1.0),
    value="vector",
    page=Page(
        "unit_vector[K] x;  (K at least 2)",
        "K",
        ("x = u / norm2(u)",),
        "-u' * u / 2; the log density of a standard normal u in place of it",
        (3,),
    ),
)
