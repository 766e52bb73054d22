"""Sticking the landing (Roeder, Wu and Duvenaud 2017): the path derivative of log p - log q alone."""

import numpy as np

from ppl.kernel.advi.estimators.estimate import Estimate
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.finite_draws import draws_with_gradient
from ppl.kernel.advi.target import Array, Target


def sticking_the_landing(
    target: Target, family: Family, params: Array, n: int, rng: np.random.Generator
) -> Estimate:
    """Leave out the score of q in params, whose mean is zero: every draw's gradient is 0 once q equals p."""
    draws = draws_with_gradient(target, family, params, n, rng)
    gradient = family.pull_back(params, draws.z, draws.gradient - family.score(params, draws.u))
    return Estimate(gradient, float(draws.log_density.sum()) / n, draws.dropped)
