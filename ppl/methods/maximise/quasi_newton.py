"""L-BFGS and BFGS as in Stan: how each line search begins, and when the Hessian is reset."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.methods.maximise.line_search import WOLFE, LinePoint, Loss, SearchLine, Trial, cubic_minimum, search
from ppl.methods.maximise.lockstep import EvaluateDensities, Search
from ppl.methods.maximise.rules import CONFIRMED_GAIN, EPSILON, Rules, SearchPoint, Stop
from ppl.records import dataclass, replace


class Pairs(NamedTuple):
    """Steps and the changes of the gradient over them, (k, dim) each, and products (k, k): of steps with the
    changes that are not before them, 0 elsewhere, and of changes."""

    steps: Floats
    changes: Floats
    steps_by_later: Floats
    changes_by_changes: Floats

    def last(self, k: int) -> "Pairs":
        at = slice(len(self.steps) - k, None)
        return Pairs(self.steps[at], self.changes[at], *(products[at, at] for products in self[2:]))

    def after(self, step: Floats, change: Floats) -> "Pairs":
        """With one pair more, (dim,) each."""
        among = self.changes @ change
        return Pairs(
            np.concatenate([self.steps, step[None]]),
            np.concatenate([self.changes, change[None]]),
            grown(self.steps_by_later, self.steps @ change, 0.0, step @ change),
            grown(self.changes_by_changes, among, among, change @ change),
        )


@dataclass(frozen=True)
class LimitedMemory:
    """L-BFGS: so many last pairs of steps and changes, in the compact form (Byrd, Nocedal and Schnabel 1994,
    eq. 2.21), which takes some products of matrices where the recursion takes a hundred of vectors.
    """

    size: int
    pairs: Pairs | None = None

    def after(self, step: Floats, change: Floats, reset: bool) -> "LimitedMemory":
        """With one more step (dim,) and the change (dim,) of the gradient over it; alone with `reset`.

        A pair without curvature, which rounding makes, is left out.
        """
        if not step @ change > 0:
            return replace(self, pairs=None) if reset else self
        if self.pairs is None or reset:
            none = np.zeros((0, len(step)))
            before = Pairs(none, none, np.zeros((0, 0)), np.zeros((0, 0)))
        else:
            before = self.pairs.last(min(len(self.pairs.steps), self.size - 1))
        return replace(self, pairs=before.after(step, change))

    def times(self, v: Floats) -> Floats:
        """The inverse Hessian times a vector (dim,)."""
        if self.pairs is None:
            return v
        steps, changes, upper, among = self.pairs
        own = upper.diagonal()
        scale = own[-1] / among[-1, -1]
        inner = np.linalg.solve(upper, steps @ v)
        outer = own * inner + scale * (among @ inner - changes @ v)
        return np.asarray(scale * (v - inner @ changes) + np.linalg.solve(upper.T, outer) @ steps)


def grown(matrix: Floats, column: Floats, row: Floats | float, corner: Floats) -> Floats:
    """A matrix (k, k) with one more column (k,) and row (k,)."""
    n = len(matrix)
    larger = np.empty((n + 1, n + 1))
    larger[:n, :n], larger[:n, n], larger[n, :n], larger[n, n] = matrix, column, row, corner
    return larger


@dataclass(frozen=True)
class Dense:
    """BFGS: the inverse Hessian (dim, dim) itself (Nocedal and Wright 2006, eq. 6.17)."""

    matrix: Floats | None = None

    def after(self, step: Floats, change: Floats, reset: bool) -> "Dense":
        rho = 1 / (change @ step)
        left = np.eye(len(step)) - rho * np.outer(step, change)
        if reset or self.matrix is None:
            before = left @ left.T / (rho * (change @ change))
        else:
            before = left @ self.matrix @ left.T
        return Dense(before + rho * np.outer(step, step))

    def times(self, v: Floats) -> Floats:
        assert self.matrix is not None
        return np.asarray(self.matrix @ v)


Curvature = LimitedMemory | Dense
"""The inverse Hessian by the last steps."""


class Iterate(NamedTuple):
    """A step: where it leads, its direction and alpha, the alpha tried first, if it reset the Hessian."""

    point: LinePoint
    direction: Floats
    alpha: np.float64
    first: np.float64
    reset: bool


def steps(
    density: EvaluateDensities, start: Floats, rules: Rules, curvature: Curvature
) -> Iterator[SearchPoint]:
    """The steps of `climb` as they are made."""
    past = deque[SearchPoint]()
    search = climb(start, rules, curvature, past.append)
    asked = next(search, None)
    while asked is not None:
        try:
            asked = search.send(density(asked))
        except StopIteration:
            asked = None
        while past:
            yield past.popleft()


def climb(
    start: Floats,
    rules: Rules,
    curvature: Curvature,
    see: Callable[[SearchPoint], bool | None],
    unit_start: bool = False,
) -> Search[None]:
    """Steps from `start` (dim,) on, none where the log density is not finite; the last has a `stop`.

    Each is shown to `see`, which ends the search if it is true. With `unit_start` a line search begins with
    an alpha of 1, along a gradient with a step of length 1, at whatever scale the log density is; without it
    as Stan's do.

    A tolerance that is met is confirmed by one more step: where that gains more than `confirmed_gain`,
    or meets none, the search goes on.
    """
    loss = Loss()
    here = yield from loss.at(start)
    if here is None or see(SearchPoint(start, float(-here.loss), -here.slope)):
        return
    number, direction = 0, -here.slope
    met: Stop | None = None
    last: _Last | None = None
    while True:
        number += 1
        alpha = 1 / max(float(np.linalg.norm(here.slope)), EPSILON) if unit_start else rules.init_alpha
        step = yield from _step(loss, here, direction, last, alpha, unit_start)
        if step is None:
            end, slope = met or Stop.LINE_SEARCH, -here.slope
            see(
                SearchPoint(
                    here.u, float(-here.loss), slope, number - 1, evaluations=loss.evaluations, stop=end
                )
            )
            return
        before, here = here, step.point
        displacement, change = here.u - before.u, here.slope - before.slope
        curvature = curvature.after(displacement, change, step.reset)
        scale = np.float64((change @ change) / (change @ displacement) if step.reset else 1.0)
        note = "LS failed, Hessian reset" if step.reset and last else ""
        last = _Last(step.direction / scale, step.alpha * scale, before)
        direction = -curvature.times(here.slope)
        stop = _stop(rules, number, before, here, direction)
        confirmed = bool(met and before.loss - here.loss <= CONFIRMED_GAIN)
        ends, met = stop is Stop.ITERATIONS or bool(stop and confirmed), stop
        sizes = (float(np.linalg.norm(displacement)), float(step.alpha), float(step.first))
        known = (*sizes, loss.evaluations, note, stop if ends else None)
        if see(SearchPoint(here.u, float(-here.loss), -here.slope, number, *known)) or ends:
            return


class _Last(NamedTuple):
    """The step before: direction (dim,) and alpha in its units, and the point it left."""

    direction: Floats
    alpha: np.float64
    start: LinePoint


def _step(
    loss: Loss, here: LinePoint, direction: Floats, last: _Last | None, alpha: float, unit_start: bool
) -> Search[Iterate | None]:
    """Along the direction, else straight downhill; None where neither leads down."""
    if last is not None:
        first = np.float64(1.0) if unit_start else _first_alpha(here, last)
        if point := (yield from search(SearchLine(loss, here, direction, first))):
            return Iterate(point[1], direction, point[0], first, reset=False)
    downhill, begin = -here.slope, np.float64(alpha)
    point = yield from search(SearchLine(loss, here, downhill, begin))
    return point and Iterate(point[1], downhill, point[0], begin, reset=True)


def _first_alpha(here: LinePoint, last: _Last) -> np.float64:
    """Interpolated from the step before, at most 1, which is right for a Hessian that is."""
    slope = np.float64(last.start.slope @ last.direction)
    end = Trial(last.alpha, here.loss - last.start.loss, np.float64(here.slope @ last.direction))
    return min(np.float64(1.0), 1.01 * cubic_minimum(slope, end, WOLFE.smallest_alpha, 1.0))


def _stop(rules: Rules, number: int, before: LinePoint, here: LinePoint, direction: Floats) -> Stop | None:
    """The first of Stan's rules that is met after a step, in its order."""
    gain, moved = abs(before.loss - here.loss), here.u - before.u
    size = max(abs(here.loss), 1.0)
    met = {
        Stop.OBJECTIVE: gain < rules.tol_obj,
        Stop.GRADIENT: here.slope @ here.slope < rules.tol_grad**2,
        Stop.PARAMETERS: moved @ moved < rules.tol_param**2,
        Stop.ITERATIONS: number >= rules.iter,
        Stop.RELATIVE_OBJECTIVE: gain / max(abs(before.loss), size) < rules.tol_rel_obj * EPSILON,
        Stop.RELATIVE_GRADIENT: -(direction @ here.slope) / size < rules.tol_rel_grad * EPSILON,
    }
    return next((stop for stop, is_met in met.items() if is_met), None)
