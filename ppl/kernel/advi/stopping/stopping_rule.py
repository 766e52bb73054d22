"""The interface of stopping rules."""

import math
from typing import Protocol, TypeVar

from ppl.floats import Floats
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.records import dataclass

StoppingState = TypeVar("StoppingState")


@dataclass(frozen=True)
class Checkpoint:
    """The input of a stopping rule, every eval_elbo iterations.

    `params` (size,) is the answer so far and `elbo` its ELBO; `iterate` (size,) is where the path stands and
    `gradient` the estimate that led there. `bound` is the mean of the instantaneous bounds (one estimate of
    the ELBO an iteration, from the draws of its gradient) since the last checkpoint.
    """

    iteration: int
    elbo: float
    params: Floats
    gradient: Floats
    iterate: Floats
    bound: float


@dataclass(frozen=True)
class Reading:
    """The output of a stopping rule: relative changes if it has them, a note, an outcome to stop."""

    delta_mean: float = math.nan
    delta_median: float = math.nan
    note: str = ""
    outcome: Outcome | None = None


class StoppingRule(Protocol[StoppingState]):
    """A pure rule: the state goes in and comes out."""

    def init(self) -> StoppingState:
        """The state before the first checkpoint."""

    def update(self, state: StoppingState, checkpoint: Checkpoint) -> tuple[StoppingState, Reading]:
        """Read the next checkpoint; its ELBO is finite."""


def read(
    rule: StoppingRule[StoppingState], state: StoppingState, checkpoint: Checkpoint
) -> tuple[StoppingState, Reading]:
    """The next state and reading of a rule; an ELBO that is not finite ends every run."""
    if math.isfinite(checkpoint.elbo):
        return rule.update(state, checkpoint)
    reason = f"the ELBO is {checkpoint.elbo} at iteration {checkpoint.iteration}"
    return state, Reading(outcome=Outcome(Ending.DIVERGED, reason))


@dataclass(frozen=True)
class FixedIterations:
    """Run all `iterations`."""

    iterations: int

    def init(self) -> None:
        return None

    def update(self, state: None, checkpoint: Checkpoint) -> tuple[None, Reading]:
        done = Outcome(Ending.COMPLETED, f"all {self.iterations} iterations were run")
        return None, Reading(outcome=done if checkpoint.iteration >= self.iterations else None)
