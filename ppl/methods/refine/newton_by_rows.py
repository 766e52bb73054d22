"""The end of a fit by minibatches: Newton steps to the mode, and the Gaussian with the curvature there.

A step has the gradient of all rows, in one pass over them, and the Hessian of a sample of rows, which is as
good to one in the square root of its size.  With many rows a posterior of few parameters is close to that
Gaussian (van der Vaart 1998, section 10.2), whose mean noisy steps miss by several sds and whose correlations
a mean-field q has not.
"""

from typing import NamedTuple

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.elbo import elbo_by_ratios
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.gaussian import Gaussian, gaussian_at
from ppl.kernel.advi.subsampling import minibatch, rows_of
from ppl.kernel.advi.target import Target
from ppl.methods.refine.refinement import Refined


class NewtonByRowsLimits(NamedTuple):
    """When Newton steps are taken, and when they end."""

    most_dimensions: int = 300
    """Of which the Hessian takes twice as many gradients of the sampled rows."""

    rows: int = 100_000
    """Rows sampled for the Hessian, where there are more."""

    most_steps: int = 8
    """Steps after which a mode is given up: each takes a pass over all rows."""

    near: float = 0.05
    """The length of a step, in posterior sds, that is the last: the next would be shorter by far."""

    halvings: int = 10
    """Of a step that does not raise the log density."""

    elbo_draws: int = 50
    """Draws by which the Gaussian is compared with what the loop left."""


NEWTON_BY_ROWS = NewtonByRowsLimits()
FOUND = (
    "The approximation is the Gaussian at the mode of all rows (Newton steps: {}), with the curvature there."
)


def at_mode_of_all_rows(target: Target, refined: Refined, rng: np.random.Generator) -> Refined:
    """The Gaussian at the mode of all rows where that has the higher ELBO, else the q that was found."""
    if target.dim > NEWTON_BY_ROWS.most_dimensions:
        return refined
    try:
        mean, scales = refined.family.mean(refined.params), refined.family.scales(refined.params)
        gaussian, steps = newton(target, mean, scales, rng)
        family = FullRank(target.dim, refined.family.standard)
        params = family.of(gaussian.mean, gaussian.factor)
        before = elbo_by_ratios(target, refined.family, refined.params, NEWTON_BY_ROWS.elbo_draws, rng)
        after = elbo_by_ratios(target, family, params, NEWTON_BY_ROWS.elbo_draws, rng)
        if after.value <= before.value:
            return refined
    except (InferenceError, np.linalg.LinAlgError, ValueError):  # it has no mode, or not where the loop ended
        return refined
    return Refined(family, params, refined.outcome, True, (*refined.notes, FOUND.format(steps)))


def newton(target: Target, u: Floats, scales: Floats, rng: np.random.Generator) -> tuple[Gaussian, int]:
    """The Gaussian at the mode (dim,) near `u`, and the steps that led there; `scales` (dim,) are sds, about.

    Raises InferenceError where no step raises the log density, LinAlgError or ValueError where a Hessian is
    not finite.
    """
    n_rows, sample = rows_of(target), target
    if n_rows > NEWTON_BY_ROWS.rows:
        sample = minibatch(target, np.sort(rng.choice(n_rows, NEWTON_BY_ROWS.rows, replace=False)))
    value, gradient = target.log_density_gradient(u)
    for step in range(1, NEWTON_BY_ROWS.most_steps + 1):
        q, _ = gaussian_at(sample, u, scales)
        whitened = q.factor.T @ gradient
        if np.linalg.norm(whitened) <= NEWTON_BY_ROWS.near:
            return q.with_mean(u + q.factor @ whitened), step
        u, value, gradient = uphill(target, u, q.factor @ whitened, value)
        scales = np.sqrt((q.factor**2).sum(axis=1))
    raise InferenceError(f"{NEWTON_BY_ROWS.most_steps} Newton steps did not lead to a mode.")


def uphill(target: Target, u: Floats, step: Floats, value: float) -> tuple[Floats, float, Floats]:
    """The point a step, or a part of it, ahead, with a higher log density; that and its gradient there."""
    for halving in range(NEWTON_BY_ROWS.halvings):
        ahead = u + step / 2**halving
        there, gradient = target.log_density_gradient(ahead)
        if there > value and np.isfinite(gradient).all():
            return ahead, there, gradient
    raise InferenceError("No Newton step raises the log density.")
