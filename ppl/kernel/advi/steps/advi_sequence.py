"""ADVI's adaptive step sizes (Kucukelbir et al. 2017, eq. 10 and 11)."""

from typing import NamedTuple

import numpy as np

from ppl.arrays import NUMPY, Namespace
from ppl.kernel.advi.target import Array
from ppl.records import dataclass


class AdviState(NamedTuple):
    """Steps taken and the running average s of squared gradients (size,)."""

    steps: int
    s: Array


@dataclass(frozen=True)
class AdviSequence:
    """Step rho_i = eta * i^(-1/2 + 1e-16) / (tau + sqrt(s_i)), s_i = alpha * g_i^2 + (1 - alpha) * s_(i-1).

    The average starts at s_1 = g_1^2.
    """

    eta: float
    tau: float = 1.0
    alpha: float = 0.1

    def init(self, params: Array) -> AdviState:
        return AdviState(0, np.zeros_like(params))

    def step(
        self, state: AdviState, params: Array, gradient: Array, xp: Namespace = NUMPY
    ) -> tuple[Array, AdviState]:
        steps = state.steps + 1
        weight = self.alpha + (1 - self.alpha) * (steps == 1)
        s = weight * gradient**2 + (1 - weight) * state.s
        rate = self.eta * steps ** (-0.5 + 1e-16)
        return params + rate * gradient / (self.tau + s**0.5), AdviState(steps, s)
