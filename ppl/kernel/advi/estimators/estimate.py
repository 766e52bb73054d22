"""What an estimator returns."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.target import Array, Target


class Estimate(NamedTuple):
    """A noisy gradient of the ELBO in params (size,), the mean log density of its draws, draws dropped."""

    gradient: Array
    log_density: float
    dropped: int


# An estimator takes target, family, params, the number of draws and rng.
Estimator = Callable[[Target, Family, Array, int, np.random.Generator], Estimate]
