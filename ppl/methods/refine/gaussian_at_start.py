"""The Gaussian at the start as the q of `auto`, where its draws are worth more than those of another.

It has the curvature where the best of Pathfinder's paths ended. Where the posterior is nearly Gaussian it has
every covariance right, which the ELBO on few draws has not.
"""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ppl.errors import InferenceError
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.elbo import points_with_density
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.outcome import Ending, Outcome, interrupted
from ppl.kernel.advi.parts import by_rows, draws_within
from ppl.kernel.advi.target import Target
from ppl.methods.correct.correction import will_move
from ppl.methods.correct.weight_quality import GOOD_KHAT, is_light
from ppl.methods.diagnose.psis import Psis, psis
from ppl.methods.initialise.starting import Start
from ppl.methods.refine.refinement import Refined, unrefined
from ppl.methods.run.settings import Settings


class WeighingLimits(NamedTuple):
    """How a q is weighed, and when it fits."""

    draws: int = 1000
    """Draws that it is weighed by: where it fits, those of the verdict follow."""

    fewest_draws: int = 500
    """Draws that it takes to tell, in however many dimensions, and of however many rows."""

    work: int = 2**26
    """Numbers that weighing draws may work through, where those are more than the fewest."""

    enough_share: float = 0.9
    """The share of its draws that q must be worth for nothing else to be tried."""

    fewest_effective: float = 10.0
    """The draws that one q of two must be worth for these to tell which is better, not their ELBOs."""


WEIGHING = WeighingLimits()
LOCAL = "Mean-field does not fit: the approximation is the Gaussian with the curvature where the fit began."
FITS = "the Laplace approximation fits (k-hat {:.2f}), so no other family was tried"


class AtStart(NamedTuple):
    """The Gaussian at the start, the weights of its draws, its ELBO, and whether no other q is tried."""

    q: Refined
    weights: Psis
    elbo: float
    ends: bool


def gaussian_at_start(
    target: Target, start: Start, settings: Settings, rng: np.random.Generator
) -> AtStart | None:
    """The Gaussian that the start was found to be; None where there is none, or it has no density.

    No other is tried where it fits and most of its draws count. Where moves follow, which would tell, it is
    enough that its draws can be resampled.
    """
    if start.metric is None or not isinstance(start.target, Scaled):
        return None
    family = FullRank(target.dim, start.family.standard)
    factor = start.target.factor[:, None] * start.metric
    params = family.push_forward(family.start(np.zeros(target.dim)), start.target.centre, factor)
    q = Refined(family, params, Outcome(Ending.COMPLETED, ""), at_maximum=True)
    try:
        weights, elbo = weighed(target, q, rng)
    except InferenceError:
        return None
    except KeyboardInterrupt:
        stopped = unrefined(start, start.params, interrupted("at the start"))
        return AtStart(stopped, psis(np.zeros(1)), -np.inf, True)
    fits = weights.khat < GOOD_KHAT and weights.ess >= WEIGHING.enough_share * len(weights.log_weights)
    light = will_move(target, settings) and weights.reliable and is_light(weights)
    outcome = Outcome(Ending.CONVERGED, FITS.format(weights.khat))
    return AtStart(replace(q, outcome=outcome, fits=fits), weights, elbo, fits or light)


def better(target: Target, refined: Refined, at_start: AtStart | None, rng: np.random.Generator) -> Refined:
    """The q that was found or, where its weights have no variance and draws of it are worth less, that at the
    start. Where draws of neither are worth some, that with the better ELBO: chains begin there.
    """
    if at_start is None or refined.outcome.ending is Ending.INTERRUPTED:
        return refined
    try:
        weights, elbo = weighed(target, refined, rng)
        tells = max(weights.ess, at_start.weights.ess) >= WEIGHING.fewest_effective
        is_better = weights.ess >= at_start.weights.ess if tells else elbo >= at_start.elbo
        if weights.khat < GOOD_KHAT or is_better:
            return refined
    except InferenceError as error:
        return replace(refined, notes=(*refined.notes, f"Its draws were not weighed: {error}"))
    except KeyboardInterrupt:
        return replace(refined, outcome=interrupted("when q was weighed"))
    return replace(at_start.q, outcome=refined.outcome, notes=(*refined.notes, LOCAL))


def weighed(target: Target, q: Refined, rng: np.random.Generator) -> tuple[Psis, float]:
    """The weights of draws of a q, and their ELBO. Raises InferenceError where these have no density."""
    affordable = min(WEIGHING.draws, max(WEIGHING.fewest_draws, WEIGHING.work // target.width))
    n = draws_within(affordable, target.dim, WEIGHING.fewest_draws)
    u, log_p, _ = points_with_density(target, q.family, q.params, n, rng)
    log_ratios = log_p - by_rows(partial(q.family.log_density, q.params), u)
    return psis(log_ratios), float(log_ratios.mean())
