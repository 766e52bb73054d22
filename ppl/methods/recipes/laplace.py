"""Laplace's approximation: the mode, and the curvature there."""

import numpy as np

from ppl.advice import Advice
from ppl.errors import InferenceError
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.gaussian import Gaussian, gaussian_at
from ppl.kernel.advi.outcome import Ending, Outcome, interrupted
from ppl.kernel.advi.start import Init, start_points
from ppl.kernel.advi.target import Target
from ppl.methods.initialise.mode import StartingMode, find_mode
from ppl.methods.maximise.rules import STANS, Rules
from ppl.methods.recipes.result import Path, Result, result_of
from ppl.methods.run.phases import Context

TO_ROUNDING = Rules(tol_rel_obj=0.0, tol_rel_grad=0.1)
"""A Gaussian is centred at the mode more closely than Stan's tolerances ask for."""
SINGULAR_HESSIAN = (
    "The Hessian at the mode is numerically singular. Use ",
    Advice("algorithm", "auto"),
    ", or rescale the parameters.",
)
REPAIRED = (
    "The log density curves upward at the mode in {} of {} directions, so its Hessian gives no variance "
    "there; the absolute curvatures are used."
)


def laplace(target: Target, init: Init, context: Context) -> Result:
    """A full-rank q with the mode as its mean and minus the inverse Hessian there as its covariance."""
    family = FullRank(target.dim)
    with np.errstate(all="ignore"):
        points = start_points(target, init, context.streams.start)
        mode = find_mode(target, points, context.listen, rules=TO_ROUNDING)
        q, outcome, notes = _at(target, mode)
        path = Path(start=points[0], outcome=outcome, iterations=mode.steps, notes=notes, at_maximum=True)
        return result_of(target, family, family.of(q.mean, q.factor), path, context)


def _at(target: Target, mode: StartingMode) -> tuple[Gaussian, Outcome, list[str]]:
    """The Gaussian at the mode; without the Hessian, one with the scales of the search."""
    outcome = outcome_of(mode)
    if not mode.interrupted:
        try:
            q, repaired = gaussian_at(target, mode.u, mode.scales)
            return q, outcome, [REPAIRED.format(repaired, target.dim)] if repaired else []
        except (np.linalg.LinAlgError, ValueError):
            raise InferenceError(SINGULAR_HESSIAN) from None
        except KeyboardInterrupt:
            outcome = interrupted("in the computation of the Hessian")
    return Gaussian.with_precision(mode.u, np.eye(target.dim), mode.scales), outcome, []


def outcome_of(mode: StartingMode) -> Outcome:
    """Whether the search for the mode ended there."""
    if mode.interrupted:
        return interrupted("on the way to the mode")
    if mode.converged:
        return Outcome(Ending.CONVERGED, "the mode was found")
    taken = f"after {mode.steps} steps: {mode.reason[:1].lower()}{mode.reason[1:]}"
    ending = Ending.BUDGET_REACHED if mode.steps >= STANS.iter else Ending.NO_MAXIMUM
    return Outcome(ending, f"the search for the mode stopped {taken}")
