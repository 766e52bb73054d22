"""L-BFGS up a log density, from a point to the mode above it."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.methods.maximise.lockstep import Search
from ppl.methods.maximise.quasi_newton import LimitedMemory, climb
from ppl.methods.maximise.rules import UNTIL_STOPPED, SearchPoint

LBFGS_HISTORY = 20
"""Pairs of steps and gradients that L-BFGS keeps."""


class Top(NamedTuple):
    """Where an ascent ended (dim,), the log density there, and the largest slope left."""

    u: Floats
    value: float
    slope: float


def ascent(start: Floats, most_steps: int, slope: float) -> Search[Top | None]:
    """Climb until no slope is larger than that, in at most so many steps; None where there is no density.

    The coordinates should be such that the mode is about one unit wide.
    """
    rules, top = replace(UNTIL_STOPPED, iter=most_steps), None

    def see(step: SearchPoint) -> bool:
        nonlocal top
        left = float(np.abs(step.gradient).max(initial=0.0))
        top = Top(step.u, step.value, left)
        return left <= slope

    yield from climb(start, rules, LimitedMemory(LBFGS_HISTORY), see, unit_start=True)
    return top
