"""Offset and multiplier: x = offset + multiplier u.  Stan Reference Manual, "Affinely transformed scalar"."""

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.constraints.layout import flat_shape, flatten, unflatten
from ppl.stdlib.constraints.record import Constraint, Shape
from ppl.stdlib.constraints.sentences import first_element
from ppl.stdlib.record import guarded


def _slope(xp: Namespace, multiplier: Array) -> Array:
    """The multiplier, nan unless it is positive and finite."""
    plain = xp.plain(multiplier)
    return guarded(xp, (plain > 0) & (plain < np.inf), multiplier)


def affine(xp: Namespace, u: Array, offset: Array, multiplier: Array) -> tuple[Array, Array]:
    """(x, log dx/du), elementwise."""
    slope = _slope(xp, multiplier)
    return offset + slope * u, xp.np.log(slope) * np.ones(np.shape(u))


def inverse(xp: Namespace, x: Array, offset: Array, multiplier: Array) -> Array:
    return (x - offset) / _slope(xp, multiplier)


def constrain(
    xp: Namespace, u: Array, shape: Shape, offset: Array = 0.0, multiplier: Array = 1.0
) -> tuple[Array, Array]:
    return affine(xp, unflatten(xp, u, shape), offset, multiplier)


def unconstrain(x: Array, shape: Shape, offset: Array = 0.0, multiplier: Array = 1.0) -> Array:
    return flatten(NUMPY, inverse(NUMPY, np.asarray(x, dtype=float), offset, multiplier), shape)


def check(x: Array, shape: Shape, offset: Array = 0.0, multiplier: Array = 1.0) -> str | None:
    """Every value is allowed; offset and multiplier themselves may be at fault."""
    m, s = np.asarray(offset, dtype=float), np.asarray(multiplier, dtype=float)
    fault = first_element(m, np.isfinite(m), lambda _: "finite")
    if fault is not None:
        return f"has an offset that {fault}" if m.ndim == 0 else f"has an offset whose element {fault}"
    fault = first_element(s, (s > 0) & (s < np.inf), lambda _: "positive and finite")
    if fault is not None:
        return f"has a multiplier that {fault}" if s.ndim == 0 else f"has a multiplier whose element {fault}"
    return None


OFFSET_MULTIPLIER = Constraint(
    keyword="offset_multiplier",
    meaning="shifted and scaled: x = offset + multiplier u",
    arguments=("offset", "multiplier"),
    free_shape=flat_shape,
    constrain=constrain,
    unconstrain=unconstrain,
    check=check,
)
