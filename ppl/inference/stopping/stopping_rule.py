"""What the loop asks of a stopping rule."""

import math
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ppl.inference.outcome import Outcome
from ppl.inference.target import Array

State = TypeVar("State")


@dataclass(frozen=True)
class Checkpoint:
    """What a rule may look at, every eval_elbo iterations."""

    iteration: int
    elbo: float
    params: Array
    gradient: Array


@dataclass(frozen=True)
class Reading:
    """What a rule makes of a checkpoint: relative changes where it has them, a note, an outcome to stop."""

    delta_mean: float = math.nan
    delta_median: float = math.nan
    note: str = ""
    outcome: Outcome | None = None


class StoppingRule(Protocol[State]):
    """A pure rule: the state goes in and comes out."""

    def init(self) -> State:
        """The state before the first checkpoint."""
        ...

    def update(self, state: State, checkpoint: Checkpoint) -> tuple[State, Reading]:
        """Look at the next checkpoint."""
        ...
