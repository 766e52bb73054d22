"""Solutions of differential equations as one node of the tape.  Stan functions reference, "ODE solvers".

One explicit method (special/runge_kutta.py) stands behind all of Stan's names, with the tolerances that each
has there; the implicit ones of Stan take longer steps where a system is stiff.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autograd.tracer import isbox

from ppl.arrays import Array, Namespace, pullback, record, stack
from ppl.errors import Rejection
from ppl.stdlib.special.runge_kutta import Floats, Ints, Pull, Solution, Tolerance, adjoint, solve

STEPS = 5000
"""Steps that are tried before a solution is given up, where the program allows more."""
UNSOLVED = "A differential equation was not solved in {} steps: it is stiff, or its solution runs away."
WANTED = "The times at which an equation is to be solved must increase and come after the first, {:.6g}."

Call = Callable[[Array, Array, Sequence[Array]], Array]
"""dy/dt (m, dim) from times (m,), states (m, dim) and arguments (m, *shape), plain or on a tape."""


def ode(xp: Namespace, f: Any, y0: Array, t0: Array, ts: Array, *rest: Any) -> Array:
    """States (times, dim) of dy/dt = f(t, y, *args) from y0 at t0; `rest` is three tolerances, then args."""
    args = rest[3:]
    varying = [a for a in leaves(args) if isbox(a)]

    def call(t: Array, y: Array, given: Sequence[Array]) -> Array:
        each = zip(t, y, *given, strict=True) if given else zip(t, y, strict=True)
        return stack(0, *[f(at, state, *with_leaves(args, isbox, iter(own))) for at, state, *own in each])

    first, begin, times, *given = (added_axis(xp, a) for a in (y0, t0, ts, *varying))
    return trajectories(call, (first, begin, times, *given), rest[:3])[0]


def added_axis(xp: Namespace, a: Array) -> Array:
    return xp.np.reshape(a, (1, *np.shape(a)))


def leaves(args: Any) -> list[Any]:
    """The arrays and numbers among arguments, of which some are tuples."""
    return [leaf for a in args for leaf in (leaves(a) if isinstance(a, list | tuple) else [a])]


def with_leaves(args: Any, varies: Callable[[Any], bool], given: Any) -> list[Any]:
    """The arguments with the next of `given` in place of each leaf that varies."""
    return [
        type(a)(with_leaves(a, varies, given))
        if isinstance(a, list | tuple)
        else next(given)
        if varies(a)
        else a
        for a in args
    ]


def trajectories(call: Call, inputs: Sequence[Array], tolerances: Sequence[Any]) -> Array:
    """States (n, times, dim) of n problems; on the tape if one of the inputs is.

    `inputs` are the first states (n, dim), their times (n,), the times of interest (n, times) and what else
    the problems differ by, (n, *shape).

    Raises:
        Rejection: the times are out of order, or a lone problem has no solution within the steps allowed.
    """
    boxed = [i for i, a in enumerate(inputs) if isbox(a)]
    plain = [a._value if isbox(a) else np.asarray(a, dtype=float) for a in inputs]
    y0, t0, ts, *varying = plain
    relative, absolute, most = tolerances
    tolerance = Tolerance(float(relative), float(absolute), min(int(most), STEPS))
    if ts.shape[1] and not (np.all(ts[:, 0] > t0) and np.all(np.diff(ts) >= 0)):
        raise Rejection(WANTED.format(t0[0]))

    def field(t: Floats, y: Floats, rows: Ints) -> Floats:
        return np.asarray(call(t, y, [v[rows] for v in varying]), dtype=float)

    solution = solve(field, y0, t0, ts, tolerance)
    if len(y0) == 1 and not np.isfinite(solution.y).all():
        raise Rejection(UNSOLVED.format(tolerance.steps))
    if not boxed:
        return solution.y

    def adjoints(g: Floats) -> list[Floats]:
        parts = backwards(call, field, plain, solution, np.asarray(g))
        return [parts[i] for i in boxed]

    return record([inputs[i] for i in boxed], solution.y, adjoints)


def backwards(
    call: Call, field: Any, inputs: Sequence[Floats], solution: Solution, g: Floats
) -> list[Floats]:
    """The adjoints of all inputs from that of the solution."""
    y0, t0, ts, *varying = inputs
    found = [np.zeros(v.shape) for v in varying]

    def linearise(t: Floats, y: Floats, rows: Ints) -> tuple[Floats, Pull]:
        def slopes(traced: list[Array]) -> Array:
            return call(t, traced[0], traced[1:])

        value, pull = pullback(slopes, [y, *(v[rows] for v in varying)])
        jacobian = np.empty((*y.shape, y.shape[1]))
        for i in range(y.shape[1]):
            one = np.zeros(np.shape(value))
            one[:, i] = 1.0
            jacobian[:, i] = pull(one)[0]

        def spread(adjoints: Floats) -> None:
            for total, part in zip(found, pull(adjoints)[1:], strict=True):
                np.add.at(total, rows, part)

        return jacobian, spread

    first = adjoint(solution, linearise, g)
    rows = np.arange(len(y0))
    of_start = -(first * field(t0, y0, rows)).sum(axis=1)
    of_times = [(g[:, k] * field(ts[:, k], solution.y[:, k], rows)).sum(axis=1) for k in range(ts.shape[1])]
    return [first, of_start, np.stack(of_times, axis=1) if of_times else np.zeros(ts.shape), *found]
