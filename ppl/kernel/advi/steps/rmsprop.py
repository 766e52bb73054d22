"""RMSprop (Tieleman and Hinton 2012, lecture 6.5), climbing, its rate falling as 1/sqrt(i)."""

from typing import NamedTuple

import numpy as np

from ppl.arrays import NUMPY, Namespace
from ppl.kernel.advi.target import Array
from ppl.records import dataclass


class RmsPropState(NamedTuple):
    """Steps taken and the running mean of squared gradients (size,)."""

    steps: int
    square: Array


@dataclass(frozen=True)
class RmsProp:
    """Step eta / sqrt(i) * g_i / (sqrt(v_i) + epsilon), v_i = decay * v_(i-1) + (1 - decay) * g_i^2.

    The average starts at v_1 = g_1^2.
    """

    eta: float
    decay: float = 0.9
    epsilon: float = 1e-8

    def init(self, params: Array) -> RmsPropState:
        return RmsPropState(0, np.zeros_like(params))

    def step(
        self, state: RmsPropState, params: Array, gradient: Array, xp: Namespace = NUMPY
    ) -> tuple[Array, RmsPropState]:
        steps = state.steps + 1
        decay = self.decay * (state.steps > 0)
        square = decay * state.square + (1 - decay) * gradient**2
        rate = self.eta / steps**0.5
        return params + rate * gradient / (square**0.5 + self.epsilon), RmsPropState(steps, square)
