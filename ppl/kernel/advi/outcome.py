"""How a run can end, and what to do about it."""

from enum import StrEnum

from ppl.records import dataclass


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
