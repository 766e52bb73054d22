"""Complex numbers: no constraint, two free numbers each, the real part before the imaginary one."""

import math

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, as_pairs
from ppl.stdlib.constraints.identity import check
from ppl.stdlib.constraints.layout import flatten, unflatten
from ppl.stdlib.constraints.record import Constraint, ConstraintPage, Shape, flat_shape
from ppl.stdlib.functions.complex_parts import to_complex


def free_shape(shape: Shape) -> Shape:
    return (2 * math.prod(shape),)


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    pairs = xp.np.reshape(u, (*u.shape[:-1], *flat_shape(shape), 2))
    return unflatten(xp, to_complex(xp, pairs[..., 0], pairs[..., 1]), shape), 0.0


def unconstrain(x: Array, shape: Shape) -> Array:
    pairs = as_pairs(flatten(NUMPY, np.asarray(x), shape))
    return np.reshape(pairs, (*np.shape(x)[: np.ndim(x) - len(shape)], *free_shape(shape)))


COMPLEX = Constraint(
    keyword="complex",
    meaning="a complex number, by its real and imaginary parts",
    free_shape=free_shape,
    constrain=constrain,
    unconstrain=unconstrain,
    check=check,
    page=ConstraintPage("complex z;", "2", ("z = u[1] + i * u[2]",), "0", ()),
)
