"""Initial value problems: the states at given times, and the adjoints of everything they depend on.

Every draw takes steps of its own, chosen by its own error (Hairer, Norsett and Wanner 1993, section II.4),
and stops at each time that is asked for.  The adjoints are those of the steps taken, with their lengths held
fixed: the gradient is that of the numbers returned, not another approximation of the same integral.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.records import dataclass, field, replace
from ppl.stdlib.solvers.field import DrawNumbers, Field
from ppl.stdlib.solvers.runge_kutta import Begin, Method, Scales

SAFETY = 0.9
"""Of the step that the error estimate would just allow, the part that is taken."""
SHRINK, GROW = 0.2, 10.0
"""How much shorter or longer than the last one a step may be."""
SHRINK_AGAIN = 1e-4
"""How much shorter if the last one was refused, too: two errors tell the order that they have there."""
MOST_REFUSED = 30
"""Tries at one step, each at a fifth of the last where the rate is not finite."""
MOST_AT_LIMIT = 15
"""As in Hairer's own code of the explicit method."""
POINTS_AT_ONCE = 1 << 15
"""Stages whose Jacobians are held at a time on the way back."""


class Round(NamedTuple):
    """Steps that several draws took together; `reached` is the output that each ends at, or -1."""

    draws: DrawNumbers
    t: Floats
    h: Floats
    stages: Floats
    reached: DrawNumbers


@dataclass
class Trajectory:
    """States (draws, outputs, n) at the times asked for, nan after a failure, and the steps to them."""

    method: Method
    start: Floats
    t0: Floats
    times: Floats
    states: Floats
    rounds: list[Round] = field(default_factory=list)

    @property
    def complete(self) -> Any:
        """Which draws came to the end (draws,)."""
        return np.isfinite(self.states).all(axis=(1, 2))


def trajectory(
    f: Field,
    method: Method,
    start: Floats,
    t0: Floats,
    times: Floats,
    scales: Scales,
    most_tries: float,
    among: Any = True,
) -> Trajectory:
    """Solve from `start` (draws, n) at t0 (draws,) up to increasing `times` (draws, outputs).

    A draw that is not there after `most_tries` steps has failed, and so has one that shortened a step
    `MOST_REFUSED` times, or is stiff: of its steps `MOST_AT_LIMIT` were as long as the method is stable for.
    Only draws that are `among` (draws,) are looked at.
    """
    count, outputs = times.shape
    out = Trajectory(method, start, t0, times, np.full((count, outputs, start.shape[1]), np.nan))
    t, y, tried = t0.astype(float), start.astype(float), np.zeros(count, dtype=int)
    done = np.where(among, 0, outputs) * np.ones(count, dtype=int)
    at_limit, refused = np.zeros(count, dtype=int), np.zeros(count, dtype=int)
    refusals = np.full((2, count), np.nan)
    every = np.arange(count)
    h = first_lengths(np, lambda t, y: f.values(t, y, every), scales, method.order, t, y)
    while (active := np.flatnonzero((done < outputs) & (tried < most_tries) & (h > 0))).size:
        room = times[active, done[active]] - t[active]
        length = np.minimum(h[active], room)
        step = method.step(f, Begin(t[active], y[active], length, active), scales)
        good = step.error <= 1
        accepted, whole = active[good], (length == room)[good]
        reached = np.where(whole, done[accepted], -1)
        out.rounds.append(Round(accepted, t[accepted], length[good], step.stages[good], reached))
        y[accepted], t[accepted] = step.end[good], t[accepted] + length[good]
        t[accepted[whole]] = times[accepted[whole], done[accepted[whole]]]
        out.states[accepted[whole], done[accepted[whole]]] = step.end[good][whole]
        last, refusals[:, active] = refusals[:, active], np.where(good, np.nan, [length, step.error])
        longer = length * factors(np, step.error, *orders(method.order, last, refusals[:, active]))
        tried[active] += 1
        at_limit[active] += good & step.at_limit
        refused[active] = np.where(good, 0, refused[active] + 1)
        h[active] = np.where(good & (length == room), np.maximum(h[active], longer), longer)
        done[accepted[whole]] += 1
        goes_on = (at_limit[active] < MOST_AT_LIMIT) & (refused[active] < MOST_REFUSED)
        h[active] = np.where(goes_on & (t[active] + h[active] > t[active]), h[active], 0.0)
    return out


def joint(first: Trajectory, second: Trajectory) -> tuple[Floats, list[Trajectory]]:
    """The states of draws that two methods share out between them, and the steps to them, by method."""
    by_first = first.complete
    states = np.where(by_first[:, None, None], first.states, second.states)
    rounds = [Round._make(x[by_first[r.draws]] for x in r) for r in first.rounds]
    return states, [replace(first, rounds=rounds), second]


def factors(xp: Any, error: Any, order: Any, least: Any = SHRINK) -> Any:
    """How much longer the next step may be; `xp` is NumPy or what stands for it."""
    known = xp.where(xp.isfinite(error), xp.maximum(error, 1e-10), xp.inf)
    return xp.clip(SAFETY * known ** (-1 / order), least, GROW)


