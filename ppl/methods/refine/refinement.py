"""The third stage: from where the loop ended to the maximum of the ELBO on fixed draws."""

import math

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.outcome import Ending, Outcome, interrupted
from ppl.kernel.advi.target import Target
from ppl.methods.correct.correction import will_move
from ppl.methods.initialise.starting import Start
from ppl.methods.refine.fixed_draws import FIXED_DRAWS, FixedDrawsFit, fit_fixed_draws, gradients_for
from ppl.methods.refine.fixed_elbo import negative_elbo
from ppl.methods.run.phases import Context
from ppl.records import dataclass, replace

COMPARED_DRAWS = 32
"""Draws on which the ELBO before refinement is compared with that after."""


@dataclass(frozen=True)
class Refined:
    """A q in the coordinates of the model, how it was ended, and notes for the user.

    `fits` is whether its weights say that nearly all of its draws count.
    """

    family: Family
    params: Floats
    outcome: Outcome
    at_maximum: bool = False
    notes: tuple[str, ...] = ()
    fits: bool = False


def unrefined(start: Start, params: Floats, outcome: Outcome, *notes: str) -> Refined:
    """The loop's answer as it is."""
    return Refined(start.family, start.back(params), outcome, notes=notes)


def refine(start: Start, params: Floats, before: Outcome, context: Context) -> Refined:
    """Maximise the ELBO on fixed draws from `params` (size,) or, where that was better, from the start.

    Where it fails, or is interrupted, the loop's answer and outcome stay. The setting
    `linear_response` replaces the covariance found by that of its linear response.
    """
    rng, most = context.streams.refine, gradients_for(start.target) - 2 * COMPARED_DRAWS
    try:
        z = start.family.noise(COMPARED_DRAWS, rng)
        loss = negative_elbo(start.target, start.family, z, 0.0)
        begin = min((params, start.params), key=lambda p: _or_infinite(loss(p)[0]))
        at = (start.target, start.family, begin, rng, context.listen, start.metric, most)
        moves = will_move(start.target, context.settings)
        tolerance = FIXED_DRAWS.tolerance_before_moves if moves else FIXED_DRAWS.tolerance
        fitted = fit_fixed_draws(*at, context.journal, "refine", tolerance)
    except InferenceError as error:
        return unrefined(start, params, before, f"Not refined on fixed draws: {error}")
    except KeyboardInterrupt:
        return unrefined(start, params, interrupted("in the refinement on fixed draws"))
    return answer(start, fitted, context.settings.linear_response)


def answer(start: Start, fitted: FixedDrawsFit, corrected: bool) -> Refined:
    """The q that was found on fixed draws or, if `corrected`, a full-rank one with the same mean and the
    covariance of its linear response.
    """
    plain = Refined(start.family, start.back(fitted.params), fitted.outcome, fitted.outcome.converged)
    if not corrected or fitted.outcome.ending is Ending.INTERRUPTED:
        return plain
    try:
        covariance = linear_response(start.target, start.family, fitted.params, fitted.z)
        factor = np.asarray(np.linalg.cholesky(covariance), dtype=float)
    except (InferenceError, np.linalg.LinAlgError) as error:
        return replace(plain, notes=(f"No correction by linear response: {error}.",))
    except KeyboardInterrupt:
        return replace(plain, outcome=interrupted("in the linear response"), at_maximum=False)
    full = FullRank(start.family.dim)
    params = replace(start, family=full).back(full.of(start.family.mean(fitted.params), factor))
    return replace(plain, family=full, params=params)


def _or_infinite(loss: float) -> float:
    return loss if math.isfinite(loss) else math.inf


RESPONSE_STEP = 1e-4
"""The step of the central differences, where q is about as wide as a standard normal."""


def linear_response(target: Target, family: Family, params: Floats, z: Floats) -> Floats:
    """Covariance (dim, dim) by linear response at `params` (size,), a maximum of the ELBO on the draws z.

    How the optimal means of q respond to a small tilt of the target, t'u, is the covariance of u under the
    target (Giordano, Broderick and Jordan 2018, JMLR 19): the block of the means in the inverse Hessian of
    minus the ELBO (Giordano, Ingram and Broderick 2024, JMLR 25, section 3.2).

    The Hessian is made of central differences of the gradient, 2 * size * len(z) gradients of the target.
    The params must be in coordinates where q is about as wide as a standard normal.

    Raises:
        InferenceError: the Hessian is not positive definite, so `params` is no maximum.
    """
    slope = negative_elbo(target, family, z, 0.0)
    steps = RESPONSE_STEP * np.eye(family.size)
    changes = np.array([slope(params + step)[1] - slope(params - step)[1] for step in steps])
    rows = changes / (2 * RESPONSE_STEP)
    curvature = 0.5 * (rows + rows.T)
    try:
        factor = np.linalg.cholesky(curvature)
    except np.linalg.LinAlgError:
        raise InferenceError("the Hessian of the ELBO on fixed draws is not negative definite") from None
    inverse = np.linalg.solve(factor, np.eye(family.size))
    return np.asarray((inverse.T @ inverse)[: family.dim, : family.dim])
