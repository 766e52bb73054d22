"""ADVI (Kucukelbir et al. 2017, Algorithm 1), initialised by Pathfinder, then optimised to convergence.

Four stages: start, the paper's loop, refinement on fixed draws, and the draws on which the verdict rests.
The loop alone is the paper's algorithm, with the same numbers.
"""

from dataclasses import replace
from functools import cache, partial

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.context import once
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.estimators.reparameterised import reparameterised
from ppl.kernel.advi.eta_search import FEWEST_SEARCH_DRAWS
from ppl.kernel.advi.families import family_of
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.optimise import Algorithm
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.start import Init
from ppl.kernel.advi.steps.adaptive import AdviSequence
from ppl.kernel.advi.steps.step_rule import AVERAGED_TAIL
from ppl.kernel.advi.stopping.relative_elbo import RelativeElbo
from ppl.kernel.advi.target import Often, Target
from ppl.methods.correct.correction import will_move
from ppl.methods.initialise.starting import Start
from ppl.methods.recipes.nested import by_field
from ppl.methods.recipes.optimising import LoopResult, initialise, path_without_steps, run_loop
from ppl.methods.recipes.parts import algorithm_of, etas_of, stopping_of, with_noise
from ppl.methods.recipes.refusals import Refused
from ppl.methods.recipes.result import Path, Result, result_of
from ppl.methods.refine.gaussian_at_start import AtStart, better, gaussian_at_start
from ppl.methods.refine.newton_by_rows import at_mode_of_all_rows
from ppl.methods.refine.refinement import Refined, refine, unrefined
from ppl.methods.run.phases import POINTS_OF_A_START, Context, integrates_fields
from ppl.methods.run.settings import Settings

NO_REFINEMENT = (
    "The refinement on fixed draws was skipped: it needs all rows at once and does not work with minibatches."
)
NOT_RUN = Outcome(Ending.COMPLETED, "no stochastic step was taken")
# The family that `auto` begins with.
FIRST = "meanfield"


def staged(target: Target, init: Init, context: Context) -> Result:
    """The recipe of `auto`, `meanfield`, `fullrank` and `lowrank`."""
    settings = context.settings
    name = FIRST if settings.algorithm == "auto" else settings.algorithm
    family = with_noise(family_of(name, target.dim, settings.rank), settings)
    fields = integrates_fields(settings)

    @cache
    def whole() -> Target:
        return (target.view(Often(POINTS_OF_A_START)) if fields else None) or target

    @cache
    def start() -> Start:
        return initialise(whole(), family, init, context)

    @cache
    def at_start() -> AtStart | None:
        return _at_start(whole(), start(), context)

    def uninterrupted() -> Start:
        if start().outcome is not None:  # who stopped it does not want to wait for latent variables
            raise Refused("the search for a start was stopped")
        return start()

    def where_it_fits() -> Result | None:
        begun, gaussian = uninterrupted(), at_start()
        return _result(whole(), *_ended(begun, gaussian.q), context) if gaussian and gaussian.q.fits else None

    def near() -> Floats | None:
        scaled = uninterrupted().target
        return scaled.centre if isinstance(scaled, Scaled) else None

    # A step too far overflows on the way to a density that is not finite, which is looked for and dealt with.
    with np.errstate(all="ignore"):
        if fields:
            try:
                return by_field(target, init, context, where_it_fits, near)
            except Refused:
                pass
        gaussian = at_start()
        if gaussian and gaussian.ends:
            return _result(whole(), *_ended(start(), gaussian.q), context)
        parts = whole(), start(), gaussian, context
        q, path = _on_fixed_draws(*parts) or _optimised(*parts)
        return _result(whole(), q, path, context)


def _result(target: Target, q: Refined, path: Path, context: Context) -> Result:
    return result_of(target, q.family, q.params, path, context)


def _ended(start: Start, q: Refined) -> tuple[Refined, Path]:
    return q, path_without_steps(start, q)


def _at_start(target: Target, start: Start, context: Context) -> AtStart | None:
    """The Gaussian at the start, if `auto` may end with it; a step size asks for steps."""
    settings, rng = context.settings, context.streams.refine
    chooses = settings.algorithm == "auto" and settings.eta is None and settings.corrects and settings.upgrade
    if not (chooses and _refines(settings)) or start.outcome is not None:
        return None
    return once(context.journal, "at start", lambda: gaussian_at_start(target, start, settings, rng), rng)


def _on_fixed_draws(
    target: Target, start: Start, at_start: AtStart | None, context: Context
) -> tuple[Refined, Path] | None:
    """The result of the third stage from the start, if `auto` moves draws from it, which need not be exact.

    Where the start lies so far out that it does not come to an end, the loop comes first.
    """
    settings, journal, rng = context.settings, context.journal, context.streams.refine
    chooses = settings.algorithm == "auto" and settings.eta is None and _refines(settings)
    if not (chooses and start.scaled and start.outcome is None and will_move(target, settings)):
        return None
    refined = once(journal, "on fixed draws", lambda: refine(start, start.params, NOT_RUN, context), rng)
    if refined.outcome.ending not in (Ending.CONVERGED, Ending.INTERRUPTED):
        return None
    return _ended(start, once(journal, "end", lambda: better(target, refined, at_start, rng), rng))


def _optimised(
    target: Target, start: Start, at_start: AtStart | None, context: Context
) -> tuple[Refined, Path]:
    """The result of the loop and the third stage."""
    settings = context.settings
    parts, etas = partial(_parts, settings, start.family), etas_of(settings, "advi", start.scaled)
    # Where a refinement follows, a choice made by luck does no harm, and the search may cost less.
    fewest = 1 if settings.refine else FEWEST_SEARCH_DRAWS
    loop = run_loop(parts, start, context, etas, fewest, allow_no_step=_refines(settings))
    q = once(
        context.journal, "end", lambda: _end(target, start, loop, at_start, context), context.streams.refine
    )
    return q, loop.path(start, q.outcome, (start.note, loop.note, *q.notes), q.at_maximum)


def _end(
    target: Target, start: Start, loop: LoopResult, at_start: AtStart | None, context: Context
) -> Refined:
    """The third stage, unless it is switched off or the user has had enough."""
    settings = context.settings
    params, outcome = loop.run.average, loop.outcome
    if settings.minibatch is not None:
        refined = unrefined(start, params, outcome, loop.search.note)
        upgrades = settings.algorithm == "auto" and settings.upgrade
        q = at_mode_of_all_rows(target, refined, context.streams.refine) if upgrades else refined
        unsaid = q is refined and settings.refine and not loop.search.note
        return replace(refined, notes=(NO_REFINEMENT,)) if unsaid else q
    if settings.refine and outcome.ending is not Ending.INTERRUPTED:
        refined = refine(start, params, outcome, context)
        return better(target, refined, at_start, context.streams.refine)
    return unrefined(start, params, outcome, loop.search.note)


def _refines(settings: Settings) -> bool:
    """Whether a refinement on fixed draws follows the loop, which then need not be waited for."""
    return settings.refine and settings.minibatch is None


def _parts(settings: Settings, family: Family, eta: float) -> Algorithm:
    """The parts of Algorithm 1 in the slots of the loop."""
    stopping = stopping_of(settings, "relative-elbo")
    if settings.stop is None and _refines(settings):
        stopping = RelativeElbo.over(settings.iter, settings.eval_elbo, settings.tol_rel_obj, gives_up=True)
    return algorithm_of(settings, family, eta, reparameterised, AdviSequence, stopping, AVERAGED_TAIL)
