"""L-BFGS up a log density, from a point to the mode above it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ppl.inference.objective.target import Array
from ppl.late import optimize

LogDensity = Callable[[Array], tuple[float, Array]]
"""Of a point (dim,) the log density and its gradient (dim,)."""


NO_DENSITY = 1e10
"""What a point without a density counts as, in nats below the start."""
LBFGS_HISTORY = 20
"""Pairs of steps and gradients that L-BFGS keeps."""


class Top(NamedTuple):
    """Where an ascent ended (dim,), the log density there, and the largest slope left."""

    u: Array
    value: float
    slope: float


def ascend(density: LogDensity, start: Array, most_steps: int, slope: float) -> Top:
    """Climb until no slope is larger than that, in at most so many steps; the density at the start is finite.

    The coordinates should be such that the mode is about one unit wide.
    """
    origin = density(start)[0]

    def objective(u: Array) -> tuple[float, Array]:
        value, gradient = density(u)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return NO_DENSITY, np.zeros_like(u)
        return origin - value, -gradient

    options = {"maxiter": most_steps, "ftol": 0.0, "gtol": slope, "maxcor": LBFGS_HISTORY}
    found = optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return Top(found.x, origin - float(found.fun), float(np.abs(found.jac).max(initial=0.0)))
