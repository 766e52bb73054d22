"""Differential equations of many draws: each is a problem of its own, and all are solved side by side."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.backend.per_draw import Indices, PartWays, PerDraw, laid_out, number_of_draws
from ppl.stdlib.functions.ode import leaves, trajectories, with_leaves


def ode(xp: Namespace, f: Callable[..., Any], y0: Any, t0: Any, ts: Any, *rest: Any) -> PerDraw:
    """As the library's `ode`, once for all draws."""
    args = rest[3:]
    draws = number_of_draws((y0, t0, ts, args))
    varying = [a.each for a in leaves(args) if differs(a)]

    def call(t: Array, y: Array, given: Sequence[Array]) -> Array:
        own = (PerDraw(xp, v) for v in given)
        return laid_out(f(PerDraw(xp, t), PerDraw(xp, y), *with_leaves(args, differs, own)), len(t))

    def call_in_groups(t: Array, y: Array, given: Sequence[Array]) -> Array:
        try:
            return call(t, y, given)
        except PartWays as parting:
            return in_groups(xp, call_in_groups, parting.groups, (t, y, given))

    inputs = [laid_out(a, draws) for a in (y0, t0, ts)]
    return PerDraw(xp, trajectories(call_in_groups, (*inputs, *varying), rest[:3]))


def differs(a: Any) -> bool:
    return isinstance(a, PerDraw)


def in_groups(xp: Namespace, call: Callable[..., Array], groups: Sequence[Indices], points: Any) -> Array:
    """Points that take different branches of the function, a group at a time, in the order they had."""
    t, y, given = points
    found = [call(t[group], y[group], [v[group] for v in given]) for group in groups]
    return xp.np.concatenate(found)[np.argsort(np.concatenate(groups))]
