"""L-BFGS and BFGS as in Stan: how each line search begins, and when the Hessian is reset."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ppl.inference.maximise.line_search import WOLFE, Line, Objective, Point, Trial, cubic_minimum, search
from ppl.inference.maximise.rules import CONFIRMED_GAIN, EPSILON, Rules, Step, Stop
from ppl.inference.objective.target import Array


@dataclass(frozen=True)
class LimitedMemory:
    """L-BFGS: the last pairs of steps and changes (Nocedal and Wright 2006, Algorithm 7.4)."""

    size: int
    pairs: tuple[tuple[float, Array, Array], ...] = ()

    def after(self, step: Array, change: Array, reset: bool) -> "LimitedMemory":
        """With one more step (dim,) and the change (dim,) of the gradient over it; alone with `reset`."""
        earlier = () if reset else self.pairs
        pair = (float(1 / (change @ step)), step, change)
        return replace(self, pairs=(*earlier, pair)[-self.size :])

    def times(self, v: Array) -> Array:
        """The inverse Hessian times a vector (dim,)."""
        shares = []
        for rho, step, change in reversed(self.pairs):
            shares.append(rho * (step @ v))
            v = v - shares[-1] * change
        rho, _, change = self.pairs[-1]
        v = v * (1 / rho / (change @ change))
        for rho, step, change in self.pairs:
            v = v + (shares.pop() - rho * (change @ v)) * step
        return v


@dataclass(frozen=True)
class Dense:
    """BFGS: the inverse Hessian (dim, dim) itself (Nocedal and Wright 2006, eq. 6.17)."""

    matrix: Array | None = None

    def after(self, step: Array, change: Array, reset: bool) -> "Dense":
        rho = 1 / (change @ step)
        left = np.eye(len(step)) - rho * np.outer(step, change)
        if reset or self.matrix is None:
            before = left @ left.T / (rho * (change @ change))
        else:
            before = left @ self.matrix @ left.T
        return Dense(before + rho * np.outer(step, step))

    def times(self, v: Array) -> Array:
        assert self.matrix is not None
        return np.asarray(self.matrix @ v)


Curvature = LimitedMemory | Dense
"""What the last steps tell of the inverse Hessian."""


class Found(NamedTuple):
    """A step: where it leads, its direction and alpha, the alpha tried first, if it reset the Hessian."""

    point: Point
    direction: Array
    alpha: np.float64
    first: np.float64
    reset: bool


Density = Callable[[Array], tuple[float, Array]]
"""Of a point (dim,) the log density and its gradient (dim,)."""


@dataclass
class Loss:
    """Minus the log density, counting its evaluations."""

    density: Density
    evaluations: int = 0

    def __call__(self, u: Array) -> Point | None:
        self.evaluations += 1
        value, gradient = self.density(u)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return None
        return Point(u, np.float64(-value), -gradient)


def climb(
    density: Density, start: Array, rules: Rules, curvature: Curvature, unit_start: bool = False
) -> Iterator[Step]:
    """The steps from `start` (dim,) on, none where the log density is not finite; the last has a `stop`.

    With `unit_start` a line search begins with an alpha of 1, along a gradient with a step of length 1, at
    whatever scale the log density is; without it as Stan's do.

    A tolerance that is met is confirmed by one more step: where that gains more than `confirmed_gain`,
    or meets none, the search goes on.
    """
    loss = Loss(density)
    here = loss(start)
    if here is None:
        return
    yield Step(start, float(-here.loss), -here.slope)
    number, direction = 0, -here.slope
    met: Stop | None = None
    last: _Last | None = None
    while True:
        number += 1
        alpha = 1 / max(float(np.linalg.norm(here.slope)), EPSILON) if unit_start else rules.init_alpha
        found = _step(loss, here, direction, last, alpha, unit_start)
        if found is None:
            end, slope = met or Stop.LINE_SEARCH, -here.slope
            yield Step(here.u, float(-here.loss), slope, number - 1, evaluations=loss.evaluations, stop=end)
            return
        before, here = here, found.point
        displacement, change = here.u - before.u, here.slope - before.slope
        curvature = curvature.after(displacement, change, found.reset)
        scale = np.float64((change @ change) / (change @ displacement) if found.reset else 1.0)
        note = "LS failed, Hessian reset" if found.reset and last else ""
        last = _Last(found.direction / scale, found.alpha * scale, before)
        direction = -curvature.times(here.slope)
        stop = _stop(rules, number, before, here, direction)
        confirmed = bool(met and before.loss - here.loss <= CONFIRMED_GAIN)
        ends, met = stop is Stop.ITERATIONS or bool(stop and confirmed), stop
        sizes = (float(np.linalg.norm(displacement)), float(found.alpha), float(found.first))
        known = (*sizes, loss.evaluations, note, stop if ends else None)
        yield Step(here.u, float(-here.loss), -here.slope, number, *known)
        if ends:
            return


class _Last(NamedTuple):
    """The step before: direction (dim,) and alpha in its units, and the point it left."""

    direction: Array
    alpha: np.float64
    start: Point


def _step(
    loss: Objective, here: Point, direction: Array, last: _Last | None, alpha: float, unit_start: bool
) -> Found | None:
    """Along the direction, else straight downhill; None where neither leads down."""
    if last is not None:
        first = np.float64(1.0) if unit_start else _first_alpha(here, last)
        if found := search(Line(loss, here, direction, first)):
            return Found(found[1], direction, found[0], first, reset=False)
    downhill, begin = -here.slope, np.float64(alpha)
    found = search(Line(loss, here, downhill, begin))
    return found and Found(found[1], downhill, found[0], begin, reset=True)


def _first_alpha(here: Point, last: _Last) -> np.float64:
    """Interpolated from the step before, at most 1, which is right for a Hessian that is."""
    slope = np.float64(last.start.slope @ last.direction)
    end = Trial(last.alpha, here.loss - last.start.loss, np.float64(here.slope @ last.direction))
    return min(np.float64(1.0), 1.01 * cubic_minimum(slope, end, WOLFE.smallest_alpha, 1.0))


def _stop(rules: Rules, number: int, before: Point, here: Point, direction: Array) -> Stop | None:
    """The first of Stan's rules that is met after a step, in its order."""
    gain = abs(before.loss - here.loss)
    size = max(abs(here.loss), 1.0)
    met = {
        Stop.OBJECTIVE: gain < rules.tol_obj,
        Stop.GRADIENT: np.linalg.norm(here.slope) < rules.tol_grad,
        Stop.PARAMETERS: np.linalg.norm(here.u - before.u) < rules.tol_param,
        Stop.ITERATIONS: number >= rules.iter,
        Stop.RELATIVE_OBJECTIVE: gain / max(abs(before.loss), size) < rules.tol_rel_obj * EPSILON,
        Stop.RELATIVE_GRADIENT: -(direction @ here.slope) / size < rules.tol_rel_grad * EPSILON,
    }
    return next((stop for stop, is_met in met.items() if is_met), None)
