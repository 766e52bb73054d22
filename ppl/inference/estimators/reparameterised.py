"""The reparameterised gradient with the entropy in closed form (ADVI eq. 7-9)."""

import numpy as np

from ppl.inference.draws import draws_with_gradient
from ppl.inference.estimators.estimate import Estimate
from ppl.inference.families.family import Family
from ppl.inference.target import Array, Target


def reparameterised(
    target: Target, family: Family, params: Array, n: int, rng: np.random.Generator
) -> Estimate:
    """Average the gradients of the log density along n draws, and add the gradient of the entropy."""
    draws = draws_with_gradient(target, family, params, n, rng)
    gradient = family.pull_back(params, draws.z, draws.gradient) + family.entropy_gradient(params)
    return Estimate(gradient, float(draws.log_density.sum()) / n, draws.dropped)
