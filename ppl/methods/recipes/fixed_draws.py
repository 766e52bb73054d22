"""Deterministic ADVI: the ELBO on draws held fixed (Giordano, Ingram and Broderick 2024, JMLR 25)."""

import numpy as np

from ppl.kernel.advi.context import once
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.start import Init
from ppl.kernel.advi.target import Target
from ppl.methods.initialise.starting import Start
from ppl.methods.recipes.optimising import initialise, path_without_steps
from ppl.methods.recipes.parts import with_noise
from ppl.methods.recipes.result import Result, result_of
from ppl.methods.refine.fixed_draws import fit_fixed_draws
from ppl.methods.refine.refinement import Refined, answer, unrefined
from ppl.methods.run.phases import Context


def fixed_draws(target: Target, init: Init, context: Context) -> Result:
    """Mean-field, from Pathfinder's start; with `linear_response`, its covariance corrected."""
    settings = context.settings
    family = with_noise(MeanField(target.dim), settings)
    with np.errstate(all="ignore"):
        start = initialise(target, family, init, context)
        return from_start(target, start, context, settings.linear_response)


def from_start(target: Target, start: Start, context: Context, corrected: bool) -> Result:
    """The maximum of the ELBO on fixed draws; its covariance may be corrected by linear response."""
    end = once(context.journal, "end", lambda: _end(start, context, corrected), context.streams.refine)
    return result_of(target, end.family, end.params, path_without_steps(start, end), context)


def _end(start: Start, context: Context, corrected: bool) -> Refined:
    if start.outcome:
        return unrefined(start, start.params, start.outcome)
    at = (start.target, start.family, start.params, context.streams.refine, context.listen, start.metric)
    return answer(start, fit_fixed_draws(*at, journal=context.journal, stage="fixed draws"), corrected)
