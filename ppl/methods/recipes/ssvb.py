"""Variational Bayes with stochastic search (Paisley, Blei and Jordan 2012, Algorithm 1)."""

from dataclasses import replace

from ppl.kernel.advi.estimators.stochastic_search import StochasticSearch
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.optimise import Algorithm
from ppl.kernel.advi.start import Init
from ppl.kernel.advi.steps.decaying import RobbinsMonro
from ppl.kernel.advi.target import Target
from ppl.methods.recipes.optimising import AVERAGED_HALF, fit_by_steps
from ppl.methods.recipes.parts import algorithm_of, stopping_of, with_noise
from ppl.methods.recipes.result import Result
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings

GRADIENT_VARIANCE = 1.0
"""The variance that a gradient may have in an entry of params (the paper's epsilon)."""
MOST_GRADIENT_DRAWS = 200
"""Draws that it may take to get it."""


def ssvb(target: Target, init: Init, context: Context) -> Result:
    """A full-rank Gaussian fitted by score-function gradients under the delta-method control variate.

    Each gradient takes as many draws as its variance needs, at least `grad_samples`, and 2 dim + 1 gradients
    of the target for the Taylor expansion, so this is for few dimensions. `eta` is the first Robbins-Monro
    step; None searches for it.
    """
    return fit_by_steps(target, with_noise(FullRank(target.dim), context.settings), _parts, init, context)


def _parts(settings: Settings, family: Family, eta: float) -> Algorithm:
    """The parts of stochastic search in the slots of the loop."""
    search = StochasticSearch(variance=GRADIENT_VARIANCE, most=MOST_GRADIENT_DRAWS)
    own = replace(settings, estimator=None)  # the named stochastic search has another variance
    stopping = stopping_of(settings, "rolling-bound")
    return algorithm_of(own, family, eta, search, RobbinsMonro, stopping, AVERAGED_HALF)
