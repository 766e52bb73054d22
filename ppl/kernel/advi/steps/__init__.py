"""Step rules."""

from collections.abc import Callable
from typing import Any

from ppl.kernel.advi.steps.adaptive import Adam, AdviSequence, Dowg, RmsProp
from ppl.kernel.advi.steps.decaying import RobbinsMonro, Staged
from ppl.kernel.advi.steps.step_rule import StepRule

# Each rule is made from a step size eta; DoWG finds its own.
STEPS: dict[str, Callable[[float], StepRule[Any]]] = {
    "advi": AdviSequence,
    "adam": Adam,
    "rmsprop": RmsProp,
    "staged": Staged,
    "robbins-monro": RobbinsMonro,
    "dowg": lambda eta: Dowg(),
}
