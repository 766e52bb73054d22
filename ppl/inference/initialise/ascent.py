"""L-BFGS up a log density, from a point to the mode above it."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ppl.inference.maximise.quasi_newton import Density, LimitedMemory, climb
from ppl.inference.maximise.rules import UNTIL_STOPPED
from ppl.inference.objective.target import Array

LBFGS_HISTORY = 20
"""Pairs of steps and gradients that L-BFGS keeps."""


class Top(NamedTuple):
    """Where an ascent ended (dim,), the log density there, and the largest slope left."""

    u: Array
    value: float
    slope: float


def ascend(density: Density, start: Array, most_steps: int, slope: float) -> Top:
    """Climb until no slope is larger than that, in at most so many steps; the density at the start is finite.

    The coordinates should be such that the mode is about one unit wide.
    """
    rules = replace(UNTIL_STOPPED, iter=most_steps)
    for step in climb(density, start, rules, LimitedMemory(LBFGS_HISTORY), unit_start=True):
        top = Top(step.u, step.value, float(np.abs(step.gradient).max(initial=0.0)))
        if top.slope <= slope:
            break
    return top
