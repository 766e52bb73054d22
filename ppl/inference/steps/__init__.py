"""Step rules."""

from collections.abc import Callable
from typing import Any

from ppl.inference.steps.adam import Adam
from ppl.inference.steps.advi_sequence import AdviSequence
from ppl.inference.steps.step_rule import StepRule

# Each rule is made from its step size eta.
STEPS: dict[str, Callable[[float], StepRule[Any]]] = {"advi": AdviSequence, "adam": Adam}
