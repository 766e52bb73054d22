"""Settings that several experiments share, and what Stan's stopping rule makes of a run that went on."""

from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

PAPERS_LOOP = {"start": "random", "average": False, "refine": False, "upgrade": False, "correct": False}
"""Algorithm 1 of ADVI alone: no start, averaging, refinement, upgrade or correction of draws of ours."""

FROM_ZERO = {**PAPERS_LOOP, "init": 0.0}
"""The same from mu = 0, where the paper's Algorithm 1 begins; Stan and `PAPERS_LOOP` begin within 2 of it."""

OF_Q = {"correct": False, "upgrade": False}
"""Draws of q itself, as in the papers; by default draws are made better than those of q."""

WINDOW, TOLERANCE = 10, 0.01
"""Relative changes of the ELBO that Stan looks at in a run of 10,000 steps, and what they fall below."""


def rule_stops(trace: NDArray[np.float64], window: int = WINDOW) -> int | None:
    """The step at which the rule of ADVI's Algorithm 1, with Stan's defaults, would have ended a run.

    `trace` is `Fit.elbo_trace` (evaluations, 2), evaluated every 100 steps. The rule ends a run once the mean
    or the median of the last `window` relative changes of the ELBO is below 0.01; None if it never is.
    """
    steps, elbo = trace.T
    changes = np.abs(np.diff(elbo) / elbo[:-1])
    for k in range(window, len(changes) + 1):
        last = changes[k - window : k]
        if min(fmean(last), median(last)) < TOLERANCE:
            return int(steps[k])
    return None
