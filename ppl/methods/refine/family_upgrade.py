"""Decisions by the importance ratios of a q: that the Gaussian at the start will do, or what else is done.

Where draws are moved from q, nothing else. Otherwise full rank is begun again from mean-field, where it did
worse. Where draws are corrected q need not stay what was asked for: mean-field goes on to full rank, begun at
the mean and covariance that were found.
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.elbo import points_with_density
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.outcome import Ending, Outcome, interrupted
from ppl.kernel.advi.parts import by_rows, draws_within
from ppl.kernel.advi.target import Often, Target
from ppl.methods.correct.correction import will_move
from ppl.methods.correct.weight_quality import is_light
from ppl.methods.diagnose.psis import Psis, psis
from ppl.methods.initialise.starting import Start
from ppl.methods.refine.fixed_draws import FIXED_DRAWS, fit_fixed_draws
from ppl.methods.refine.refinement import Refined, unrefined
from ppl.methods.run.context import Context
from ppl.methods.run.settings import Settings


class UpgradeLimits(NamedTuple):
    """When a family is exchanged for a larger one."""

    good_khat: float = 0.5
    """The k-hat below which q is good enough."""

    draws: int = 4000
    """Draws that q is weighed by."""

    draws_at_start: int = 1000
    """Draws that the Gaussian at the start is weighed by: where it fits, those of the verdict follow."""

    fewest_draws: int = 500
    """Draws that it takes to tell, in however many dimensions, and of however many rows."""

    work: int = 2**26
    """Numbers that weighing draws may work through, where those are more than the fewest."""

    enough_share: float = 0.9
    """The share of its draws that the Gaussian at the start must be worth for nothing else to be tried."""

    evaluations: int = 30
    """Evaluations of the ELBO that a maximisation in d dimensions is taken to cost, on 4 d draws."""

    @property
    def most_dimensions(self) -> int:
        """Dimensions in which full rank is affordable."""
        return FIXED_DRAWS.most_gradients // (4 * self.evaluations)


UPGRADE = UpgradeLimits()

LOCAL = "Mean-field does not fit: the approximation is the Gaussian with the curvature where the fit began."
FITS = "the Laplace approximation fits (k-hat {:.2f}), so no other family was tried"
FULL_RANK = "Mean-field does not fit (k-hat {:.2f}): the family was upgraded to full rank."
LOST = "The mean-field ELBO was {:.3g} nats higher, so the full-rank optimisation was restarted from there."


class Weighed(NamedTuple):
    """A q, the log importance ratios (n,) of draws of it, and the smoothed weights."""

    q: Refined
    log_ratios: Floats
    weights: Psis

    @property
    def elbo(self) -> float:
        return float(self.log_ratios.mean())


def at_start(target: Target, start: Start, settings: Settings, rng: np.random.Generator) -> Refined | None:
    """The Gaussian that the start was found to be, if it fits and most of its draws count.

    Where moves follow, which would tell, it is enough that its draws can be resampled.
    """
    try:
        local = _local(target, start, rng, UPGRADE.draws_at_start)
    except KeyboardInterrupt:
        return unrefined(start, start.params, interrupted("at the start"))
    if local is None:
        return None
    weights = local.weights
    khat, share = weights.khat, weights.ess / len(local.log_ratios)
    fits = khat < UPGRADE.good_khat and share >= UPGRADE.enough_share
    if not (fits or (will_move(target, settings) and weights.reliable and is_light(weights))):
        return None
    return replace(local.q, outcome=Outcome(Ending.CONVERGED, FITS.format(khat)), fits=fits)


def upgrade(target: Target, start: Start, refined: Refined, context: Context) -> Refined:
    """The q that was found, or a better one where its k-hat is not below 0.5; of another kind to correct.

    Above `UPGRADE.most_dimensions` full rank would cost too much, and a mean-field q stays as it is.
    """
    try:
        return _upgraded(target, start, refined, context)
    except (InferenceError, np.linalg.LinAlgError) as error:
        return replace(refined, notes=(*refined.notes, f"The family was not upgraded: {error}"))


def _upgraded(target: Target, start: Start, refined: Refined, context: Context) -> Refined:
    corrects, rng, local = context.settings.corrects, context.streams.refine, None
    best, of_mean_field = _weigh(target, refined, rng), isinstance(refined.family, MeanField)
    if best.weights.khat < UPGRADE.good_khat:
        return refined
    if corrects and of_mean_field and (local := _local(target, start, rng.spawn(1)[0])):
        q = replace(local.q, outcome=refined.outcome, notes=(*refined.notes, LOCAL))
        local = local._replace(q=q)
        if local.weights.reliable and is_light(local.weights):  # its draws can be resampled
            return q
    if will_move(target, context.settings):
        return local.q if local and local.weights.ess > best.weights.ess else refined
    if not refined.outcome.converged:  # as many draws as there may be did not do, and will be needed again
        target = target.view(Often(FIXED_DRAWS.most_gradients)) or target
    if isinstance(refined.family, FullRank):
        best = _by_mean_field(target, start, best, context)
    elif corrects and of_mean_field and target.dim <= UPGRADE.most_dimensions:
        note = FULL_RANK.format(best.weights.khat)
        fuller = _full_rank(target, start, refined, rng, context)
        best = _weigh(target, replace(fuller, notes=(*refined.notes, note)), rng)
    if local and local.weights.ess > best.weights.ess:
        best = local
    return best.q


def _local(
    target: Target, start: Start, rng: np.random.Generator, draws: int = UPGRADE.draws
) -> Weighed | None:
    """The Gaussian that the start was found to be, with the curvature there; None where the start has none.

    Where the posterior is nearly Gaussian it has every covariance right, which the ELBO on few draws has not.
    """
    if start.metric is None or not isinstance(start.target, Scaled):
        return None
    family = FullRank(target.dim, start.family.standard)
    factor = start.target.factor[:, None] * start.metric
    params = family.push_forward(family.start(np.zeros(target.dim)), start.target.centre, factor)
    local = Refined(family, params, Outcome(Ending.COMPLETED, ""), at_maximum=True)
    try:
        return _weigh(target, local, rng, draws)
    except InferenceError:
        return None


def _by_mean_field(target: Target, start: Start, best: Weighed, context: Context) -> Weighed:
    """Full rank from a mean-field q, if that has a higher ELBO: it is a full-rank one, which was not found.

    A narrow peak of the density, as where a scale is zero, holds full rank rather than mean-field.
    """
    if (
        not isinstance(start.target, Scaled)
        or start.target.factor.ndim != 2
        or target.dim > UPGRADE.most_dimensions
    ):
        return best
    rng, listen = context.streams.refine, context.listen
    guess, own = Gaussian(start.target.centre, start.target.factor), rng.spawn(1)[0]
    sds = guess.precisions**-0.5
    scaled, family = Scaled(target, guess.mean, sds), MeanField(target.dim, best.q.family.standard)
    narrow = _maximised(scaled, family, own, listen=listen, metric=guess.factor / sds[:, None])
    higher = _weigh(target, narrow, own)
    gain = higher.elbo - best.elbo
    if not gain > 0:
        return best
    fuller = _full_rank(target, start, higher.q, own, context)
    return _weigh(target, replace(fuller, notes=(*best.q.notes, LOST.format(gain))), rng)


def _full_rank(
    target: Target, start: Start, refined: Refined, rng: np.random.Generator, context: Context
) -> Refined:
    """Full rank in coordinates where the mean-field q, with the correlations of the start, is standard."""
    family = FullRank(target.dim, refined.family.standard)
    scales = refined.family.scales(refined.params)
    factor = np.diag(scales)
    if start.metric is not None and isinstance(start.target, Scaled):
        factor = start.target.factor[:, None] * start.metric
    scaled = Scaled(target, refined.family.mean(refined.params), factor)
    kept = {"journal": context.journal, "stage": "family upgrade"}
    return _maximised(scaled, family, rng, listen=context.listen, **kept)


def _maximised(scaled: Scaled, family: Family, rng: np.random.Generator, **how: Any) -> Refined:
    """The q that `fit_fixed_draws` finds from the standard one of these coordinates.

    Ctrl-C is passed on: half-way up is no better than where it began.
    """
    fit = fit_fixed_draws(scaled, family, family.start(np.zeros(scaled.dim)), rng, **how)
    if fit.outcome.ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    params = family.push_forward(fit.params, scaled.centre, scaled.factor)
    return Refined(family, params, fit.outcome, fit.outcome.converged)


def _weigh(target: Target, q: Refined, rng: np.random.Generator, draws: int = UPGRADE.draws) -> Weighed:
    affordable = min(draws, max(UPGRADE.fewest_draws, UPGRADE.work // target.width))
    n = draws_within(affordable, target.dim, UPGRADE.fewest_draws)
    u, log_p, _ = points_with_density(target, q.family, q.params, n, rng)
    log_ratios = log_p - by_rows(partial(q.family.log_density, q.params), u)
    return Weighed(q, log_ratios, psis(log_ratios))
