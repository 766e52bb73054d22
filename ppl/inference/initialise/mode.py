"""The search for a mode: L-BFGS, then L-BFGS again in the coordinates that its path suggests."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppl.inference.initialise.ascent import ascend
from ppl.inference.initialise.lbfgs_path import lbfgs_path
from ppl.inference.objective.coordinates import Scaled
from ppl.inference.objective.target import Array, Forwarding, Target
from ppl.inference.run.phases import Phase
from ppl.inference.run.progress import Listener, Progress, silent


@dataclass(frozen=True)
class ModeLimits:
    """When the ascent to a mode ends, and which modes are the same."""

    gradient_tolerance: float = 1e-5
    """The slope at the end, in nats a sd: a hundred-thousandth of a sd from the mode."""

    most_steps: int = 2000
    """L-BFGS steps of an ascent."""

    same_height: float = 1e-9
    """Modes no further apart in nats are the same, found anew; which is higher is for rounding to say."""


MODE = ModeLimits()


@dataclass(frozen=True)
class Mode:
    """Where the log density (`value`) is highest, `scales` (dim,) of the curvature there, steps taken.

    `converged` is False where the search ran out of steps, as it does when the density has no maximum, or was
    `interrupted`; the scales are then one.
    """

    u: Array
    value: float
    scales: Array
    steps: int
    converged: bool
    interrupted: bool = False


class Remembered(Forwarding):
    """A target that remembers the highest point it was asked for, `u` (dim,), and the value there."""

    def __init__(self, target: Target, u: Array):
        self.target, self.u, self.value = target, u, -np.inf

    def log_density_gradient(self, u: Array) -> tuple[float, Array]:
        value, gradient = self.target.log_density_gradient(u)
        if value > self.value:
            self.u, self.value = u.copy(), value
        return value, gradient


def find_mode(target: Target, points: Sequence[Array], listen: Listener = silent) -> Mode:
    """The highest of the modes above `points`, (dim,) each; the log density is finite there.

    Ctrl-C ends the search at the highest point that it has seen.
    """
    seen = Remembered(target, points[0])
    try:
        modes = []
        for k, point in enumerate(points):
            listen(Progress(Phase.MODE, k, len(points)))
            modes.append(_above(seen, point))
    except KeyboardInterrupt:
        return Mode(seen.u, seen.value, np.ones(target.dim), 0, converged=False, interrupted=True)
    highest = max(modes, key=lambda mode: mode.value)
    return next((mode for mode in modes if mode.value >= highest.value - MODE.same_height), highest)


def _above(target: Target, point: Array) -> Mode:
    """The mode above a point: up a path, and then in coordinates where it should be about one unit wide."""
    path, scales = lbfgs_path(target, point), np.ones(target.dim)
    end = path[-1].u if path else point
    if path:
        variances = path[-1].curvature.variances
        scales = np.sqrt(np.where(variances > 0, variances, 1.0))
    scaled = Scaled(target, end, scales)
    top = ascend(scaled, np.zeros(target.dim), MODE.most_steps, MODE.gradient_tolerance)
    u = scaled.to_u(top.u)
    converged = top.slope < 100 * MODE.gradient_tolerance
    return Mode(u, target.log_density(u), scales, len(path) + top.steps, converged)
