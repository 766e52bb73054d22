"""Algorithm 1 of ADVI (Kucukelbir et al. 2017): start, search for the step size, the loop, draws."""

from functools import partial

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.context import Context
from ppl.kernel.advi.elbo import TRIES_A_WRITTEN_DRAW, points_with_density
from ppl.kernel.advi.estimators.reparameterised import reparameterised
from ppl.kernel.advi.eta_search import FEWEST_SEARCH_DRAWS, SEARCHED_ETAS, search_eta
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.optimise import Algorithm, TracePoint, optimise
from ppl.kernel.advi.outcome import Outcome
from ppl.kernel.advi.start import start_point
from ppl.kernel.advi.steps.adaptive import AdviSequence
from ppl.kernel.advi.steps.step_rule import Last
from ppl.kernel.advi.stopping.relative_elbo import RelativeElbo
from ppl.kernel.advi.target import Target
from ppl.records import dataclass


@dataclass(frozen=True)
class Settings:
    """The settings of the algorithm, with CmdStan's names and defaults."""

    iter: int = 10_000
    grad_samples: int = 1
    elbo_samples: int = 100
    eta: float | None = None
    adapt_iter: int = 50
    tol_rel_obj: float = 0.01
    eval_elbo: int = 100
    draws: int = 1000
    init: float = 2.0
    seed: int = 1


@dataclass(frozen=True)
class Approximation:
    """The q that was found: its params, and draws of it.

    `u` (draws, dim) are the draws, `log_p` and `log_q` (draws,) the log densities there.
    """

    family: Family
    params: Floats
    eta: float
    outcome: Outcome
    trace: tuple[TracePoint, ...]
    u: Floats
    log_p: Floats
    log_q: Floats

    @property
    def mean(self) -> Floats:
        """That of q (dim,)."""
        return self.family.mean(self.params)


def algorithm_1(target: Target, family: Family, settings: Settings) -> Approximation:
    """Fit a family to a target, and draw from the fit.

    Raises:
        InferenceError: no start has a finite density, or draws of q have none.
    """
    context = Context.of(settings)
    streams = context.streams
    # A step too far overflows on the way to a density that is not finite, which is looked for and dealt with.
    with np.errstate(all="ignore"):
        params = family.start(start_point(target, settings.init, streams.start), 1.0)
        with_eta = partial(parts, settings, family)
        eta = settings.eta
        if eta is None:
            eta = search_eta(with_eta, target, params, context, SEARCHED_ETAS, FEWEST_SEARCH_DRAWS).eta
        run, outcome = optimise(with_eta(eta), target, params, context)
        n, rng = max(settings.draws, settings.elbo_samples), streams.draws
        u, log_p, _ = points_with_density(target, family, run.average, n, rng, TRIES_A_WRITTEN_DRAW)
        u, log_p = u[: settings.draws], log_p[: settings.draws]
        log_q = family.log_density(run.average, u)
    return Approximation(family, run.average, eta, outcome, run.trace, u, log_p, log_q)


def parts(settings: Settings, family: Family, eta: float) -> Algorithm:
    """The paper's parts in the slots of the loop."""
    return Algorithm(
        family=family,
        estimator=reparameterised,
        step_rule=AdviSequence(eta),
        stopping=RelativeElbo.over(settings.iter, settings.eval_elbo, settings.tol_rel_obj),
        averaging=Last(),
        iterations=settings.iter,
        grad_samples=settings.grad_samples,
        elbo_samples=settings.elbo_samples,
        eval_elbo=settings.eval_elbo,
    )
