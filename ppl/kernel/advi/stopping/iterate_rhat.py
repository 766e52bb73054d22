"""Stop when the path has become stationary and its average is known well (Dhaka et al. 2020, Algorithm 1)."""

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.stopping.stopping_rule import Checkpoint, Reading
from ppl.records import dataclass

FEWEST_ITERATES = 20
"""Iterates from which R-hat is computed."""
STATIONARY_RHAT = 1.1
"""R-hat of the later half of the iterates below which they are stationary, if no other is given."""


@dataclass(frozen=True)
class IterateRhat:
    """Stop once the later half of the iterates has every R-hat below `rhat` and a small Monte Carlo error.

    The error is that of the mean of those iterates, the largest over params, and must fall below `tolerance`;
    params are taken to be of scale one, as they are in coordinates scaled by the curvature. The answer should
    be an average over the tail, whose error this is. One iterate is kept a checkpoint.
    """

    tolerance: float
    rhat: float = STATIONARY_RHAT

    def init(self) -> tuple[Floats, ...]:
        """The state is every iterate seen."""
        return ()

    def update(self, state: tuple[Floats, ...], checkpoint: Checkpoint) -> tuple[tuple[Floats, ...], Reading]:
        state = (*state, checkpoint.iterate)
        return state, self._read(state) if len(state) >= FEWEST_ITERATES else Reading()

    def _read(self, state: tuple[Floats, ...]) -> Reading:
        late = np.array(state[len(state) // 2 :])
        rhat, error = float(split_rhat(late).max()), float(mcse(late).max())
        note = f"R-hat {rhat:.3f}, MCSE {error:.2g}"
        if not (rhat < self.rhat and error < self.tolerance):
            return Reading(note=note)
        reason = f"the iterates are stationary: R-hat {rhat:.3f}, Monte Carlo error of their mean {error:.2g}"
        return Reading(note=note, outcome=Outcome(Ending.CONVERGED, reason))


def split_rhat(iterates: Floats) -> Floats:
    """R-hat (size,) of the two halves of a path (n, size), n >= 4: near 1 when both see the same place.

    An entry that never moves has R-hat 1, one that sits still in each half at another place infinity.
    """
    half = len(iterates) // 2
    halves = np.stack([iterates[-2 * half : -half], iterates[-half:]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    still = (within == 0) & (between == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rhat: Floats = np.sqrt((half - 1) / half + between / within)
    return np.where(still, 1.0, rhat)


def mcse(iterates: Floats) -> Floats:
    """Standard error (size,) of the mean of a correlated path (n, size), from about sqrt(n) batches."""
    n_batches = max(2, int(len(iterates) ** 0.5))
    length = len(iterates) // n_batches
    batches = iterates[-n_batches * length :].reshape(n_batches, length, -1).mean(axis=1)
    return np.asarray(batches.std(axis=0, ddof=1) / n_batches**0.5)
