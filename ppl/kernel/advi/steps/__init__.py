"""Step rules."""

from collections.abc import Callable
from typing import Any

from ppl.kernel.advi.steps.adam import Adam
from ppl.kernel.advi.steps.advi_sequence import AdviSequence
from ppl.kernel.advi.steps.dowg import Dowg
from ppl.kernel.advi.steps.rmsprop import RmsProp
from ppl.kernel.advi.steps.robbins_monro import RobbinsMonro
from ppl.kernel.advi.steps.staged import Staged
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
