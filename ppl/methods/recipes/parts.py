"""The parts of a stochastic recipe that a setting may put in place of its own."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ppl.kernel.advi.estimators import ESTIMATORS
from ppl.kernel.advi.estimators.reparameterised import Estimator
from ppl.kernel.advi.eta_search import SEARCHED_ETAS
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.standard import STANDARDS
from ppl.kernel.advi.optimise import Algorithm
from ppl.kernel.advi.steps import STEPS
from ppl.kernel.advi.steps.step_rule import Last, Polynomial, StepRule
from ppl.kernel.advi.stopping import STOPPING
from ppl.kernel.advi.stopping.stopping_rule import StoppingRule
from ppl.kernel.advi.subsampling import row_choice
from ppl.methods.run.settings import Settings

UNSCALED_ETAS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""In the coordinates of the model: about one over the curvature, which only scaled coordinates know
beforehand.
"""
SCALED_ETAS = (0.3, 0.1, 0.03, 0.01, 0.003)
"""In coordinates scaled by the curvature."""

PLAIN = ("staged", "robbins-monro")


def algorithm_of(
    settings: Settings,
    family: Family,
    eta: float,
    estimator: Estimator,
    step_rule: Callable[[float], StepRule[Any]],
    stopping: StoppingRule[Any],
    power: float,
) -> Algorithm:
    """The recipe's own parts in the slots of the loop, but for those that settings name.

    The answer is an average whose weights grow as the iteration to that power, or the last iterate.
    """
    often = {name: getattr(settings, name) for name in ("grad_samples", "elbo_samples", "eval_elbo")}
    return Algorithm(
        family=family,
        estimator=ESTIMATORS[settings.estimator] if settings.estimator else estimator,
        step_rule=(STEPS[settings.step_rule] if settings.step_rule else step_rule)(eta),
        stopping=stopping,
        averaging=Polynomial(power) if settings.average else Last(),
        iterations=settings.iter,
        rows=row_choice(settings.minibatch, settings.seed),
        **often,
    )


def stopping_of(settings: Settings, own: str) -> StoppingRule[Any]:
    """The stopping rule that was named, or the recipe's own."""
    return STOPPING[settings.stop or own](settings.iter, settings.eval_elbo, settings.tol_rel_obj)


def etas_of(settings: Settings, own: str, scaled: bool) -> tuple[float, ...]:
    """The step sizes worth a trial: ADVI's where the rule divides by the size of the gradient."""
    if (settings.step_rule or own) in PLAIN:
        return SCALED_ETAS if scaled else UNSCALED_ETAS
    return SEARCHED_ETAS


def with_noise(family: Any, settings: Settings) -> Any:
    """The family over the noise that was named, which is what it shifts and scales."""
    return replace(family, standard=STANDARDS[settings.noise]())
