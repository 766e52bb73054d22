"""What a run tells of itself while it runs."""

import math
from collections.abc import Callable
from enum import StrEnum

from ppl.records import dataclass


class Phase(StrEnum):
    """A stage of a run, in the order in which stages come."""

    NESTED = "latent variables"
    MODE = "mode"
    PATHFINDER = "Pathfinder"
    STEP_SIZE = "step size search"
    LOOP = "stochastic optimisation"
    FIXED_DRAWS = "sample average approximation"
    IMPORTANCE = "importance sampling"
    OTHER_MODES = "other modes"
    MOVES = "HMC moves"
    WARMUP = "warmup"
    SAMPLING = "sampling"
    VARIABLES = "variables of the draws"
    DONE = "done"


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
