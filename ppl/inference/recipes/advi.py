"""ADVI (Kucukelbir et al. 2017, Algorithm 1), begun at a good point and brought to the end it is heading for.

Four stages: start, the paper's loop, polish, and the draws on which the verdict rests. With all but the loop
switched off this is the paper's algorithm to the last bit.
"""

from dataclasses import replace
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ppl.inference.averaging import Last, Polynomial
from ppl.inference.estimators.reparameterised import reparameterised
from ppl.inference.eta_search import FEWEST_DRAWS, EtaSearch, search_eta
from ppl.inference.families import family_of
from ppl.inference.families.family import Family
from ppl.inference.journal import FORGETFUL, Journal, once
from ppl.inference.optimise import Algorithm, Run, begin, optimise
from ppl.inference.outcome import Ending, Outcome
from ppl.inference.polish import Polished, polish, unpolished
from ppl.inference.progress import Listener, silent
from ppl.inference.recipes.parts import estimator_of, etas_of, step_rule_of, stopping_of, with_noise
from ppl.inference.recipes.result import Path, Result, result_of
from ppl.inference.refining import is_cheap, will_anneal
from ppl.inference.settings import Settings
from ppl.inference.start import Init, Warm, start_point, start_points
from ppl.inference.starting import Start, at_random, from_paths, from_q
from ppl.inference.step_up import step_up
from ppl.inference.steps.advi_sequence import AdviSequence
from ppl.inference.streams import Streams, streams
from ppl.inference.subsampling import STARTING, row_choice
from ppl.inference.target import Target

NO_STEP = "ADVI's loop was left out: no step size improved on the start."
NO_POLISH = "The polish was left out: it looks at all rows at once, and minibatches were asked for."
PAPER: dict[str, Any] = {"start": "random", "average": False, "polish": False}


def advi(
    target: Target,
    *,
    init: Init = 2.0,
    progress: Listener = silent,
    journal: Journal = FORGETFUL,
    **settings: Any,
) -> Result:
    """Algorithm 1 of the paper alone, for callers in Python.

    The settings are those of `Settings`, with CmdStan's names and defaults. `eta=None` searches for the step
    size; `init` is a radius or a start (dim,) on R^dim. The same seed gives the same result to the last bit.

    Raises:
        InferenceError: a setting is out of range, or the target is not finite where the run must begin.

    Example:
        >>> result = advi(target, algorithm="fullrank", seed=1)
        >>> print(result.outcome.converged, result.mean_u.shape)
        True (10,)
    """
    return staged(target, Settings(**{**PAPER, **settings}), init, progress, journal)


def staged(
    target: Target, settings: Settings, init: Init, progress: Listener, journal: Journal = FORGETFUL
) -> Result:
    """The recipe of `meanfield`, `fullrank` and `lowrank`."""
    family = with_noise(family_of(settings.algorithm, target.dim, settings.rank), settings)
    source = streams(settings.seed)
    # A step too far overflows on the way to a density that is not finite, which is looked for and dealt with.
    with np.errstate(all="ignore"):
        seen = row_choice(settings.minibatch, settings.seed).on_the_way(target, STARTING)
        kept = once(
            journal,
            "start",
            lambda: _start(settings, seen, family, init, source, progress).kept,
            source.pathfinder,
        )
        start = kept.start(target, family)
        loop = once(
            journal,
            "loop end",
            lambda: _loop(settings, start, source, progress, journal),
            source.gradients,
            source.elbo,
        )
        end = once(
            journal,
            "end",
            lambda: _end(settings, target, start, loop, source, progress, journal),
            source.polish,
        )
        path = Path(
            start=start.point,
            outcome=end.outcome,
            eta=loop.search.eta,
            eta_scores=loop.search.scores,
            iterations=loop.run.iteration,
            trace=loop.run.trace,
            dropped=loop.run.dropped,
            notes=[note for note in (start.note, loop.note, *end.notes) if note],
            at_maximum=end.at_maximum,
        )
        return result_of(target, settings, end.family, end.params, path, source.draws, progress)


class Loop(NamedTuple):
    """What the second stage leaves."""

    search: EtaSearch
    run: Run
    outcome: Outcome
    note: str = ""


