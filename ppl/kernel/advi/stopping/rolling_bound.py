"""Stop when a rolling average of the instantaneous bound rises no more (DSVI's supplement, section B)."""

import math

from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.stopping.stopping_rule import Checkpoint, Reading
from ppl.late import statistics
from ppl.records import dataclass

BOUND_WINDOW = 200
"""Iterations in a window, as in the paper (section B of the supplement)."""


@dataclass(frozen=True)
class RollingBound:
    """Stop once the average over one window gained over that of the window before less than its noise.

    `window` counts checkpoints; each brings the mean of the bounds since the last one. The gain is in nats,
    and less than `tolerance` of them counts as none, so a constant in the log density changes nothing.
    """

    tolerance: float
    window: int

    @classmethod
    def over(cls, iterations: int, eval_elbo: int, tolerance: float) -> "RollingBound":
        """The rule with a window of 200 iterations, as in the paper, but at least four checkpoints."""
        return cls(tolerance, max(4, BOUND_WINDOW // eval_elbo))

    def init(self) -> tuple[float, ...]:
        """The state is the latest two windows of bounds."""
        return ()

    def update(self, state: tuple[float, ...], checkpoint: Checkpoint) -> tuple[tuple[float, ...], Reading]:
        state = (*state, checkpoint.bound)[-2 * self.window :]
        return state, self._read(state) if len(state) == 2 * self.window else Reading()

    def _read(self, bounds: tuple[float, ...]) -> Reading:
        before, after = bounds[: self.window], bounds[self.window :]
        gain = statistics.fmean(after) - statistics.fmean(before)
        # The later window tells the noise of both: the first may hold the ascent from the start.
        se = math.sqrt(2 * statistics.variance(after) / self.window)
        if gain > max(self.tolerance, se):
            return Reading(note=f"bound rose {gain:.3g}")
        reason = f"the rolling average of the bound rose by {gain:.2g} nats, with a noise of {se:.2g} nats"
        return Reading(note="bound stopped improving", outcome=Outcome(Ending.CONVERGED, reason))
