"""How far independent runs lie apart."""

from collections.abc import Sequence

import numpy as np

from ppl.floats import Floats
from ppl.records import dataclass

RHAT_OF_RUNS = 1.05
"""R-hat above which runs disagree: those whose means differ by a tenth of an sd have 1.005; two modes one sd
apart have 1.2.
"""


@dataclass(frozen=True)
class Spread:
    """`runs` runs, their ELBOs, and R-hat of each coordinate (dim,) with each run's draws as a chain."""

    runs: int
    rhats: Floats
    elbos: tuple[float, ...]

    @property
    def rhat(self) -> float:
        """The largest."""
        return float(self.rhats.max(initial=1.0))

    @property
    def between(self) -> float:
        """The largest variance of a mean between runs, as a share of that within, beyond its noise."""
        return max(0.0, self.rhat**2 - 1)

    @property
    def worst(self) -> int:
        """The coordinate with the largest."""
        return int(np.argmax(self.rhats))

    @property
    def disagree(self) -> bool:
        """Whether the runs disagree by more than their noise."""
        return self.rhat > RHAT_OF_RUNS


def spread_of(draws: Sequence[Floats], elbos: Sequence[float]) -> Spread:
    """Compare runs by their draws, (n, dim) each with one n of at least 2.

    R-hat is the root of total over within variance (Gelman and Rubin 1992; without splitting, since draws of
    q are independent).
    """
    chains = np.stack(draws)
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = chains.mean(axis=1).var(axis=0, ddof=1)
    ratio = np.divide(between, within, out=np.zeros_like(between), where=within > 0)
    return Spread(len(chains), np.sqrt((n - 1) / n + ratio), tuple(elbos))
