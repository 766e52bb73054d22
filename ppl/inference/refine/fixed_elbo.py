"""The ELBO on draws held fixed, and its maximum by L-BFGS, within a budget of gradients."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ppl.errors import InferenceError
from ppl.inference.estimators.reparameterised import elbo_gradient
from ppl.inference.families.family import Family
from ppl.inference.objective.target import Array, Target, blame, log_density_gradients
from ppl.inference.run.outcome import Ending
from ppl.late import linalg, optimize

Objective = Callable[[Array], tuple[float, Array]]


class Maximum(NamedTuple):
    """The params (size,), the gradients of the target it took, and how it ended: by itself, out of
    gradients, or by Ctrl-C.
    """

    params: Array
    gradients: int
    end: Ending


class Spent(Exception):
    """The budget is used up."""


class WatchedObjective:
    """An objective with walls and a budget, which remembers the best point it was asked for.

    Where it is not finite, it is above all seen and has no slope: the line search backs off from there.
    L-BFGS looks at its own count of evaluations between line searches only, each of which may take twenty.
    """

    def __init__(self, objective: Objective, begin: Array, most: int, report: Callable[[float], None]):
        self.objective, self.most, self.report, self.calls = objective, most, report, 0
        self.best, self.lowest, self.highest = begin, math.inf, 0.0

    def __call__(self, point: Array) -> tuple[float, Array]:
        if self.calls == self.most:
            raise Spent
        self.calls += 1
        value, slope = self.objective(point)
        if not (math.isfinite(value) and np.isfinite(slope).all()):
            return 10 * (1 + self.highest), np.zeros_like(slope)
        self.highest = max(self.highest, value)
        if value < self.lowest:
            self.best, self.lowest = point.copy(), value
        self.report(self.lowest)
        return value, slope


def maximise(
    target: Target,
    family: Family,
    params: Array,
    z: Array,
    metric: Array | None,
    most_gradients: int,
    report: Callable[[float], None] = lambda elbo: None,
) -> Maximum:
    """The params that maximise the ELBO on the draws z (n, noise_dim), or the best seen before it had to end.

    `metric` is as in `fixed_draws.fit_fixed_draws`; `report` gets the best ELBO after each evaluation.

    Raises:
        InferenceError: the ELBO at `params` is not finite; names the statement to blame.
    """
    value, _ = negative_elbo(target, family, z, 0.0)(params)
    if not math.isfinite(value):
        draws = family.transform(params, z)
        why = blame(target, next(u for u in draws if not math.isfinite(target.log_density_gradient(u)[0])))
        raise InferenceError(f"One of {len(z)} draws from the start has no finite log density. {why}")
    objective, begin = negative_elbo(target, family, z, value), params
    if metric is not None:
        whitened = linalg.solve_triangular(metric, params[: family.dim], lower=True)
        objective, begin = _in_metric(objective, metric), np.concatenate([whitened, params[family.dim :]])
    most = max(0, most_gradients // len(z) - 1)
    watched = WatchedObjective(objective, begin, most, lambda lowest: report(-lowest - value))
    point, end = _descend(watched, begin)
    found = point if metric is None else _from_metric(point, metric)
    return Maximum(found, len(z) * (watched.calls + 1), end)


def _descend(watched: WatchedObjective, begin: Array) -> tuple[Array, Ending]:
    """The end of L-BFGS, or the best point that it saw."""
    # In nats, and in nats a posterior sd: a gradient of 0.003 is a mean 0.003 sd from its place.
    options = {"maxfun": max(1, watched.most), "maxcor": 20, "ftol": 1e-8, "gtol": 3e-3}
    try:
        found = optimize.minimize(watched, begin, jac=True, method="L-BFGS-B", options=options)
        return found.x, Ending.CONVERGED if found.status != 1 else Ending.BUDGET_REACHED
    except Spent:
        return watched.best, Ending.BUDGET_REACHED
    except KeyboardInterrupt:
        return watched.best, Ending.INTERRUPTED


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
        elbo = float(values.mean() + family.entropy(params))
        return -elbo - origin, -elbo_gradient(family, params, z, gradients)

    return objective
