"""Stop when the ELBO changes little, relative to its size (ADVI Algorithm 1, as Stan measures it)."""

import math
from typing import NamedTuple

from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.stopping.stopping_rule import Checkpoint, Reading
from ppl.late import statistics
from ppl.records import dataclass

FEWEST_CHECKPOINTS = 10
"""Checkpoints that must have been seen."""
DIVERGING_CHANGE = 0.5
"""The relative change of the ELBO, mean or median over the window."""


class RelativeElboState(NamedTuple):
    """ELBOs seen so far, the last of them, and the latest relative changes (at most `window`).

    `suspect` counts the last checkpoints in a row at which the run seemed to diverge.
    """

    seen: int
    previous: float
    deltas: tuple[float, ...]
    suspect: int = 0


@dataclass(frozen=True)
class RelativeElbo:
    """Stop once the mean or the median of the last `window` relative changes is below `tolerance`.

    A change is |ELBO - previous| / |previous|, so the first one needs two ELBOs, and the rule waits until the
    window is full: one small change is often luck. Stan compares the first ELBO with zero, divides by the
    newer of the two, and may stop on three changes, of which the first is always 1.

    A rule that `gives_up` ends a run that has seemed to diverge for a whole window: as where the ELBO has no
    variance, which no number of iterations mends.
    """

    tolerance: float
    window: int
    gives_up: bool = False

    @classmethod
    def over(
        cls, iterations: int, eval_elbo: int, tolerance: float, gives_up: bool = False
    ) -> "RelativeElbo":
        """The rule with Stan's window, a tenth of the checkpoints that fit in `iterations`, at least two."""
        return cls(tolerance, max(2, iterations // (10 * eval_elbo)), gives_up)

    def init(self) -> RelativeElboState:
        return RelativeElboState(0, math.nan, ())

    def update(self, state: RelativeElboState, checkpoint: Checkpoint) -> tuple[RelativeElboState, Reading]:
        deltas = state.deltas
        if state.seen:
            deltas = (*deltas, _relative_change(state.previous, checkpoint.elbo))[-self.window :]
        seen = state.seen + 1
        diverges = (
            seen > FEWEST_CHECKPOINTS
            and max(statistics.fmean(deltas), statistics.median(deltas)) > DIVERGING_CHANGE
        )
        suspect = state.suspect + 1 if diverges else 0
        state = RelativeElboState(seen, checkpoint.elbo, deltas, suspect)
        return state, self._read(state) if deltas else Reading()

    def _read(self, state: RelativeElboState) -> Reading:
        mean, middle = statistics.fmean(state.deltas), statistics.median(state.deltas)
        small = [name for name, delta in (("mean", mean), ("median", middle)) if delta < self.tolerance]
        if small and len(state.deltas) == self.window:
            which = " and ".join(small)
            reason = f"the {which} relative change of the ELBO fell below {self.tolerance:g}"
            return Reading(mean, middle, f"{which} ELBO converged", Outcome(Ending.CONVERGED, reason))
        note = "may be diverging, inspect the ELBO" if state.suspect else ""
        if self.gives_up and state.suspect >= self.window:
            reason = f"the ELBO changed by more than half its value at {self.window} checkpoints in a row"
            return Reading(mean, middle, note, Outcome(Ending.DIVERGED, reason))
        return Reading(mean, middle, note)


def _relative_change(previous: float, elbo: float) -> float:
    if previous == 0:
        return 0.0 if elbo == 0 else math.inf
    return abs(elbo - previous) / abs(previous)
