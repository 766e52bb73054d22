"""Variational inference on draws held fixed: a deterministic ELBO, maximised by L-BFGS.

Giordano, Ingram and Broderick (2024), "Black box variational inference with a deterministic objective",
JMLR 25; the draws are doubled as in Burroni, Domke and Sheldon (2024).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtri
from scipy.stats import qmc

from ppl.errors import InferenceError
from ppl.inference.families.family import Family
from ppl.inference.outcome import Ending, Outcome
from ppl.inference.progress import Listener, Progress, silent
from ppl.inference.target import Array, Target, blame, log_density_gradients

FEWEST_DRAWS = 32
MOST_DRAWS = 2048
Objective = Callable[[Array], tuple[float, Array]]


@dataclass(frozen=True)
class FixedDrawsFit:
    """The params (size,) found, the number of draws at the end, the gradients used, and the outcome.

    `shift` is how far the last doubling moved the means, in posterior standard deviations (the largest).
    """

    params: Array
    draws: int
    gradients: int
    shift: float
    outcome: Outcome


def fit_fixed_draws(
    target: Target,
    family: Family,
    params: Array,
    rng: np.random.Generator,
    tolerance: float = 0.05,
    listen: Listener = silent,
) -> FixedDrawsFit:
    """Maximise the ELBO on fixed draws from `params` (size,), doubling them until the means settle.

    Every doubling takes fresh draws, so that the move it makes in the means tells the Monte Carlo error; a
    move under `tolerance` posterior standard deviations is the end. There are at least four times as many
    draws as dimensions of noise, because with fewer draws than dimensions the full-rank ELBO has no maximum.

    Raises:
        InferenceError: the ELBO at `params` is not finite; names the statement to blame.
    """
    n = _power_of_two(max(FEWEST_DRAWS, 4 * family.noise_dim))
    most = max(MOST_DRAWS, 4 * n)
    params, gradients = _maximise(target, family, params, fixed_noise(n, family.noise_dim, rng))
    shift = math.inf
    while shift >= tolerance and 2 * n <= most:
        n *= 2
        try:
            found, more = _maximise(target, family, params, fixed_noise(n, family.noise_dim, rng))
        except InferenceError as error:
            return FixedDrawsFit(params, n // 2, gradients, shift, Outcome(Ending.DIVERGED, str(error)))
        shift = _largest_move(family, params, found)
        params, gradients = found, gradients + more
        listen(Progress("fixed draws", n, most, delta_mean=shift, note=f"{n} draws"))
    return FixedDrawsFit(params, n, gradients, shift, _outcome(n, shift, tolerance))


def _outcome(n: int, shift: float, tolerance: float) -> Outcome:
    if shift < tolerance:
        return Outcome(
            Ending.CONVERGED, f"doubling the draws to {n} moved every mean by under {tolerance:g} sd"
        )
    return Outcome(Ending.BUDGET_REACHED, f"doubling the draws to {n} still moved a mean by {shift:.2g} sd")


def fixed_noise(n: int, dim: int, rng: np.random.Generator) -> Array:
    """n standard normal points (n, dim) from a scrambled Sobol sequence, with sample mean 0 and covariance I.

    n is a power of two. With too few points to whiten, each coordinate is only scaled to variance 1.
    """
    if dim > qmc.Sobol.MAXDIM:
        z = rng.standard_normal((n, dim))
    else:
        z = ndtri(qmc.Sobol(dim, seed=rng).random(n))
    z = z - z.mean(axis=0)
    if n <= 2 * dim:
        return np.asarray(z / z.std(axis=0))
    return np.asarray(np.linalg.solve(np.linalg.cholesky(z.T @ z / n), z.T).T)


def _maximise(target: Target, family: Family, params: Array, z: Array) -> tuple[Array, int]:
    """The params that maximise the ELBO on the draws z, and the gradients of the target it took."""
    value, _ = negative_elbo(target, family, z, 0.0)(params)
    if not math.isfinite(value):
        u = next(
            u for u in family.transform(params, z) if not math.isfinite(target.log_density_gradient(u)[0])
        )
        raise InferenceError(
            f"One of {len(z)} draws from the start has no finite log density. {blame(target, u)}"
        )
    objective = _with_walls(negative_elbo(target, family, z, value))
    options = {"maxiter": 1000, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-4}
    found = minimize(objective, params, jac=True, method="L-BFGS-B", options=options)
    return found.x, len(z) * (found.nfev + 1)


def negative_elbo(target: Target, family: Family, z: Array, origin: float) -> Objective:
    """Minus the ELBO on the draws z (n, noise_dim), less `origin`, and its gradient as a function of params.

    Measured from its value at the start, the objective is free of the constants of the log density, and so
    are the tolerances of L-BFGS.
    """

    def objective(params: Array) -> tuple[float, Array]:
        values, gradients = log_density_gradients(target, family.transform(params, z))
        elbo = float(values.mean()) + family.entropy(params)
        slope = family.pull_back(params, z, gradients) + family.entropy_gradient(params)
        return -elbo - origin, -slope

    return objective


def _with_walls(objective: Objective) -> Objective:
    """Where the objective is not finite, a value above all seen: the line search backs off from it."""
    highest = 0.0

    def walled(params: Array) -> tuple[float, Array]:
        nonlocal highest
        value, slope = objective(params)
        if not (math.isfinite(value) and np.isfinite(slope).all()):
            return 10 * (1 + highest), np.zeros_like(slope)
        highest = max(highest, value)
        return value, slope

    return walled


def _largest_move(family: Family, before: Array, after: Array) -> float:
    move = np.abs(family.mean(after) - family.mean(before)) / family.scales(after)
    return float(move.max())


def _power_of_two(n: int) -> int:
    return 1 << (n - 1).bit_length()