def orders(usual: int, last: Floats, now: Floats) -> tuple[Any, Any]:
    """The order of the errors, and how much shorter the next steps may be, from two refusals in a row.

    Each is the lengths and errors (2, m), nan where a step was not refused.  Where the rate jumps the error
    shrinks like the length alone (Hairer and Wanner 1996, section IV.8).
    """
    with np.errstate(all="ignore"):
        seen = np.log(now[1] / last[1]) / np.log(now[0] / last[0])
    known = np.isfinite(seen)
    return np.where(known, np.clip(seen, 1.0, usual), usual), np.where(known, SHRINK_AGAIN, SHRINK)


def first_lengths(
    xp: Any, rate: Callable[[Any, Any], Any], scales: Scales, order: int, t: Any, y: Any
) -> Any:
    """A cautious first step from y (..., n) at t (...) (Hairer, Norsett and Wanner 1993, section II.4)."""
    here = rate(t, y)
    size, speed = scales.norm(xp, y, y), scales.norm(xp, here, y)
    h = xp.where((size < 1e-5) | (speed < 1e-5), 1e-6, 0.01 * size / xp.maximum(speed, 1e-300))
    most = xp.fmax(speed, scales.norm(xp, rate(t + h, y + h[..., None] * here) - here, y) / h)
    longer = (0.01 / xp.maximum(most, 1e-300)) ** (1 / order)
    longer = xp.where(most <= 1e-15, xp.maximum(1e-6, 1e-3 * h), longer)
    return xp.fmin(100 * h, longer)


class Adjoints(NamedTuple):
    """Of the start (draws, n), of t0 (draws,), of the times (draws, outputs), and of each argument of f."""

    start: Floats
    t0: Floats
    times: Floats
    arguments: list[Any]


def adjoints(f: Field, paths: Sequence[Trajectory], states: Floats, g: Floats) -> Adjoints:
    """Adjoints of a function's causes, from g (draws, outputs, n), the adjoints of the states."""
    _, outputs, n = g.shape
    parts = [through_steps(f, path, g) for path in paths if any(len(r.draws) for r in path.rounds)]
    at_start = sum((start for start, _ in parts), np.zeros((len(g), n)))
    every, first = np.arange(len(g)), paths[0]
    rates = f.values(first.times.ravel(), states.reshape(-1, n), np.repeat(every, outputs))
    return Adjoints(
        at_start,
        -(at_start * f.values(first.t0, first.start, every)).sum(axis=1),
        (g * rates.reshape(g.shape)).sum(axis=2),
        [sum(column) for column in zip(*(arguments for _, arguments in parts), strict=True)],
    )


def through_steps(f: Field, path: Trajectory, g: Floats) -> tuple[Floats, list[Any]]:
    """The adjoints of the start and of f's arguments along one trajectory."""
    c, n = path.method.nodes, g.shape[2]
    adjoint, arguments = np.zeros((len(g), n)), []
    for part in parts_from_the_end(path.rounds, len(c)):
        draws, t, h, stages, _ = map(np.concatenate, zip(*part, strict=True))
        steps, width = len(draws), len(c) * n
        times = (t[:, None] + h[:, None] * c).ravel()
        near = f.linearised(times, stages.reshape(-1, n), np.repeat(draws, len(c)))
        units = path.method.adjoints(near.jacobians.reshape(steps, len(c), n, n), h).reshape(steps, n, width)
        back = np.eye(n) + units @ near.jacobians.reshape(steps, width, n)
        at_end = through_rounds(part, back, g, adjoint)
        arguments.append(near.pull((at_end[:, None] @ units).reshape(-1, n)))
    return adjoint, [sum(column) for column in zip(*arguments, strict=True)]


def parts_from_the_end(rounds: Sequence[Round], stages: int) -> Iterator[list[Round]]:
    """The rounds, latest first, in parts of about `POINTS_AT_ONCE` stages; those of a part in order."""
    part: list[Round] = []
    for r in reversed(rounds):
        part.insert(0, r)
        if stages * sum(len(r.draws) for r in part) > POINTS_AT_ONCE:
            yield part
            part = []
    if any(len(r.draws) for r in part):
        yield part


def through_rounds(rounds: Sequence[Round], back: Floats, g: Floats, adjoint: Floats) -> Floats:
    """The adjoint at the end of each step; that of each draw, in place, becomes what it is at the start.

    `back` (steps, n, n) takes an adjoint from the end of a step to its beginning.
    """
    at_end, end = np.empty(back.shape[:2]), len(back)
    for r in reversed(rounds):
        begin = end - len(r.draws)
        here = adjoint[r.draws] + np.where(r.reached[:, None] >= 0, g[r.draws, r.reached], 0.0)
        at_end[begin:end] = here
        adjoint[r.draws] = np.einsum("mg,mgy->my", here, back[begin:end])
        end = begin
    return at_end
