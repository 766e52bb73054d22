"""The ELBO on draws held fixed, and its maximum by L-BFGS, within a budget of gradients."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.estimators.reparameterised import elbo_gradient
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.outcome import Ending
from ppl.kernel.advi.target import Target, blame
from ppl.kernel.advi.triangular import solve_triangular
from ppl.methods.maximise.lockstep import answered
from ppl.methods.maximise.quasi_newton import LimitedMemory, climb
from ppl.methods.maximise.rules import EPSILON, Rules, SearchPoint

Objective = Callable[[Floats], tuple[float, Floats]]


class FixedElboLimits(NamedTuple):
    """How far the ELBO on fixed draws is maximised."""

    history: int = 20
    """Pairs of steps and gradients that L-BFGS keeps."""

    gain: float = 1e-8
    """The change of the ELBO, relative to it, that ends the search."""

    slope: float = 3e-3
    """The largest slope that is left, in nats a posterior sd: such a mean is 0.003 sds from its place."""


FIXED_ELBO = FixedElboLimits()
FIXED_ELBO_RULES = Rules(
    iter=1 << 14,
    tol_obj=0.0,
    tol_rel_obj=FIXED_ELBO.gain / EPSILON,
    tol_grad=0.0,
    tol_rel_grad=0.0,
    tol_param=0.0,
)


class Maximum(NamedTuple):
    """The params (size,), the gradients of the target it took, and how it ended: by itself, out of
    gradients, or by Ctrl-C.
    """

    params: Floats
    gradients: int
    end: Ending


class Spent(Exception):
    """The budget is used up."""


class WatchedObjective:
    """An objective with a budget, which remembers the best point it was asked for."""

    def __init__(self, objective: Objective, begin: Floats, most: int, report: Callable[[float], None]):
        self.objective, self.most, self.report, self.calls = objective, most, report, 0
        self.best, self.lowest = begin, math.inf

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Minus the objective and its slope, which L-BFGS climbs."""
        if self.calls == self.most:
            raise Spent
        self.calls += 1
        value, slope = self.objective(point)
        if value < self.lowest and np.isfinite(slope).all():
            self.best, self.lowest = point.copy(), value
        self.report(self.lowest)
        return -value, -slope


def maximise(
    target: Target,
    family: Family,
    params: Floats,
    z: Floats,
    metric: Floats | None,
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
        whitened = solve_triangular(metric, params[: family.dim])
        objective, begin = _in_metric(objective, metric), np.concatenate([whitened, params[family.dim :]])
    most = max(0, most_gradients // len(z) - 1)
    watched = WatchedObjective(objective, begin, most, lambda lowest: report(-lowest - value))
    point, end = _descend(watched, begin)
    end_point = point if metric is None else _from_metric(point, metric)
    return Maximum(end_point, len(z) * (watched.calls + 1), end)


def _descend(watched: WatchedObjective, begin: Floats) -> tuple[Floats, Ending]:
    """The end of L-BFGS, or the best point that it saw."""
    memory, last = LimitedMemory(FIXED_ELBO.history), begin

    def see(step: SearchPoint) -> bool:
        nonlocal last
        last = step.u
        return bool(np.abs(step.gradient).max(initial=0.0) <= FIXED_ELBO.slope)

    try:
        answered(watched, climb(begin, FIXED_ELBO_RULES, memory, see, unit_start=True))
        return last, Ending.CONVERGED
    except Spent:
        return watched.best, Ending.BUDGET_REACHED
    except KeyboardInterrupt:
        return watched.best, Ending.INTERRUPTED


def _from_metric(point: Floats, metric: Floats) -> Floats:
    """The params whose mean is metric @ point[:dim]: every family has its mean first."""
    dim = len(metric)
    return np.concatenate([metric @ point[:dim], point[dim:]])


def _in_metric(objective: Objective, metric: Floats) -> Objective:
    """The objective as a function of the mean in units of the metric: near a Gaussian it is round there."""
    dim = len(metric)

    def inside(point: Floats) -> tuple[float, Floats]:
        value, slope = objective(_from_metric(point, metric))
        return value, np.concatenate([slope[:dim] @ metric, slope[dim:]])

    return inside


def negative_elbo(target: Target, family: Family, z: Floats, origin: float) -> Objective:
    """Minus the ELBO on the draws z (n, noise_dim), less `origin`, and its gradient as a function of params.

    Measured from its value at the start, the objective is free of the constants of the log density, and so
    are the tolerances of L-BFGS.
    """

    def objective(params: Floats) -> tuple[float, Floats]:
        values, gradients = target.log_density_gradients(family.transform(params, z))
        elbo = float(values.mean() + family.entropy(params))
        return -elbo - origin, -elbo_gradient(family, params, z, gradients)

    return objective
