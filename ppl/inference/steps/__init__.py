"""Step rules."""

from collections.abc import Callable
from typing import Any

from ppl.inference.steps.adam import Adam
from ppl.inference.steps.advi_sequence import AdviSequence
from ppl.inference.steps.dowg import Dowg
from ppl.inference.steps.step_rule import StepRule

# Each rule is made from a step size eta; DoWG finds its own.
STEPS: dict[str, Callable[[float], StepRule[Any]]] = {
    "advi": AdviSequence,
    "adam": Adam,
    "dowg": lambda eta: Dowg(),
}
