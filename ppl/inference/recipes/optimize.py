"""The mode alone: maximum a posteriori, or maximum likelihood where the program has no priors."""

import numpy as np

from ppl.inference.families.point import Point
from ppl.inference.journal import Journal
from ppl.inference.mode import find_mode
from ppl.inference.progress import Listener, Progress
from ppl.inference.recipes.laplace import outcome_of
from ppl.inference.recipes.result import Path, Result, result_of
from ppl.inference.settings import Settings
from ppl.inference.start import Init, start_points
from ppl.inference.streams import streams
from ppl.inference.target import Target


def optimize(target: Target, settings: Settings, init: Init, progress: Listener, journal: Journal) -> Result:
    """All of q at the mode; every draw is the mode, and the final ELBO is the log density there."""
    source = streams(settings.seed)
    family = Point(target.dim)
    with np.errstate(all="ignore"):
        points = start_points(target, init, source.start)
        mode = find_mode(target, points)
        progress(Progress("mode", mode.steps, mode.steps, mode.value))
        path = Path(start=points[0], outcome=outcome_of(mode), iterations=mode.steps, at_maximum=True)
        return result_of(target, settings, family, mode.u, path, source.draws)
