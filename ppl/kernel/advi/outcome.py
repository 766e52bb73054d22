"""The progress of a run, how it ended, and what to do about it."""

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


class Ending(StrEnum):
    """The ways in which a run can end."""

    CONVERGED = "converged"
    COMPLETED = "completed"
    BUDGET_REACHED = "budget reached"
    NO_MAXIMUM = "no maximum found"
    DIVERGED = "diverged"
    INTERRUPTED = "interrupted"


ADVICE = {
    Ending.CONVERGED: "The verdict says how close the draws are to the posterior.",
    Ending.COMPLETED: "Look at the ELBO trace to see whether it had stopped improving.",
    Ending.BUDGET_REACHED: "Allow more iterations (iter), or more gradient draws in each (grad_samples).",
    Ending.NO_MAXIMUM: "Give scales a prior that excludes 0, or count the Jacobian (jacobian=True).",
    Ending.DIVERGED: "The best parameters seen are kept; try a smaller eta or more gradient draws.",
    Ending.INTERRUPTED: "The parameters at that point are kept; run longer for a reliable fit.",
}


@dataclass(frozen=True)
class Outcome:
    """An ending and the reason for it in words (a clause without a full stop)."""

    ending: Ending
    reason: str

    @property
    def converged(self) -> bool:
        """Whether the stopping rule was met."""
        return self.ending is Ending.CONVERGED

    @property
    def sentence(self) -> str:
        """The ending, its reason, and what to do.

        Example:
            >>> Outcome(Ending.COMPLETED, "all 10 iterations were run").sentence.split(".")[0]
            'Completed: all 10 iterations were run'
        """
        name = self.ending.value.capitalize()
        return f"{name}: {self.reason.rstrip('.')}. {ADVICE[self.ending]}"


def interrupted(where: str) -> Outcome:
    """Ctrl-C came there."""
    return Outcome(Ending.INTERRUPTED, f"interrupted {where}")
