"""Deterministic ADVI: the ELBO on draws held fixed (Giordano, Ingram and Broderick 2024, JMLR 25)."""

import numpy as np

from ppl.inference.families.mean_field import MeanField
from ppl.inference.initialise.start import Init
from ppl.inference.initialise.starting import Start
from ppl.inference.objective.target import Target
from ppl.inference.recipes.optimising import initialise
from ppl.inference.recipes.parts import with_noise
from ppl.inference.recipes.result import Path, Result, result_of
from ppl.inference.refine.fixed_draws import fit_fixed_draws
from ppl.inference.refine.refinement import Refined, answer, unrefined
from ppl.inference.run.journal import Journal, once
from ppl.inference.run.progress import Listener
from ppl.inference.run.settings import Settings
from ppl.inference.run.streams import Streams


def fixed_draws(
    target: Target, settings: Settings, init: Init, progress: Listener, journal: Journal
) -> Result:
    """Mean-field, from Pathfinder's start; with `linear_response`, its covariance corrected."""
    source = Streams(settings.seed)
    family = with_noise(MeanField(target.dim), settings)
    with np.errstate(all="ignore"):
        start = initialise(target, settings, family, init, source, progress, journal)
        end = once(journal, "end", lambda: _end(settings, start, source, progress, journal), source.refine)
        path = Path(
            start=start.point,
            outcome=end.outcome,
            notes=[note for note in (start.note, *end.notes) if note],
            at_maximum=end.at_maximum,
        )
        return result_of(target, settings, end.family, end.params, path, source.draws, progress)


def _end(settings: Settings, start: Start, source: Streams, progress: Listener, journal: Journal) -> Refined:
    if start.outcome:
        return unrefined(start, start.params, start.outcome)
    found = fit_fixed_draws(
        start.target,
        start.family,
        start.params,
        source.refine,
        listen=progress,
        metric=start.metric,
        journal=journal,
    )
    return answer(start, found, settings.linear_response)
