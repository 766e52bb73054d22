"""Stan's line search for the strong Wolfe conditions (Nocedal and Wright 2006, Algorithms 3.5 and 3.6)."""

from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.methods.maximise.lockstep import Search
from ppl.records import dataclass


class WolfeLimits(NamedTuple):
    """The constants of Stan's line search."""

    decrease: float = 1e-4
    """The decrease that is sufficient, as a share of what the slope at the start promises (c1)."""

    curvature: float = 0.9
    """The slope that may be left, as a share of that at the start (c2)."""

    smallest_alpha: float = 1e-12
    """Where the first interval of alphas begins."""

    most_expansions: int = 20
    """Intervals tried until one holds a minimum."""

    most_failures: int = 10
    """Steps in succession to points without a density, each half as long."""

    growth: float = 10.0
    """How many times longer the next interval is."""

    narrowest: float = 1e-16
    """The width at which an interval of alphas is given up."""

    edge: float = 0.01
    """The share of an interval, at each end, in which no interpolated alpha is taken."""

    bisect_every: int = 5
    """Every so many steps an interval is halved instead of interpolated."""


WOLFE = WolfeLimits()


class LinePoint(NamedTuple):
    """A point (dim,), minus the log density there, and the gradient (dim,) of that."""

    u: Floats
    loss: np.float64
    slope: Floats


@dataclass
class Loss:
    """Minus the log density, counting its evaluations."""

    evaluations: int = 0

    def at(self, u: Floats) -> Search[LinePoint | None]:
        """None where the log density or its gradient is not finite."""
        self.evaluations += 1
        value, gradient = yield u
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return None
        return LinePoint(u, np.float64(-value), -gradient)


class Trial(NamedTuple):
    """A point on the line: its alpha, the loss there and its derivative along the line."""

    alpha: np.float64
    loss: np.float64
    slope: np.float64


@dataclass(frozen=True)
class SearchLine:
    """The line from `start` along `direction`, on which a first alpha was chosen."""

    loss: Loss
    start: LinePoint
    direction: Floats
    first: np.float64

    @property
    def slope(self) -> np.float64:
        return np.float64(self.start.slope @ self.direction)

    def at(self, alpha: np.float64) -> Search[tuple[Trial, LinePoint] | None]:
        point = yield from self.loss.at(self.start.u + alpha * self.direction)
        if point is None:
            return None
        return Trial(alpha, point.loss, np.float64(point.slope @ self.direction)), point

    def too_high(self, trial: Trial, alpha: np.float64) -> bool:
        return bool(trial.loss > self.start.loss + alpha * WOLFE.decrease * self.slope)

    def flat(self, trial: Trial) -> bool:
        return bool(abs(trial.slope) <= -WOLFE.curvature * self.slope)


def search(line: SearchLine) -> Search[tuple[np.float64, LinePoint] | None]:
    """An alpha that meets the Wolfe conditions and its point, from `line.first` on; None if there is none."""
    before = Trial(np.float64(WOLFE.smallest_alpha), line.start.loss, line.slope)
    alpha, failures, expansions = line.first, 0, 0
    while expansions < WOLFE.most_expansions:
        reached = yield from line.at(alpha)
        if reached is None:
            if failures >= WOLFE.most_failures:
                return None
            alpha, failures = 0.5 * (before.alpha + alpha), failures + 1
            continue
        failures, (trial, point) = 0, reached
        if line.too_high(trial, line.first) or (trial.loss >= before.loss and expansions):
            return (yield from _zoom(line, before, trial))
        if line.flat(trial):
            return alpha, point
        if trial.slope >= 0:
            return (yield from _zoom(line, trial, before))
        before, alpha, expansions = trial, alpha * WOLFE.growth, expansions + 1
    return None


def _zoom(line: SearchLine, low: Trial, high: Trial) -> Search[tuple[np.float64, LinePoint] | None]:
    """The same between two alphas, of which `low` has the lower loss."""
    count = 0
    while abs(low.alpha - high.alpha) >= WOLFE.narrowest:
        count += 1
        reached = yield from _inside(line, low, high, _between(low, high, count))
        if reached is None:
            return None
        trial, point = reached
        if line.too_high(trial, trial.alpha) or trial.loss >= low.loss:
            high = trial
            continue
        if line.flat(trial):
            return trial.alpha, point
        if trial.slope * (high.alpha - low.alpha) >= 0:
            high = low
        low = trial
    return None


def _inside(
    line: SearchLine, low: Trial, high: Trial, alpha: np.float64
) -> Search[tuple[Trial, LinePoint] | None]:
    """The point at alpha, or nearer to the smaller end where there is no density."""
    end = min(low.alpha, high.alpha)
    while (point := (yield from line.at(alpha))) is None:
        alpha = 0.5 * (alpha + end)
        if abs(end - alpha) < WOLFE.narrowest:
            return None
    return point


@np.errstate(all="ignore")
def _between(low: Trial, high: Trial, count: int) -> np.float64:
    """The minimum of the cubic through both ends (Nocedal and Wright, eq. 3.59), or the middle."""
    width, middle = abs(low.alpha - high.alpha), 0.5 * (low.alpha + high.alpha)
    if count % WOLFE.bisect_every == 0:
        return middle
    d1 = low.slope + high.slope - 3 * (low.loss - high.loss) / (low.alpha - high.alpha)
    d2 = np.copysign(np.sqrt(d1 * d1 - low.slope * high.slope), high.alpha - low.alpha)
    alpha = high.alpha - (high.alpha - low.alpha) * (high.slope + d2 - d1) / (high.slope - low.slope + 2 * d2)
    least, most = min(low.alpha, high.alpha), max(low.alpha, high.alpha)
    inside = least + WOLFE.edge * width <= alpha <= most - WOLFE.edge * width
    return np.float64(alpha) if inside else middle


@np.errstate(all="ignore")
def cubic_minimum(slope: np.float64, end: Trial, least: float, most: float) -> np.float64:
    """Where the cubic through (0, 0) with that slope and through `end` is least in [least, most]."""
    x, f, df = end
    c3 = (-12 * f + 6 * x * (slope + df)) / (x * x * x)
    c2 = -(4 * slope + 2 * df) / x + 6 * f / (x * x)
    root = np.sqrt(c2 * c2 - 2 * slope * c3)
    inside = [at for at in (-(c2 + root) / c3, -(c2 - root) / c3) if least < at < most]
    candidates: list[np.float64] = [np.float64(least), np.float64(most), *inside]
    values = [at * (at * (at * c3 / 3 + c2) / 2 + slope) for at in candidates]
    return np.float64(candidates[int(np.nanargmin(values))]) if np.isfinite(values).any() else candidates[0]
