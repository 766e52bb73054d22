"""The common part of recipes with noisy steps: a start, a search for a step size, and the loop."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import nan
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.context import once
from ppl.kernel.advi.eta_search import EtaSearch, search_eta
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.optimise import Algorithm, Run, begin, optimise
from ppl.kernel.advi.outcome import Ending, Outcome, interrupted
from ppl.kernel.advi.start import START_PATHS, Init, Warm, start_point, start_points
from ppl.kernel.advi.subsampling import PURPOSE_START, row_choice
from ppl.kernel.advi.target import Target
from ppl.methods.initialise.starting import Start, at_random, from_paths, from_q
from ppl.methods.recipes.parts import etas_of
from ppl.methods.recipes.result import Path, Result, result_of
from ppl.methods.refine.refinement import Refined
from ppl.methods.run.phases import Context

AVERAGED_HALF = 3.0
"""The power by which an average is over the later half of the path or so."""
NARROW_FIRST_SCALE = 0.1
"""The scale of a narrow first q: the first gradients then say where the mean should go, with little noise."""
NO_STEP = "The stochastic optimisation was skipped: no step size improved on the initial approximation."


def maximise_elbo(
    target: Target, family: Family, parts: Callable[..., Algorithm], init: Init, context: Context
) -> tuple[Floats, Path]:
    """The params of q in the coordinates of the model, by the loop with `parts(settings, family, rate)`."""
    # A step too far overflows on the way to a density that is not finite, which is looked for and dealt with.
    with np.errstate(all="ignore"):
        start = initialise(target, family, init, context, NARROW_FIRST_SCALE, paths=1)
        etas = etas_of(context.settings, "staged", start.scaled)
        # A plain step is as large as its gradient: the noise that a rate must bear is that of the run itself.
        loop = run_loop(partial(parts, context.settings, family), start, context, etas)
    path = loop.path(start, loop.outcome, (start.note, loop.search.note))
    return start.back(loop.run.average), path


def fit_by_steps(
    target: Target, family: Family, parts: Callable[..., Algorithm], init: Init, context: Context
) -> Result:
    """The q that `maximise_elbo` finds, and its draws."""
    return result_of(target, family, *maximise_elbo(target, family, parts, init, context), context)


def initialise(
    target: Target, family: Family, init: Init, context: Context, scale: float = 1.0, paths: int = START_PATHS
) -> Start:
    """The first stage: an earlier q, a random point, or the best of so many paths.

    A random point has scales of `scale` where the settings name none.
    """
    settings, streams = context.settings, context.streams
    seen = row_choice(settings.minibatch, settings.seed).on_the_way(target, PURPOSE_START)

    def found() -> Start:
        if isinstance(init, Warm):
            return from_q(seen, family, init, scaled=settings.start == "pathfinder")
        if settings.start == "random":
            point = start_point(seen, init, streams.start)
            return at_random(seen, family, point, settings.init_scale or scale)
        points = start_points(seen, init, streams.start, paths)
        return from_paths(seen, family, points, streams.pathfinder, context.listen)

    state = once(context.journal, "start", lambda: found().state, streams.pathfinder)
    return state.start(target, family)


def path_without_steps(start: Start, q: Refined) -> Path:
    """How a q was come by that no noisy step led to."""
    notes = [note for note in (start.note, *q.notes) if note]
    return Path(start.point, q.outcome, notes=notes, at_maximum=q.at_maximum)


class LoopResult(NamedTuple):
    """The end of the second stage: the choice of a step size, the state, and how it ended."""

    search: EtaSearch
    run: Run
    outcome: Outcome
    note: str = ""

    def path(self, start: Start, outcome: Outcome, notes: Sequence[str], at_maximum: bool = False) -> Path:
        """How q was come by, where this loop was a part of it."""
        run, said = self.run, [note for note in notes if note]
        steps = (self.search.eta, self.search.scores, run.iteration, run.trace, run.dropped)
        return Path(start.point, outcome, *steps, said, at_maximum)


NO_SEARCH = EtaSearch(nan, {}, "")


def run_loop(
    with_eta: Callable[[float], Algorithm],
    start: Start,
    context: Context,
    etas: Sequence[float],
    min_draws: int = 1,
    allow_no_step: bool = False,
) -> LoopResult:
    """The second stage: the step size that is given, or the best of `etas` (see `search_eta`), and the loop.

    With `allow_no_step` none is taken from a scaled start that no step size improves on. Ctrl-C in the
    search leaves the start itself.
    """
    settings, streams, journal = context.settings, context.streams, context.journal

    def found() -> LoopResult:
        unmoved = begin(with_eta(1.0), start.params)
        if start.outcome:
            return LoopResult(NO_SEARCH, unmoved, start.outcome)
        try:
            search = once(journal, "search", searched)
        except KeyboardInterrupt:
            return LoopResult(NO_SEARCH, unmoved, interrupted("in the search for a step size"))
        if search.note and allow_no_step and start.scaled:
            return LoopResult(
                search, unmoved, Outcome(Ending.COMPLETED, "no stochastic step was taken"), NO_STEP
            )
        run, outcome = optimise(with_eta(search.eta), start.target, start.params, context)
        return LoopResult(search, run, outcome)

    def searched() -> EtaSearch:
        if settings.eta is not None or settings.step_rule == "dowg":
            return replace(NO_SEARCH, eta=nan if settings.eta is None else settings.eta)
        return search_eta(with_eta, start.target, start.params, context, etas, min_draws)

    return once(journal, "loop end", found, streams.gradients, streams.elbo)
