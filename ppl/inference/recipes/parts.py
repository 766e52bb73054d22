"""The parts of a stochastic recipe that a setting may put in place of its own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ppl.inference.estimators import ESTIMATORS
from ppl.inference.estimators.estimate import Estimator
from ppl.inference.families.standard import STANDARDS
from ppl.inference.run.settings import Settings
from ppl.inference.steps import STEPS
from ppl.inference.steps.eta_search import ETA_SEARCH
from ppl.inference.steps.step_rule import StepRule
from ppl.inference.stopping import STOPPING
from ppl.inference.stopping.stopping_rule import StoppingRule


@dataclass(frozen=True)
class EtaLadders:
    """The step sizes that a search tries for plain gradient steps."""

    unscaled: tuple[float, ...] = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    """In the coordinates of the model: about one over the curvature, which only scaled coordinates know
    beforehand.
    """

    scaled: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01, 0.003)
    """In coordinates scaled by the curvature."""


ETA_LADDERS = EtaLadders()

PLAIN = ("staged", "robbins-monro")


def estimator_of(settings: Settings, own: Estimator) -> Estimator:
    """The estimator that was named, or the recipe's own."""
    return own if settings.estimator is None else ESTIMATORS[settings.estimator]


def step_rule_of(settings: Settings, own: Callable[[float], StepRule[Any]], eta: float) -> StepRule[Any]:
    """The step rule that was named, or the recipe's own, at that step size."""
    return (own if settings.step_rule is None else STEPS[settings.step_rule])(eta)


def stopping_of(settings: Settings, own: str) -> StoppingRule[Any]:
    """The stopping rule that was named, or the recipe's own."""
    return STOPPING[settings.stop or own](settings.iter, settings.eval_elbo, settings.tol_rel_obj)


def etas_of(settings: Settings, own: str, scaled: bool) -> tuple[float, ...]:
    """The step sizes worth a trial: ADVI's where the rule divides by the size of the gradient."""
    if (settings.step_rule or own) in PLAIN:
        return ETA_LADDERS.scaled if scaled else ETA_LADDERS.unscaled
    return ETA_SEARCH.etas


def with_noise(family: Any, settings: Settings) -> Any:
    """The family over the noise that was named, which is what it shifts and scales."""
    return replace(family, standard=STANDARDS[settings.noise]())
