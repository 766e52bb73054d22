"""Variational inference on draws held fixed: a deterministic ELBO, maximised by L-BFGS.

Giordano, Ingram and Broderick (2024), "Black box variational inference with a deterministic objective",
JMLR 25; the draws are doubled as in Burroni, Domke and Sheldon (2024).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import ndtri
from scipy.stats import qmc

from ppl.errors import InferenceError
from ppl.inference.families.family import Family
from ppl.inference.families.standard import NORMAL
from ppl.inference.outcome import Ending, Outcome
from ppl.inference.progress import Listener, Progress, silent
from ppl.inference.target import Array, Target, blame, log_density_gradients

FEWEST_DRAWS = 32
MOST_DRAWS = 2048
MOST_GRADIENTS = 25_000
# What a maximisation takes where it begins near its end.
EVALUATIONS = 8
Objective = Callable[[Array], tuple[float, Array]]


@dataclass(frozen=True)
class FixedDrawsFit:
    """The params (size,) found, the draws `z` at the end, the gradients used, and the outcome.

    `shift` is how far the last doubling moved the means, in posterior standard deviations (the largest).
    """

    params: Array
    z: Array
    gradients: int
    shift: float
    outcome: Outcome


def fit_fixed_draws(
    target: Target,
    family: Family,
    params: Array,
    rng: np.random.Generator,
    tolerance: float = 0.08,
    listen: Listener = silent,
    metric: Array | None = None,
    most_gradients: int = MOST_GRADIENTS,
) -> FixedDrawsFit:
    """Maximise the ELBO on fixed draws from `params` (size,), doubling them until the means settle.

    Every doubling takes fresh draws, so that the move it makes in the means tells the Monte Carlo error: a
    move of `tolerance` posterior standard deviations stands for an error of tolerance / sqrt(3) at the end.
    A family with correlations begins with four times as many draws as dimensions of noise: with fewer draws
    than dimensions the full-rank ELBO has no maximum. `metric` (dim, dim) is the Cholesky factor of a guess
    at the covariance of the target, which speeds up the search for the means.

    Raises:
        InferenceError: the ELBO at `params` is not finite (names the statement to blame), or the draws that
            the family needs would take more than `most_gradients`.
    """
    n = _fewest_draws(family)
    if n * EVALUATIONS > most_gradients:
        raise InferenceError(
            f"{n} draws, as many as {family.dim} dimensions need, would take more than {most_gradients} "
            "gradients. A mean-field or low-rank approximation needs fewer."
        )
    most = max(MOST_DRAWS, 4 * n)
    z = _noise_of(family, n, rng)
    params, gradients, _ = _maximise(target, family, params, z, metric, most_gradients)
    shift = math.inf
    while shift >= tolerance and 2 * n <= most and gradients + 2 * n * EVALUATIONS <= most_gradients:
        n *= 2
        fresh = _noise_of(family, n, rng)
        try:
            found, more, elbo = _maximise(target, family, params, fresh, metric, most_gradients - gradients)
        except InferenceError as error:
            return FixedDrawsFit(params, z, gradients, shift, Outcome(Ending.DIVERGED, str(error)))
        shift = _largest_move(family, params, found)
        params, z, gradients = found, fresh, gradients + more
        listen(Progress("fixed draws", n, most, elbo, note=f"means moved by {shift:.2g} sd"))
    return FixedDrawsFit(params, z, gradients, shift, _outcome(n, shift, tolerance))


def _fewest_draws(family: Family) -> int:
    """32 where each coordinate has a scale of its own and no more; else four times the noise."""
    correlated = family.size > 2 * family.dim
    return _power_of_two(max(FEWEST_DRAWS, 4 * family.noise_dim if correlated else 0))


def _noise_of(family: Family, n: int, rng: np.random.Generator) -> Array:
    """Quasi-random where the noise is normal; pairs z and -z where it is another symmetric one."""
    if family.standard == NORMAL:
        return fixed_noise(n, family.noise_dim, rng)
    z = family.noise(n // 2, rng)
    return np.concatenate([z, -z])


def _outcome(n: int, shift: float, tolerance: float) -> Outcome:
    if shift < tolerance:
        return Outcome(
            Ending.CONVERGED, f"doubling the draws to {n} moved every mean by under {tolerance:g} sd"
        )
    if math.isinf(shift):
        return Outcome(Ending.BUDGET_REACHED, f"the budget of gradients was used up on {n} fixed draws")
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


def _maximise(
    target: Target, family: Family, params: Array, z: Array, metric: Array | None, most_gradients: int
) -> tuple[Array, int, float]:
    """The params that maximise the ELBO on the draws z, the gradients of the target it took, that ELBO."""
    value, _ = negative_elbo(target, family, z, 0.0)(params)
    if not math.isfinite(value):
        u = next(
            u for u in family.transform(params, z) if not math.isfinite(target.log_density_gradient(u)[0])
        )
        raise InferenceError(
            f"One of {len(z)} draws from the start has no finite log density. {blame(target, u)}"
        )
    objective = _with_walls(negative_elbo(target, family, z, value))
    # In nats, and in nats a posterior sd: a gradient of 0.003 is a mean 0.003 sd from its place.
    options = {"maxfun": max(1, most_gradients // len(z)), "maxcor": 20, "ftol": 1e-8, "gtol": 3e-3}
    if metric is None:
        found = minimize(objective, params, jac=True, method="L-BFGS-B", options=options)
        return found.x, len(z) * (found.nfev + 1), -float(found.fun) - value
    whiten = solve_triangular(metric, params[: family.dim], lower=True)
    begin = np.concatenate([whiten, params[family.dim :]])
    found = minimize(_in_metric(objective, metric), begin, jac=True, method="L-BFGS-B", options=options)
    return _from_metric(found.x, metric), len(z) * (found.nfev + 1), -float(found.fun) - value


def _from_metric(point: Array, metric: Array) -> Array:
    """The params whose mean is metric @ point[:dim]: every family has its mean first."""
    dim = len(metric)
    return np.concatenate([metric @ point[:dim], point[dim:]])


def _in_metric(objective: Objective, metric: Array) -> Objective:
    """The objective as a function of the mean in units of the metric: near a Gaussian it is round there."""
    dim = len(metric)

    def inside(point: Array) -> tuple[float, Array]:
        value, slope = objective(_from_metric(point, metric))
        return value, np.concatenate([slope[:dim] @ metric, slope[dim:]])

    return inside


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
    return float(move.max(initial=0.0))


def _power_of_two(n: int) -> int:
    return 1 << (n - 1).bit_length()
