"""Step rules."""

from collections.abc import Callable
from typing import Any

from ppl.inference.steps.adam import Adam
from ppl.inference.steps.advi_sequence import AdviSequence
from ppl.inference.steps.dowg import Dowg
from ppl.inference.steps.rmsprop import RmsProp
from ppl.inference.steps.robbins_monro import RobbinsMonro
from ppl.inference.steps.staged import Staged
from ppl.inference.steps.step_rule import StepRule

# Each rule is made from a step size eta; DoWG finds its own.
STEPS: dict[str, Callable[[float], StepRule[Any]]] = {
    "advi": AdviSequence,
    "adam": Adam,
    "rmsprop": RmsProp,
    "staged": Staged,
    "robbins-monro": RobbinsMonro,
    "dowg": lambda eta: Dowg(),
}
