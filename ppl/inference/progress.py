"""What a run tells of itself while it runs."""

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One report: the phase ("eta search" or "optimise", say), how far it is, an ELBO and its changes.

    The ELBO is that of a q but in "start", where it is the best of the Gaussians along paths, on few draws.
    """

    phase: str
    iteration: int
    total: int
    elbo: float = math.nan
    delta_mean: float = math.nan
    delta_median: float = math.nan
    note: str = ""


Listener = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Listen to nothing."""
