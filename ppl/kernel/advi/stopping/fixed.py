"""Never stop before the iterations are used up."""

from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.stopping.stopping_rule import Checkpoint, Reading
from ppl.records import dataclass


@dataclass(frozen=True)
class Fixed:
    """Run all `iterations`."""

    iterations: int

    def init(self) -> None:
        return None

    def update(self, state: None, checkpoint: Checkpoint) -> tuple[None, Reading]:
        done = Outcome(Ending.COMPLETED, f"all {self.iterations} iterations were run")
        return None, Reading(outcome=done if checkpoint.iteration >= self.iterations else None)
