"""Steps that the gradients seen so far scale: ADVI's sequence, Adam, RMSprop, DoWG. All of them climb."""

from typing import NamedTuple

import numpy as np

from ppl.arrays import NUMPY, Namespace
from ppl.floats import Floats
from ppl.records import dataclass


class AdviState(NamedTuple):
    """Steps taken and the running average s of squared gradients (size,)."""

    steps: int
    s: Floats


@dataclass(frozen=True)
class AdviSequence:
    """Step rho_i = eta * i^(-1/2 + 1e-16) / (tau + sqrt(s_i)), s_i = alpha * g_i^2 + (1 - alpha) * s_(i-1).

    The average starts at s_1 = g_1^2. Kucukelbir et al. (2017), eq. 10 and 11.
    """

    eta: float
    tau: float = 1.0
    alpha: float = 0.1

    def init(self, params: Floats) -> AdviState:
        return AdviState(0, np.zeros_like(params))

    def step(
        self, state: AdviState, params: Floats, gradient: Floats, xp: Namespace = NUMPY
    ) -> tuple[Floats, AdviState]:
        steps = state.steps + 1
        weight = self.alpha + (1 - self.alpha) * (steps == 1)
        s = weight * gradient**2 + (1 - weight) * state.s
        rate = self.eta * steps ** (-0.5 + 1e-16)
        return params + rate * gradient / (self.tau + s**0.5), AdviState(steps, s)


class AdamState(NamedTuple):
    """Steps taken and the running first and second moments of the gradient (size,)."""

    steps: int
    first: Floats
    second: Floats


@dataclass(frozen=True)
class Adam:
    """Step eta / sqrt(1 + i / held) * m / (sqrt(v) + epsilon), m and v corrected for their start at zero.

    Its rate holds for a hundred steps or so and falls as 1/sqrt(i) in the end: one that never fell would
    leave the last iterate as far from the top as its noise carries it. Kingma and Ba (2015), Algorithm 1.
    """

    eta: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    held: float = 100.0

    def init(self, params: Floats) -> AdamState:
        return AdamState(0, np.zeros_like(params), np.zeros_like(params))

    def step(
        self, state: AdamState, params: Floats, gradient: Floats, xp: Namespace = NUMPY
    ) -> tuple[Floats, AdamState]:
        steps = state.steps + 1
        first = self.beta1 * state.first + (1 - self.beta1) * gradient
        second = self.beta2 * state.second + (1 - self.beta2) * gradient**2
        m = first / (1 - self.beta1**steps)
        v = second / (1 - self.beta2**steps)
        rate = self.eta / (1 + steps / self.held) ** 0.5
        return params + rate * m / (v**0.5 + self.epsilon), AdamState(steps, first, second)


class RmsPropState(NamedTuple):
    """Steps taken and the running mean of squared gradients (size,)."""

    steps: int
    square: Floats


@dataclass(frozen=True)
class RmsProp:
    """Step eta / sqrt(i) * g_i / (sqrt(v_i) + epsilon), v_i = decay * v_(i-1) + (1 - decay) * g_i^2.

    The average starts at v_1 = g_1^2. Tieleman and Hinton (2012), lecture 6.5.
    """

    eta: float
    decay: float = 0.9
    epsilon: float = 1e-8

    def init(self, params: Floats) -> RmsPropState:
        return RmsPropState(0, np.zeros_like(params))

    def step(
        self, state: RmsPropState, params: Floats, gradient: Floats, xp: Namespace = NUMPY
    ) -> tuple[Floats, RmsPropState]:
        steps = state.steps + 1
        decay = self.decay * (state.steps > 0)
        square = decay * state.square + (1 - decay) * gradient**2
        rate = self.eta / steps**0.5
        return params + rate * gradient / (square**0.5 + self.epsilon), RmsPropState(steps, square)


class DowgState(NamedTuple):
    """The start (size,), the largest distance from it so far, and the weighted sum of squared gradients."""

    origin: Floats
    distance: float
    weighted: float


@dataclass(frozen=True)
class Dowg:
    """Step r_i^2 / sqrt(v_i), v_i = v_(i-1) + r_i^2 |g_i|^2, with r_i the largest distance from the start.

    The distance starts at `start_distance` times 1 + |start|. Use it with an average of the iterates.
    No step size: distance over weighted gradients (Khaled, Mishchenko and Jin 2023, Algorithm 1).
    """

    start_distance: float = 1e-4

    def init(self, params: Floats) -> DowgState:
        return DowgState(params, self.start_distance * (1 + float(np.linalg.norm(params))), 0.0)

    def step(
        self, state: DowgState, params: Floats, gradient: Floats, xp: Namespace = NUMPY
    ) -> tuple[Floats, DowgState]:
        distance = xp.np.maximum(state.distance, xp.linalg.norm(params - state.origin))
        weighted = state.weighted + distance**2 * (gradient @ gradient)
        rate = distance**2 / xp.np.where(weighted > 0, weighted, np.inf) ** 0.5
        return params + rate * gradient, DowgState(state.origin, distance, weighted)
