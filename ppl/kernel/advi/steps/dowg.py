"""DoWG, distance over weighted gradients: no step size (Khaled, Mishchenko and Jin 2023, Algorithm 1)."""

from typing import NamedTuple

import numpy as np

from ppl.arrays import NUMPY, Namespace
from ppl.kernel.advi.target import Array
from ppl.records import dataclass


class DowgState(NamedTuple):
    """The start (size,), the largest distance from it so far, and the weighted sum of squared gradients."""

    origin: Array
    distance: float
    weighted: float


@dataclass(frozen=True)
class Dowg:
    """Step r_i^2 / sqrt(v_i), v_i = v_(i-1) + r_i^2 |g_i|^2, with r_i the largest distance from the start.

    The distance starts at `start_distance` times 1 + |start|. Use it with an average of the iterates.
    """

    start_distance: float = 1e-4

    def init(self, params: Array) -> DowgState:
        return DowgState(params, self.start_distance * (1 + float(np.linalg.norm(params))), 0.0)

    def step(
        self, state: DowgState, params: Array, gradient: Array, xp: Namespace = NUMPY
    ) -> tuple[Array, DowgState]:
        distance = xp.np.maximum(state.distance, xp.linalg.norm(params - state.origin))
        weighted = state.weighted + distance**2 * (gradient @ gradient)
        rate = distance**2 / xp.np.where(weighted > 0, weighted, np.inf) ** 0.5
        return params + rate * gradient, DowgState(state.origin, distance, weighted)
