"""An estimate, and the reparameterised gradient with the entropy in closed form (ADVI eq. 7-9)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ppl.arrays import NUMPY, Namespace
from ppl.floats import Floats
from ppl.kernel.advi.elbo import draws_with_gradient
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.target import Target


class Estimate(NamedTuple):
    """A noisy gradient of the ELBO in params (size,), the mean log density of its draws, draws dropped."""

    gradient: Floats
    log_density: float
    dropped: int


# An estimator takes target, family, params, the number of draws and rng.
Estimator = Callable[[Target, Family, Floats, int, np.random.Generator], Estimate]


def sticking_the_landing(
    target: Target, family: Family, params: Floats, n: int, rng: np.random.Generator
) -> Estimate:
    """Leave out the score of q in params, whose mean is zero: every draw's gradient is 0 once q equals p."""
    draws = draws_with_gradient(target, family, params, n, rng)
    gradient = family.pull_back(params, draws.z, draws.gradient - family.score(params, draws.u))
    return Estimate(gradient, float(draws.log_density.sum()) / n, draws.dropped)


def reparameterised(
    target: Target, family: Family, params: Floats, n: int, rng: np.random.Generator
) -> Estimate:
    """Average the gradients of the log density along n draws, and add the gradient of the entropy."""
    draws = draws_with_gradient(target, family, params, n, rng)
    gradient = elbo_gradient(family, params, draws.z, draws.gradient)
    return Estimate(gradient, float(draws.log_density.sum()) / n, draws.dropped)


def elbo_gradient(
    family: Family, params: Floats, z: Floats, gradients: Floats, xp: Namespace = NUMPY
) -> Floats:
    """The gradient (size,) on noise z (n, noise_dim) that leads to gradients (n, dim) of the log density."""
    return family.pull_back(params, z, gradients, xp) + family.entropy_gradient(params, xp)
