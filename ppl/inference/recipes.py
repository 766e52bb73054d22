"""Whole algorithms: each fills the loop's slots with parts."""

from dataclasses import dataclass
from math import nan

import numpy as np

from ppl.inference.averaging import Last, Polynomial
from ppl.inference.draws import draws_with_density
from ppl.inference.elbo import elbo_of
from ppl.inference.estimators.reparameterised import reparameterised
from ppl.inference.eta_search import EtaSearch, search_eta
from ppl.inference.families import FAMILIES
from ppl.inference.families.family import Family
from ppl.inference.optimise import Algorithm, Run, TracePoint, optimise
from ppl.inference.outcome import Outcome
from ppl.inference.progress import Listener, silent
from ppl.inference.settings import Settings
from ppl.inference.start import start_point
from ppl.inference.steps.advi_sequence import AdviSequence
from ppl.inference.stopping.relative_elbo import RelativeElbo
from ppl.inference.streams import Streams, streams
from ppl.inference.target import Array, Target


@dataclass(frozen=True)
class Result:
    """What a run leaves.

    `family` and `params` (size,) are q itself, `mean_u` (dim,) its mean. `draws_u` (draws, dim) are draws of
    q; `log_p`, `log_q` and `log_g` (draws,) are the log densities there of the target, of q, and of the noise
    up to a constant as CmdStan writes it, -|z|^2 / 2. `final_elbo` and its standard error, in nats, are from
    fresh draws. `dropped` counts draws whose log density was not finite; `notes` are sentences for the user.
    """

    settings: Settings
    family: Family
    params: Array
    start: Array
    eta: float
    eta_scores: dict[float, float]
    iterations: int
    trace: tuple[TracePoint, ...]
    outcome: Outcome
    final_elbo: float
    final_elbo_se: float
    draws_u: Array
    log_p: Array
    log_q: Array
    log_g: Array
    dropped: int
    notes: tuple[str, ...]

    @property
    def mean_u(self) -> Array:
        return self.family.mean(self.params)


def advi(
    target: Target,
    *,
    algorithm: str = "meanfield",
    seed: int = 1,
    iter: int = 10_000,
    grad_samples: int = 1,
    elbo_samples: int = 100,
    eta: float | None = None,
    adapt_iter: int = 50,
    tol_rel_obj: float = 0.01,
    eval_elbo: int = 100,
    draws: int = 1000,
    average: bool = False,
    init: float | Array = 2.0,
    progress: Listener = silent,
) -> Result:
    """Automatic differentiation variational inference (Kucukelbir et al. 2017, Algorithm 1).

    The names and defaults are CmdStan's. `eta=None` searches for the step size; `init` is a radius or a start
    (dim,) on R^dim; `average=True` answers with an average over the tail of the path, which the paper lacks
    and removes most of the noise of the last steps. The same seed gives the same result to the last bit.

    Raises:
        InferenceError: a setting is out of range, or the target is not finite where the run must begin.

    Example:
        >>> result = advi(target, algorithm="fullrank", seed=1)
        >>> print(result.outcome.sentence, result.mean_u)
    """
    settings = Settings(
        algorithm,
        seed,
        iter,
        grad_samples,
        elbo_samples,
        eta,
        adapt_iter,
        tol_rel_obj,
        eval_elbo,
        draws,
        average,
    )
    source = streams(seed)
    # A step too far overflows on the way to a density that is not finite, which is looked for and dealt with.
    with np.errstate(all="ignore"):
        start = start_point(target, init, source.start)
        family = FAMILIES[algorithm](target.dim)
        params = family.start(start)
        search = _step_size(settings, family, target, params, source, progress)
        parts = _advi_parts(settings, family, search.eta)
        run, outcome = optimise(parts, target, params, source.gradients, source.elbo, progress)
        return _result(settings, family, target, start, search, run, outcome, source.draws)


def _advi_parts(settings: Settings, family: Family, eta: float) -> Algorithm:
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


def _step_size(
    settings: Settings, family: Family, target: Target, params: Array, source: Streams, progress: Listener
) -> EtaSearch:
    if settings.eta is not None:
        return EtaSearch(settings.eta, nan, {}, "")

    def with_eta(eta: float) -> Algorithm:
        return _advi_parts(settings, family, eta)

    return search_eta(with_eta, target, params, settings.adapt_iter, source.search, progress)


def _result(
    settings: Settings,
    family: Family,
    target: Target,
    start: Array,
    search: EtaSearch,
    run: Run,
    outcome: Outcome,
    rng: np.random.Generator,
) -> Result:
    """Draw from the final q. The draws are fresh, so the final ELBO rests on them, at least elbo_samples."""
    fresh = draws_with_density(target, family, run.average, max(settings.draws, settings.elbo_samples), rng)
    elbo = elbo_of(fresh.log_density, family.entropy(run.average), fresh.dropped)
    dropped = run.dropped + elbo.dropped
    kept = slice(settings.draws)
    return Result(
        settings=settings,
        family=family,
        params=run.average,
        start=start,
        eta=search.eta,
        eta_scores=search.scores,
        iterations=run.iteration,
        trace=run.trace,
        outcome=outcome,
        final_elbo=elbo.value,
        final_elbo_se=elbo.se,
        draws_u=fresh.u[kept],
        log_p=fresh.log_density[kept],
        log_q=family.log_density(run.average, fresh.u[kept]),
        log_g=-0.5 * (fresh.z[kept] ** 2).sum(axis=1),
        dropped=dropped,
        notes=_notes(search.note, run.best_elbo, elbo.value, dropped),
    )


def _notes(search_note: str, best_elbo: float, final_elbo: float, dropped: int) -> tuple[str, ...]:
    notes = [search_note] if search_note else []
    if best_elbo - final_elbo > max(1.0, 0.05 * abs(final_elbo)):
        notes.append(f"The ELBO was higher on the way ({best_elbo:.6g}) than at the end; try a smaller eta.")
    if dropped:
        notes.append(f"{dropped} draws had no finite log density and were redrawn.")
    return tuple(notes)
