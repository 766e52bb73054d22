"""No constraint: the map that keeps every element."""

from functools import partial

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.constraints.layout import flatten, unflatten
from ppl.stdlib.constraints.record import ELEMENTWISE, Constraint, ConstraintPage, Shape


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    return unflatten(xp, u, shape), 0.0


def check(x: Array, shape: Shape) -> None:
    return None


IDENTITY = Constraint(
    keyword="identity",
    meaning="no constraint",
    constrain=constrain,
    unconstrain=partial(flatten, NUMPY),
    check=check,
    page=ConstraintPage("real x;", ELEMENTWISE, ("x = u",), "0", ()),
)
