"""Deterministic ADVI: the ELBO on draws held fixed (Giordano, Ingram and Broderick 2024, JMLR 25)."""

from dataclasses import replace

import numpy as np

from ppl.inference.families.mean_field import MeanField
from ppl.inference.fixed_draws import fit_fixed_draws
from ppl.inference.outcome import Ending
from ppl.inference.progress import Listener
from ppl.inference.recipes.parts import with_noise
from ppl.inference.recipes.result import Path, Result, result_of
from ppl.inference.response import with_response
from ppl.inference.settings import Settings
from ppl.inference.start import start_points
from ppl.inference.starting import at_random, from_paths
from ppl.inference.streams import streams
from ppl.inference.target import Array, Target


def fixed_draws(target: Target, settings: Settings, init: float | Array, progress: Listener) -> Result:
    """Mean-field, from Pathfinder's start; with `linear_response`, its covariance corrected."""
    source = streams(settings.seed)
    family = with_noise(MeanField(target.dim), settings)
    with np.errstate(all="ignore"):
        points = start_points(target, init, source.start)
        start = at_random(target, family, points[0])
        if settings.start == "pathfinder":
            start = from_paths(target, family, points, source.pathfinder, progress)
        found = fit_fixed_draws(
            start.target, family, start.params, source.polish, listen=progress, metric=start.metric
        )
        path = Path(
            start=points[0],
            outcome=found.outcome,
            notes=[start.note] if start.note else [],
            at_maximum=found.outcome.ending is Ending.CONVERGED,
        )
        q = with_response(start, found, settings.linear_response)
        path = replace(path, notes=[*path.notes, *q.notes])
        return result_of(target, settings, q.family, q.params, path, source.draws)
