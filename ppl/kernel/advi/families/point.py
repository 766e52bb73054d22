"""All of q at one point: what a search for a mode leaves."""

import numpy as np

from ppl.arrays import Array
from ppl.kernel.advi.families.marginal import Marginal
from ppl.kernel.advi.numerics.triangular import dense
from ppl.records import dataclass


@dataclass(frozen=True)
class Point(Marginal):
    """params = mu; no noise, and so no spread. Its entropy and log density count as 0."""

    at: tuple[int, ...] = ()

    def log_density(self, params: Array, u: Array) -> Array:
        return np.zeros(len(u))

    def push_forward(self, params: Array, centre: Array, factor: Array) -> Array:
        return centre + dense(factor) @ params
