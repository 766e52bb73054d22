"""Initial value problems by the pair of Dormand and Prince, many at a time, and the adjoint of their steps.

Dormand and Prince (1980), J. Comp. Appl. Math. 6: order 5, its error estimated by order 4.  Steps are chosen
as in Hairer, Norsett and Wanner (1993), "Solving Ordinary Differential Equations I", II.4.  Each problem has
steps of its own, so that its solution is the same whatever else is solved beside it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

Field = Callable[[Floats, Floats, Ints], Floats]
"""dy/dt (m, dim) at times (m,) and states (m, dim) of the problems numbered (m,)."""

Pull = Callable[[Floats], None]
Linearise = Callable[[Floats, Floats, Ints], tuple[Floats, Pull]]
"""At such points: the Jacobian (m, dim, dim) of dy/dt in y, and what takes adjoints (m, dim) of dy/dt."""

NODES = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1])
STAGES = np.zeros((6, 6))
STAGES[1, :1] = 1 / 5
STAGES[2, :2] = 3 / 40, 9 / 40
STAGES[3, :3] = 44 / 45, -56 / 15, 32 / 9
STAGES[4, :4] = 19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729
STAGES[5, :5] = 9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656
WEIGHTS = np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84])
ERROR = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
ORDER = len(NODES) - 1

SAFETY, SHRINK_MOST, GROW_MOST = 0.9, 0.2, 5.0
STUCK = 1e-14
"""A step so much smaller than the time it starts from goes nowhere."""
NONE = -1
POINTS_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class Tolerance:
    """A step is taken when its error is below absolute + relative |y|; at most so many are tried."""

    relative: float
    absolute: float
    steps: int


class Step(NamedTuple):
    """A step that some problems took: `points` (stages, r, dim) are the states where the field was asked.

    `rows`, `t` and `h` (r,) are the problems, where they were and how far they went, `reached` (r,) the
    number of the time of interest that they reached by it, or NONE.
    """

    rows: Ints
    t: Floats
    h: Floats
    points: Floats
    reached: Ints


class Solution(NamedTuple):
    """States (n, times, dim), nan where a problem was given up, and the steps that led there."""

    y: Floats
    steps: list[Step]


def solve(field: Field, y: Floats, start: Floats, times: Floats, tolerance: Tolerance) -> Solution:
    """From states y (n, dim) at `start` (n,) to the later `times` (n, times), which increase."""
    n, dim = y.shape
    t, y, aim = start.copy(), y.copy(), np.zeros(n, dtype=np.intp)
    found, steps = np.full((n, times.shape[1], dim), np.nan), []
    slope = field(t, y, np.arange(n))
    size = first_size(field, t, y, slope, tolerance)
    for _ in range(tolerance.steps):
        rows = np.flatnonzero(aim < times.shape[1])
        if not rows.size:
            break
        left = times[rows, aim[rows]] - t[rows]
        h = np.minimum(size[rows], left)
        points, slopes = stages(field, t[rows], y[rows], slope[rows], h, rows)
        new = y[rows] + h[:, None] * np.tensordot(WEIGHTS, slopes, 1)
        last = field(t[rows] + h, new, rows)
        error = h[:, None] * (np.tensordot(ERROR[:-1], slopes, 1) + ERROR[-1] * last)
        worst = largest(error, y[rows], new, tolerance)
        good = worst <= 1
        size[rows] = next_size(size[rows], h, worst, good)
        reached = np.where(good & (h >= left), aim[rows], NONE)
        if good.any():
            steps.append(Step(rows[good], t[rows[good]], h[good], points[:, good], reached[good]))
        aim[rows[~good & (h < STUCK * np.maximum(np.abs(t[rows]), np.abs(left)))]] = times.shape[1]
        y[rows[good]], slope[rows[good]] = new[good], last[good]
        t[rows] += np.where(good, h, 0.0)
        there = reached != NONE
        at, number = rows[there], reached[there]
        found[at, number], t[at], aim[at] = new[there], times[at, number], number + 1
    return Solution(found, steps)


def stages(field: Field, t: Floats, y: Floats, slope: Floats, h: Floats, rows: Ints) -> tuple[Floats, Floats]:
    """The states inside a step and the slopes there, (stages, r, dim) each."""
    points, slopes = np.empty((len(NODES), *y.shape)), np.empty((len(NODES), *y.shape))
    points[0], slopes[0] = y, slope
    for i in range(1, len(NODES)):
        points[i] = y + h[:, None] * np.tensordot(STAGES[i, :i], slopes[:i], 1)
        slopes[i] = field(t + NODES[i] * h, points[i], rows)
    return points, slopes


def largest(error: Floats, before: Floats, after: Floats, tolerance: Tolerance) -> Floats:
    """The largest error of each problem as a multiple of what is allowed; inf where it is no number."""
    allowed = tolerance.absolute + tolerance.relative * np.maximum(np.abs(before), np.abs(after))
    worst = np.max(np.abs(error) / allowed, axis=1)
    return np.where(np.isnan(worst), np.inf, worst)


def next_size(size: Floats, h: Floats, worst: Floats, good: NDArray[np.bool_]) -> Floats:
    """Step sizes after a step of h, which may have been cut short to end at a time of interest."""
    with np.errstate(divide="ignore"):
        wanted = h * np.clip(SAFETY * worst ** (-1 / ORDER), SHRINK_MOST, GROW_MOST)
    return np.where(good & (h < size), np.maximum(size, wanted), wanted)


def first_size(field: Field, t: Floats, y: Floats, slope: Floats, tolerance: Tolerance) -> Floats:
    """A first step whose error should be small (Hairer, Norsett and Wanner, II.4, algorithm on page 169)."""
    scale = tolerance.absolute + tolerance.relative * np.abs(y)
    state, speed = (np.max(np.abs(x) / scale, axis=1) for x in (y, slope))
    with np.errstate(divide="ignore", invalid="ignore"):
        h = np.where((state < 1e-5) | (speed < 1e-5), 1e-6, 0.01 * state / speed)
        ahead = field(t + h, y + h[:, None] * slope, np.arange(len(t)))
        bend = np.max(np.abs(ahead - slope) / scale, axis=1) / h
        most = np.maximum(speed, bend)
        longer = np.where(most <= 1e-15, np.maximum(1e-6, 1e-3 * h), (0.01 / most) ** (1 / ORDER))
        first = np.minimum(100 * h, longer)
    return np.where(np.isfinite(first) & (first > 0), first, 1e-6)


def adjoint(solution: Solution, linearise: Linearise, g: Floats) -> Floats:
    """The adjoint (n, dim) of the first states, where `g` (n, times, dim) is that of the solution.

    That of the parameters of the field goes to what `linearise` gives.  The steps are taken as they are: how
    their sizes depend on the state is below the tolerance.
    """
    later = np.zeros((g.shape[0], g.shape[2]))
    steps = solution.steps[::-1]
    for part in parts(steps):
        rows = np.concatenate([np.tile(s.rows, len(NODES)) for s in part])
        t = np.concatenate([(s.t + np.multiply.outer(NODES, s.h)).ravel() for s in part])
        y = np.concatenate([s.points.reshape(-1, g.shape[2]) for s in part])
        jacobian, pull = linearise(t, y, rows)
        slopes, end = np.empty_like(y), 0
        for s in part:
            begin, end = end, end + len(s.rows) * len(NODES)
            here = jacobian[begin:end].reshape(len(NODES), len(s.rows), *jacobian.shape[1:])
            back = slopes[begin:end].reshape(len(NODES), len(s.rows), -1)
            there = s.reached != NONE
            later[s.rows[there]] += g[s.rows[there], s.reached[there]]
            later[s.rows] = step_back(s, here, later[s.rows], back)
        pull(slopes)
    return later


def step_back(s: Step, jacobian: Floats, later: Floats, slopes: Floats) -> Floats:
    """The adjoint (r, dim) at the beginning of a step from that at its end; writes those of its slopes."""
    states = np.zeros_like(slopes)
    for i in reversed(range(len(NODES))):
        within = np.tensordot(STAGES[i + 1 :, i], states[i + 1 :], 1)
        slopes[i] = s.h[:, None] * (WEIGHTS[i] * later + within)
        states[i] = (slopes[i][:, None] @ jacobian[i])[:, 0]
    return np.asarray(later + states.sum(axis=0))


def parts(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps in turn, as many together as keep the points few enough to hold."""
    out: list[list[Step]] = []
    room = 0
    for s in steps:
        points = len(s.rows) * len(NODES)
        if points > room or not out:
            out.append([])
            room = POINTS_AT_ONCE
        out[-1].append(s)
        room -= points
    return out
