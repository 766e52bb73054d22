"""What a run tells of itself while it runs."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ppl.inference.run.phases import Phase


@dataclass(frozen=True)
class Progress:
    """One report: the phase, how far it is, an ELBO and its changes; `run`, of `runs`, counts from 1.

    Chains are runs too. The ELBO is that of a q, but in Pathfinder the best of the Gaussians along paths, on
    few draws.
    """

    phase: Phase
    iteration: int
    total: int
    elbo: float = math.nan
    delta_mean: float = math.nan
    delta_median: float = math.nan
    note: str = ""
    run: int = 0
    runs: int = 0


Listener = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Listen to nothing."""
