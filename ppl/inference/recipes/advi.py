"""Automatic differentiation variational inference as in the paper (Kucukelbir et al. 2017, Algorithm 1)."""

from math import nan
from typing import Any

import numpy as np

from ppl.errors import InferenceError
from ppl.inference.averaging import Last, Polynomial
from ppl.inference.estimators.reparameterised import reparameterised
from ppl.inference.eta_search import EtaSearch, search_eta
from ppl.inference.families import FAMILIES
from ppl.inference.families.family import Family
from ppl.inference.optimise import Algorithm, optimise
from ppl.inference.progress import Listener, silent
from ppl.inference.recipes.result import Path, Result, result_of
from ppl.inference.settings import Settings
from ppl.inference.start import start_point
from ppl.inference.steps.advi_sequence import AdviSequence
from ppl.inference.stopping.relative_elbo import RelativeElbo
from ppl.inference.streams import Streams, streams
from ppl.inference.target import Array, Target


def advi(
    target: Target, *, init: float | Array = 2.0, progress: Listener = silent, **settings: Any
) -> Result:
    """Algorithm 1 of the paper, for callers in Python.

    The settings are those of `Settings`, with CmdStan's names and defaults. `eta=None` searches for the step
    size; `init` is a radius or a start (dim,) on R^dim; `average=True` answers with an average over the tail
    of the path, which the paper lacks and removes most of the noise of the last steps. The same seed gives
    the same result to the last bit.

    Raises:
        InferenceError: a setting is out of range, or the target is not finite where the run must begin.

    Example:
        >>> result = advi(target, algorithm="fullrank", seed=1)
        >>> print(result.outcome.sentence, result.mean_u)
    """
    return plain(target, Settings(**settings), init, progress)


def plain(target: Target, settings: Settings, init: float | Array, progress: Listener) -> Result:
    """The recipe: start at random, search for eta, climb until the relative change of the ELBO is small."""
    family = family_of(settings.algorithm, target.dim)
    source = streams(settings.seed)
    # A step too far overflows on the way to a density that is not finite, which is looked for and dealt with.
    with np.errstate(all="ignore"):
        start = start_point(target, init, source.start)
        params = family.start(start)
        search = step_size(settings, family, target, params, source, progress)
        run, outcome = optimise(
            parts(settings, family, search.eta), target, params, source.gradients, source.elbo, progress
        )
        path = Path(
            start=start,
            outcome=outcome,
            eta=search.eta,
            eta_scores=search.scores,
            iterations=run.iteration,
            trace=run.trace,
            dropped=run.dropped,
            notes=[search.note] if search.note else [],
        )
        return result_of(target, settings, family, run.average, path, source.draws)


def family_of(name: str, dim: int) -> Family:
    """The family of that name over R^dim; InferenceError, with the names there are, for another."""
    if name not in FAMILIES:
        raise InferenceError(f"algorithm = {name!r} is unknown; expected one of {', '.join(FAMILIES)}.")
    return FAMILIES[name](dim)


def parts(settings: Settings, family: Family, eta: float) -> Algorithm:
    """The parts of Algorithm 1 in the slots of the loop."""
    return Algorithm(
        family=family,
        estimator=reparameterised,
        step_rule=AdviSequence(eta),
        stopping=RelativeElbo.over(settings.iter, settings.eval_elbo, settings.tol_rel_obj),
        averaging=Polynomial() if settings.average else Last(),
        iterations=settings.iter,
        grad_samples=settings.grad_samples,
        elbo_samples=settings.elbo_samples,
        eval_elbo=settings.eval_elbo,
    )


def step_size(
    settings: Settings, family: Family, target: Target, params: Array, source: Streams, progress: Listener
) -> EtaSearch:
    """The eta that was given, or the best of a search from `params` (size,)."""
    if settings.eta is not None:
        return EtaSearch(settings.eta, nan, {}, "")

    def with_eta(eta: float) -> Algorithm:
        return parts(settings, family, eta)

    return search_eta(with_eta, target, params, settings.adapt_iter, source.search, progress)
