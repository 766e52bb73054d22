"""What recipes made of a start, a step-size search and the loop have in common."""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

import numpy as np

from ppl.inference.averaging import Averaging, Last, Polynomial
from ppl.inference.eta_search import EtaSearch, search_eta
from ppl.inference.families.family import Family
from ppl.inference.journal import Journal, once
from ppl.inference.optimise import Algorithm, Run, begin, optimise
from ppl.inference.outcome import Ending, Outcome
from ppl.inference.progress import Listener
from ppl.inference.recipes.parts import etas_of
from ppl.inference.recipes.result import Path
from ppl.inference.settings import Settings
from ppl.inference.start import Init, Warm, start_point
from ppl.inference.starting import Start, at_random, from_paths, from_q
from ppl.inference.streams import Streams
from ppl.inference.subsampling import STARTING, row_choice
from ppl.inference.target import Array, Target

# A narrow first q: the first gradients then say where the mean should go, with little noise.
FIRST_SCALE = 0.1


@dataclass(frozen=True)
class Climb:
    """The q that was found, in the coordinates of the model, and how."""

    params: Array
    path: Path


def climb(
    target: Target,
    settings: Settings,
    family: Family,
    with_eta: Callable[[float], Algorithm],
    init: Init,
    source: Streams,
    listen: Listener,
    journal: Journal,
) -> Climb:
    """Start, choose a rate unless one is given, and run the loop with `with_eta` of it."""
    # A step too far overflows on the way to a density that is not finite, which is looked for and dealt with.
    with np.errstate(all="ignore"):
        seen = row_choice(settings.minibatch, settings.seed).on_the_way(target, STARTING)
        kept = once(
            journal,
            "start",
            lambda: _start(settings, seen, family, init, source, listen).kept,
            source.pathfinder,
        )
        start = kept.start(target, family)
        search, run, outcome = once(
            journal,
            "loop end",
            lambda: _loop(settings, with_eta, start, source, listen, journal),
            source.gradients,
            source.elbo,
        )
    path = Path(
        start=start.point,
        outcome=outcome,
        eta=search.eta,
        eta_scores=search.scores,
        iterations=run.iteration,
        trace=run.trace,
        dropped=run.dropped,
        notes=[note for note in (start.note, search.note) if note],
    )
    return Climb(start.back(run.average), path)


def averaging_of(settings: Settings) -> Averaging:
    """The answer to give: an average over the later half of the path or so, or the last iterate."""
    return Polynomial(power=3.0) if settings.average else Last()


class Climbed(NamedTuple):
    """The choice of a rate, the state at the end of the loop, and the outcome."""

    search: EtaSearch
    run: Run
    outcome: Outcome


def _loop(
    settings: Settings,
    with_eta: Callable[[float], Algorithm],
    start: Start,
    source: Streams,
    listen: Listener,
    journal: Journal,
) -> Climbed:
    """A rate, and the loop with it; Ctrl-C before the loop leaves the start itself."""
    none, unmoved = EtaSearch(nan, nan, {}, ""), begin(with_eta(1.0), start.params)
    if start.outcome:
        return Climbed(none, unmoved, start.outcome)
    try:
        search = once(journal, "search", lambda: _rate(settings, with_eta, start, source, listen))
    except KeyboardInterrupt:
        stopped = Outcome(Ending.INTERRUPTED, "stopped by hand in the search for a step size")
        return Climbed(none, unmoved, stopped)
    rngs = (source.gradients, source.elbo)
    run, outcome = optimise(with_eta(search.eta), start.target, start.params, *rngs, listen, journal)
    return Climbed(search, run, outcome)


def _start(
    settings: Settings,
    target: Target,
    family: Family,
    init: Init,
    source: Streams,
    listen: Listener,
) -> Start:
    if isinstance(init, Warm):
        return from_q(target, family, init, scaled=settings.start == "pathfinder")
    point = start_point(target, init, source.start)
    if settings.start == "random":
        return at_random(target, family, point, scale=FIRST_SCALE)
    return from_paths(target, family, [point], source.pathfinder, listen)


def _rate(
    settings: Settings,
    with_eta: Callable[[float], Algorithm],
    start: Start,
    source: Streams,
    listen: Listener,
) -> EtaSearch:
    if settings.eta is not None or settings.step_rule == "dowg":
        return EtaSearch(nan if settings.eta is None else settings.eta, nan, {}, "")
    # A plain step is as large as its gradient, so the noise that a rate must bear is that of the run itself.
    return search_eta(
        with_eta,
        start.target,
        start.params,
        settings.adapt_iter,
        source.search,
        listen,
        etas=etas_of(settings, "staged", start.scaled),
        fewest=1,
    )
