"""Adam (Kingma and Ba 2015, Algorithm 1), climbing.

Its rate holds for a hundred steps or so and falls as 1/sqrt(i) in the end (their section 4): one that never
fell would leave the last iterate as far from the top as its noise carries it.
"""

from typing import NamedTuple

import numpy as np

from ppl.arrays import NUMPY, Namespace
from ppl.kernel.advi.target import Array
from ppl.records import dataclass


class AdamState(NamedTuple):
    """Steps taken and the running first and second moments of the gradient (size,)."""

    steps: int
    first: Array
    second: Array


@dataclass(frozen=True)
class Adam:
    """Step eta / sqrt(1 + i / held) * m / (sqrt(v) + epsilon), m and v corrected for their start at zero."""

    eta: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    held: float = 100.0

    def init(self, params: Array) -> AdamState:
        return AdamState(0, np.zeros_like(params), np.zeros_like(params))

    def step(
        self, state: AdamState, params: Array, gradient: Array, xp: Namespace = NUMPY
    ) -> tuple[Array, AdamState]:
        steps = state.steps + 1
        first = self.beta1 * state.first + (1 - self.beta1) * gradient
        second = self.beta2 * state.second + (1 - self.beta2) * gradient**2
        m = first / (1 - self.beta1**steps)
        v = second / (1 - self.beta2**steps)
        rate = self.eta / (1 + steps / self.held) ** 0.5
        return params + rate * m / (v**0.5 + self.epsilon), AdamState(steps, first, second)
