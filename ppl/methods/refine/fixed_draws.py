"""Variational inference on draws held fixed: a deterministic ELBO, maximised by L-BFGS.

Giordano, Ingram and Broderick (2024), "Black box variational inference with a deterministic objective",
JMLR 25; the draws are doubled as in Burroni, Domke and Sheldon (2024).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.context import NULL_JOURNAL, Journal
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.standard import NORMAL
from ppl.kernel.advi.outcome import Ending, Listener, Outcome, Phase, Progress, interrupted, silent
from ppl.kernel.advi.target import Target
from ppl.methods.numerics.fixed_noise import fixed_noise
from ppl.methods.refine.fixed_elbo import Maximum, maximise
from ppl.records import dataclass, replace


class FixedDrawsLimits(NamedTuple):
    """How many draws the ELBO is maximised on, and with how much work."""

    fewest_draws: int = 32
    """Draws of the first maximisation where each coordinate has a scale of its own and no more."""

    most_draws: int = 2048
    """Draws of the last."""

    most_gradients: int = 25_000
    """Gradients of all maximisations together."""

    most_work: int = 100_000_000
    """Numbers that those gradients may work through: fewer gradients of a target with many rows."""

    tolerance: float = 0.08
    """The move of a mean by the last doubling, in posterior standard deviations, that is small enough: it
    stands for a Monte Carlo error of tolerance / sqrt(3).
    """

    tolerance_before_moves: float = 1.0
    """The same where draws are moved from what is found: a start need not be nearer."""

    evaluations: int = 8
    """Evaluations of the ELBO that a maximisation takes where it begins near its end."""


FIXED_DRAWS = FixedDrawsLimits()


@dataclass(frozen=True)
class FixedDrawsFit:
    """The params (size,) found, the draws `z` at the end, the gradients used, and the outcome.

    `shift` is how far the last doubling moved the means, in posterior standard deviations (the largest).
    """

    params: Floats
    z: Floats
    gradients: int
    shift: float
    outcome: Outcome


def fit_fixed_draws(
    target: Target,
    family: Family,
    params: Floats,
    rng: np.random.Generator,
    listen: Listener = silent,
    metric: Floats | None = None,
    most_gradients: int | None = None,
    journal: Journal = NULL_JOURNAL,
    stage: str = "",
    tolerance: float = FIXED_DRAWS.tolerance,
) -> FixedDrawsFit:
    """Maximise the ELBO on fixed draws from `params` (size,), doubling them until the means settle.

    Every doubling takes fresh draws, so that the move it makes in the means tells the Monte Carlo error. A
    family with correlations begins with four times as many draws as dimensions of noise: with fewer draws
    than dimensions the full-rank ELBO has no maximum. `metric` (dim, dim) is the Cholesky factor of a guess
    at the covariance of the target, which speeds up the search for the means. What each doubling came to is
    kept in the journal as `stage`; Ctrl-C leaves the best that was seen. The means have settled where a
    doubling moves them by less than `tolerance` sds.

    Raises:
        InferenceError: the ELBO at `params` is not finite (names the statement to blame), or the draws that
            the family needs would take more than `most_gradients`, by default `gradients_for(target)`.
    """
    fewest, most_gradients = _fewest_draws(family), most_gradients or gradients_for(target)
    if fewest * FIXED_DRAWS.evaluations > most_gradients:
        raise InferenceError(
            f"{fewest} draws, as many as {family.dim} dimensions need, would take more than {most_gradients} "
            "gradients. A mean-field or low-rank approximation needs fewer."
        )
    most = max(FIXED_DRAWS.most_draws, 4 * fewest)

    def maximised(n: int, begin: Floats, left: int, shift: float) -> tuple[Floats, Maximum]:
        z, report = _noise_of(family, n, rng), _reporter(listen, n, fewest, most, shift)
        return z, maximise(target, family, begin, z, metric, left, report)

    at: FixedDrawsFit | None = journal.recall(stage, rng)
    if at is None:
        z, maximum = maximised(fewest, params, most_gradients, math.inf)
        at = FixedDrawsFit(
            maximum.params, z, maximum.gradients, math.inf, _outcome(fewest, math.inf, maximum, tolerance)
        )
    while at.outcome.ending is Ending.BUDGET_REACHED and (n := 2 * len(at.z)) <= most:
        left = most_gradients - at.gradients
        if n * FIXED_DRAWS.evaluations > left:
            break
        journal.record(stage, at, rng)
        try:
            z, maximum = maximised(n, at.params, left, at.shift)
        except InferenceError as error:
            return replace(at, outcome=Outcome(Ending.DIVERGED, str(error)))
        shift, spent = _largest_move(family, at.params, maximum.params), at.gradients + maximum.gradients
        at = FixedDrawsFit(maximum.params, z, spent, shift, _outcome(n, shift, maximum, tolerance))
    return at


def _reporter(listen: Listener, n: int, fewest: int, most: int, shift: float) -> Callable[[float], None]:
    """Reports an ELBO on n draws: how often they have been doubled, and what the last doubling moved."""
    done, total = (n // fewest).bit_length() - 1, (most // fewest).bit_length()
    shift_text = f", means moved by {shift:.2g} sd" if math.isfinite(shift) else ""
    note = f"{n} draws{shift_text}"
    return lambda elbo: listen(Progress(Phase.FIXED_DRAWS, done, total, elbo, note=note))


def gradients_for(target: Target) -> int:
    """How many gradients of this target a maximisation may take."""
    return min(FIXED_DRAWS.most_gradients, FIXED_DRAWS.most_work // target.width)


def _fewest_draws(family: Family) -> int:
    """32 where each coordinate has a scale of its own and no more; else four times the noise."""
    correlated = family.size > 2 * family.dim
    least = max(FIXED_DRAWS.fewest_draws, 4 * family.noise_dim if correlated else 0)
    return 1 << (least - 1).bit_length()  # a power of two


def _noise_of(family: Family, n: int, rng: np.random.Generator) -> Floats:
    """Quasi-random where the noise is normal; pairs z and -z where it is another symmetric one."""
    if family.standard == NORMAL:
        return fixed_noise(n, family.noise_dim, rng)
    z = family.noise(n // 2, rng)
    return np.concatenate([z, -z])


def _outcome(n: int, shift: float, maximum: Maximum, tolerance: float) -> Outcome:
    if maximum.end is Ending.INTERRUPTED:
        return interrupted(f"on {n} fixed draws")
    if math.isinf(shift) or (maximum.end is Ending.BUDGET_REACHED and shift < tolerance):
        return Outcome(Ending.BUDGET_REACHED, f"the budget of gradients was used up on {n} fixed draws")
    if shift < tolerance:
        reason = f"doubling the draws to {n} changed every mean by less than {tolerance:g} sd"
        return Outcome(Ending.CONVERGED, reason)
    return Outcome(Ending.BUDGET_REACHED, f"doubling the draws to {n} still changed a mean by {shift:.2g} sd")


def _largest_move(family: Family, before: Floats, after: Floats) -> float:
    scales = family.scales(after)
    # A coordinate in which q is a point has no sd: its unit is that of the coordinates.
    move = np.abs(family.mean(after) - family.mean(before)) / np.where(scales > 0, scales, 1.0)
    return float(move.max(initial=0.0))
