"""Increasing vectors: steps are exponentials.  Stan Reference Manual, "Ordered vector"."""

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, flip, with_vjps
from ppl.stdlib.constraints.conditions import INCREASING, NONNEGATIVE, Condition, constraint
from ppl.stdlib.constraints.record import ConstraintPage, Shape


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


def unconstrain(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    return xp.np.concatenate([x[..., :1], _log_steps(xp, x)], axis=-1)


def unconstrain_positive(x: Array, shape: Shape, xp: Namespace = NUMPY) -> Array:
    return xp.np.concatenate([xp.np.log(x[..., :1]), _log_steps(xp, x)], axis=-1)


def _log_steps(xp: Namespace, x: Array) -> Array:
    return xp.np.log(x[..., 1:] - x[..., :-1])


POSITIVE = Condition(lambda xp, x: x[..., :1] >= 0, lambda x, k: f"is not positive: {NONNEGATIVE.says(x, k)}")

ORDERED = constraint(
    keyword="ordered",
    meaning="an increasing vector",
    constrain=constrain,
    unconstrain=unconstrain,
    conditions=(INCREASING,),
    value="vector",
    page=ConstraintPage(
        "ordered[K] x;", "K", ("x[1] = u[1]", "x[k] = x[k - 1] + exp(u[k])"), "sum(u[2:K])", (3,)
    ),
)

POSITIVE_ORDERED = constraint(
    keyword="positive_ordered",
    meaning="an increasing vector of positive numbers",
    constrain=lambda xp, u, shape: (xp.np.cumsum(xp.np.exp(u), axis=-1), u),
    unconstrain=unconstrain_positive,
    interval=(0.0, np.inf),
    conditions=(POSITIVE, INCREASING),
    value="vector",
    page=ConstraintPage(
        "positive_ordered[K] x;",
        "K",
        ("x[1] = exp(u[1])", "x[k] = x[k - 1] + exp(u[k])"),
        "sum(u)",
        (3,),
    ),
)