def _loop(settings: Settings, start: Start, source: Streams, progress: Listener, journal: Journal) -> Loop:
    """The second stage: Algorithm 1 from the start.

    Where the search for eta finds that a scaled start cannot be bettered by noisy steps, the polish goes on
    from there; Ctrl-C in the search leaves the start itself.
    """
    unmoved = begin(_parts(settings, start.family, 1.0), start.params)
    if start.outcome:
        return Loop(EtaSearch(nan, nan, {}, ""), unmoved, start.outcome)
    try:
        search = once(journal, "search", lambda: _step_size(settings, start, source, progress))
    except KeyboardInterrupt:
        stopped = Outcome(Ending.INTERRUPTED, "stopped by hand in the search for a step size")
        return Loop(EtaSearch(nan, nan, {}, ""), unmoved, stopped)
    if search.note and settings.polish and settings.minibatch is None and start.scaled:
        return Loop(search, unmoved, Outcome(Ending.COMPLETED, "the loop took no step"), NO_STEP)
    algorithm = _parts(settings, start.family, search.eta)
    run, outcome = optimise(
        algorithm, start.target, start.params, source.gradients, source.elbo, progress, journal
    )
    return Loop(search, run, outcome)


def _start(
    settings: Settings,
    target: Target,
    family: Family,
    init: Init,
    source: Streams,
    progress: Listener,
) -> Start:
    """The first stage."""
    if isinstance(init, Warm):
        return from_q(target, family, init, scaled=settings.start == "pathfinder")
    if settings.start == "random":
        return at_random(target, family, start_point(target, init, source.start))
    return from_paths(target, family, start_points(target, init, source.start), source.pathfinder, progress)


def _end(
    settings: Settings,
    target: Target,
    start: Start,
    loop: Loop,
    source: Streams,
    progress: Listener,
    journal: Journal,
) -> Polished:
    """The third stage, unless it is switched off or the user has had enough."""
    params, outcome = loop.run.average, loop.outcome
    if settings.minibatch is not None:
        return unpolished(start, params, outcome, loop.search.note or (NO_POLISH if settings.polish else ""))
    if settings.polish and outcome.ending is not Ending.INTERRUPTED:
        found = polish(start, params, outcome, source.polish, progress, settings.linear_response, journal)
        cheap = is_cheap(target) or not will_anneal(target, settings)
        steps_up = cheap if settings.step_up is None else settings.step_up
        if not steps_up or found.outcome.ending is Ending.INTERRUPTED:
            return found
        try:
            return step_up(target, start, found, source.polish, progress, journal)
        except KeyboardInterrupt:
            stopped = Outcome(Ending.INTERRUPTED, "stopped by hand in the step up to full rank")
            return replace(found, outcome=stopped)
    return unpolished(start, params, outcome, loop.search.note)


def _parts(settings: Settings, family: Family, eta: float) -> Algorithm:
    """The parts of Algorithm 1 in the slots of the loop."""
    return Algorithm(
        family=family,
        estimator=estimator_of(settings, reparameterised),
        step_rule=step_rule_of(settings, AdviSequence, eta),
        stopping=stopping_of(settings, "relative-elbo"),
        averaging=Polynomial() if settings.average else Last(),
        iterations=settings.iter,
        grad_samples=settings.grad_samples,
        elbo_samples=settings.elbo_samples,
        eval_elbo=settings.eval_elbo,
        rows=row_choice(settings.minibatch, settings.seed),
    )


def _step_size(settings: Settings, start: Start, source: Streams, progress: Listener) -> EtaSearch:
    """The eta that was given, or the best of a search from the start.

    Where a polish follows, a choice made by luck does no harm, and the search may cost less.
    """
    if settings.eta is not None or settings.step_rule == "dowg":
        return EtaSearch(nan if settings.eta is None else settings.eta, nan, {}, "")

    def with_eta(eta: float) -> Algorithm:
        return _parts(settings, start.family, eta)

    fewest = 1 if settings.polish else FEWEST_DRAWS
    return search_eta(
        with_eta,
        start.target,
        start.params,
        settings.adapt_iter,
        source.search,
        progress,
        etas=etas_of(settings, "advi", start.scaled),
        fewest=fewest,
    )
