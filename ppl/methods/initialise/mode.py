"""The search for a mode: the highest end of several maximisations."""

from collections.abc import Sequence

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.outcome import Listener, Phase, Progress
from ppl.kernel.advi.target import Forwarding, Target
from ppl.methods.initialise.lbfgs_path import PathPoint, next_point
from ppl.methods.maximise.methods import maximise
from ppl.methods.maximise.rules import STANS, Rules
from ppl.records import dataclass

SAME_HEIGHT = 1e-9
"""Modes no further apart in nats are the same, found anew; which is higher is for rounding to say."""


@dataclass(frozen=True)
class StartingMode:
    """Where the log density (`value`) is highest, `scales` (dim,) of the curvature there, steps taken.

    `converged` is False where a gradient is left, as it is when the density has no maximum, or where the
    search was `interrupted`; `reason` says why it ended, in a clause.
    """

    u: Floats
    value: float
    scales: Floats
    steps: int
    converged: bool
    reason: str = ""
    interrupted: bool = False


class Remembered(Forwarding):
    """A target that remembers the highest point it was asked for, `u` (dim,), and the value there."""

    def __init__(self, target: Target, u: Floats):
        self.target, self.u, self.value = target, u, -np.inf

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        value, gradient = self.target.log_density_gradient(u)
        if value > self.value:
            self.u, self.value = u.copy(), value
        return value, gradient


def find_mode(
    target: Target, points: Sequence[Floats], listen: Listener, method: str = "lbfgs", rules: Rules = STANS
) -> StartingMode:
    """The highest of the modes above `points`, (dim,) each; the log density is finite there.

    Ctrl-C ends the search at the highest point that it has seen.
    """
    seen = Remembered(target, points[0])
    try:
        modes = []
        for k, point in enumerate(points):
            listen(Progress(Phase.MODE, k, len(points)))
            modes.append(_above(seen, point, method, rules))
    except KeyboardInterrupt:
        mode_ = StartingMode(seen.u, seen.value, np.ones(target.dim), 0, converged=False, interrupted=True)
    else:
        highest = max(modes, key=lambda mode: mode.value)
        mode_ = next((mode for mode in modes if mode.value >= highest.value - SAME_HEIGHT), highest)
    n = len(points)
    listen(Progress(Phase.MODE, n, n, note=f"log density {mode_.value:.2f}"))
    return mode_


def _above(target: Target, start: Floats, method: str, rules: Rules) -> StartingMode:
    """The mode above a point, with the curvature that the path there shows."""
    first, *steps = maximise(target, start, method, rules)
    point, end = PathPoint(0, first.u, first.value, first.gradient, np.ones_like(start), ()), first
    for end in steps:
        point = next_point(point, end.u, end.value, end.gradient)
    variances = point.curvature.variances
    scales = np.sqrt(np.where(variances > 0, variances, 1.0))
    return StartingMode(end.u, end.value, scales, end.number, end.converged, end.reason)
