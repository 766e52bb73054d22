"""Offset and multiplier: x = offset + multiplier u.  Stan Reference Manual, "Affinely transformed scalar"."""

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.stdlib.constraints.layout import flatten, unflatten
from ppl.stdlib.constraints.record import ELEMENTWISE, Constraint, ConstraintPage, Shape
from ppl.stdlib.constraints.sentences import first_element
from ppl.stdlib.record import guarded


def _is_scale(s: Array) -> Array:
    return (s > 0) & (s < np.inf)


def _slope(xp: Namespace, multiplier: Array) -> Array:
    """The multiplier, nan unless it is positive and finite."""
    return guarded(xp, _is_scale(xp.plain(multiplier)), multiplier)


def constrain(
    xp: Namespace, u: Array, shape: Shape, offset: Array = 0.0, multiplier: Array = 1.0
) -> tuple[Array, Array]:
    slope, u = _slope(xp, multiplier), unflatten(xp, u, shape)
    return offset + slope * u, xp.np.log(slope) * np.ones(np.shape(u))


def unconstrain(
    x: Array, shape: Shape, offset: Array = 0.0, multiplier: Array = 1.0, xp: Namespace = NUMPY
) -> Array:
    return flatten(xp, (x - offset) / _slope(xp, multiplier), shape)


def contains(xp: Namespace, x: Array, offset: Array = 0.0, multiplier: Array = 1.0) -> Array:
    return xp.np.isfinite(offset) & _is_scale(multiplier)


def check(x: Array, shape: Shape, offset: Array = 0.0, multiplier: Array = 1.0) -> str | None:
    """Every value is allowed; offset and multiplier themselves may be at fault."""
    m, s = np.asarray(offset, dtype=float), np.asarray(multiplier, dtype=float)
    for name, own, fault in (
        ("an offset", m, first_element(m, np.isfinite(m), "finite")),
        ("a multiplier", s, first_element(s, _is_scale(s), "positive and finite")),
    ):
        if fault is not None:
            return f"has {name} {'whose element' if own.ndim else 'that'} {fault}"
    return None


OFFSET_MULTIPLIER = Constraint(
    keyword="offset_multiplier",
    meaning="a number shifted and scaled: x = offset + multiplier u",
    arguments=("offset", "multiplier"),
    constrain=constrain,
    unconstrain=unconstrain,
    contains=contains,
    check=check,
    value="real",
    page=ConstraintPage(
        "real<offset=m, multiplier=s> x;", ELEMENTWISE, ("x = m + s * u",), "log(s)", (), (1.0, 2.0)
    ),
)
