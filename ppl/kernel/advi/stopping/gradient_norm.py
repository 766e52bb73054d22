"""Stop when the gradient of the ELBO is lost in its own noise."""

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.stopping.stopping_rule import Checkpoint, Reading
from ppl.records import dataclass

GRADIENT_WINDOW = 10
"""The mean of so many gradients is compared with the first."""


@dataclass(frozen=True)
class GradientNorm:
    """Stop once the norm of the mean of the last `window` gradients is below `tolerance` times the first's.

    A single gradient is mostly noise near the optimum, and a mean of n of them has 1/sqrt(n) of it: where the
    noise alone is larger than the tolerance, the rule stops when the mean is within twice its standard error.
    """

    tolerance: float
    window: int = GRADIENT_WINDOW

    def init(self) -> tuple[Floats, ...]:
        """The state is the first gradient and the latest ones."""
        return ()

    def update(self, state: tuple[Floats, ...], checkpoint: Checkpoint) -> tuple[tuple[Floats, ...], Reading]:
        first = state[0] if state else checkpoint.gradient
        latest = (*state[1:], checkpoint.gradient)[-self.window :]
        return (first, *latest), self._read(first, latest)

    def _read(self, first: Floats, latest: tuple[Floats, ...]) -> Reading:
        if len(latest) < self.window:
            return Reading()
        gradients = np.array(latest)
        norm = float(np.linalg.norm(gradients.mean(axis=0)))
        # Successive differences measure the noise even while the gradient itself shrinks (von Neumann 1941).
        noise = float(np.sqrt(0.5 * (np.diff(gradients, axis=0) ** 2).mean(axis=0).sum() / self.window))
        if norm > max(self.tolerance * float(np.linalg.norm(first)), 2 * noise):
            return Reading(note=f"gradient {norm:.3g}")
        reason = f"the norm of the mean of {self.window} gradients fell to {norm:.3g}"
        return Reading(note=f"gradient {norm:.3g}", outcome=Outcome(Ending.CONVERGED, reason))
