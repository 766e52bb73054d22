"""Increasing vectors: steps are exponentials.  Stan Reference Manual, "Ordered vector"."""

from functools import partial
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, flip, with_vjps
from ppl.stdlib.constraints.layout import flat_shape
from ppl.stdlib.constraints.record import Constraint, Shape
from ppl.stdlib.constraints.sentences import each, number


def _is_step(u: Array) -> np.ndarray:
    """False for the first element, which is where the vector starts."""
    return np.arange(u.shape[-1]) > 0


def _increasing_adjoint(xp: Namespace, g: Array, ans: Array, u: Array) -> Array:
    later = flip(xp, xp.np.cumsum(flip(xp, g, -1), axis=-1), -1)
    return later * xp.np.where(_is_step(u), xp.np.exp(xp.np.where(_is_step(u), u, 0.0)), 1.0)


@with_vjps(_increasing_adjoint)
def _increasing(xp: Namespace, u: Array) -> Array:
    steps = xp.np.concatenate([u[..., :1], xp.np.exp(u[..., 1:])], axis=-1)
    return xp.np.cumsum(steps, axis=-1)


def constrain(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """x_1 = u_1, x_k = x_{k-1} + exp(u_k)."""
    return _increasing(xp, u), _is_step(u) * u


def unconstrain(xp: Namespace, x: Array, shape: Shape) -> Array:
    return xp.np.concatenate([x[..., :1], _log_steps(xp, x)], axis=-1)


def constrain_positive(xp: Namespace, u: Array, shape: Shape) -> tuple[Array, Array]:
    """x_1 = exp(u_1), x_k = x_{k-1} + exp(u_k)."""
    return xp.np.cumsum(xp.np.exp(u), axis=-1), u


def unconstrain_positive(xp: Namespace, x: Array, shape: Shape) -> Array:
    return xp.np.concatenate([xp.np.log(x[..., :1]), _log_steps(xp, x)], axis=-1)


def _log_steps(xp: Namespace, x: Array) -> Array:
    return xp.np.log(x[..., 1:] - x[..., :-1])


def _not_increasing(x: np.ndarray) -> str | None:
    for k in range(1, len(x)):
        if not x[k] > x[k - 1]:
            return (
                f"is not ordered: element [{k + 1}] is {number(x[k])}, "
                f"but must be greater than the element before it, {number(x[k - 1])}"
            )
    return None


def _are_increasing(x: np.ndarray) -> Any:
    return np.all(x[..., 1:] > x[..., :-1], axis=-1)


def _not_positive_increasing(x: np.ndarray) -> str | None:
    if len(x) and not x[0] >= 0:
        return f"is not positive: element [1] is {number(x[0])}, but must be at least 0"
    return _not_increasing(x)


def check(x: Array, shape: Shape) -> str | None:
    return each(x, 1, _not_increasing, _are_increasing)


def check_positive(x: Array, shape: Shape) -> str | None:
    return each(x, 1, _not_positive_increasing)


ORDERED = Constraint(
    keyword="ordered",
    meaning="an increasing vector",
    arguments=(),
    free_shape=flat_shape,
    constrain=constrain,
    unconstrain=partial(unconstrain, NUMPY),
    check=check,
)

POSITIVE_ORDERED = Constraint(
    keyword="positive_ordered",
    meaning="an increasing vector of positive numbers",
    arguments=(),
    free_shape=flat_shape,
    constrain=constrain_positive,
    unconstrain=partial(unconstrain_positive, NUMPY),
    check=check_positive,
)
