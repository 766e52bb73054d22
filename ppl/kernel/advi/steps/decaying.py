"""Steps that their number alone scales down, so that stochastic search converges."""

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Namespace
from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.records import dataclass, field


@dataclass(frozen=True)
class RobbinsMonro:
    """Step t = 0, 1, 2, ... is eta * (1 + t / w)^-kappa * gradient.

    That is the paper's (w + t)^-kappa when eta = w^-kappa; eta is the first step, whatever w and kappa. With
    kappa in (1/2, 1] the steps sum to infinity and their squares do not. Paisley, Blei and Jordan (2012),
    section 3.
    """

    eta: float
    w: float = 100.0
    kappa: float = 0.6

    def __post_init__(self) -> None:
        if not (self.w > 0 and 0.5 < self.kappa <= 1):
            raise InferenceError(
                f"w = {self.w!r}, kappa = {self.kappa!r} is out of range; "
                "expected w above 0 and kappa above 1/2 and at most 1."
            )

    def init(self, params: Floats) -> int:
        """The state is the number of steps taken."""
        return 0

    def step(self, state: int, params: Floats, gradient: Floats, xp: Namespace = NUMPY) -> tuple[Floats, int]:
        rate = self.eta * (1 + state / self.w) ** -self.kappa
        return params + rate * gradient, state + 1


@dataclass(frozen=True, eq=False)
class Staged:
    """Step rho * rates * gradient, with rho = eta * factor^(stages finished) and `every` steps a stage.
    DSVI, supplement, section C.

    `rates` is one number or one an entry of params: DSVI moves C at 0.1 rho. The entries at `positive`, such
    as the diagonal of C, at most halve in one step, so that they stay above zero (DSVI eq. 1).
    """

    eta: float
    factor: float = 0.95
    every: int = 1000
    rates: float | Floats = 1.0
    positive: NDArray[np.intp] = field(default_factory=lambda: np.array([], dtype=np.intp))

    def init(self, params: Floats) -> int:
        """The state is the number of steps taken."""
        return 0

    def step(self, state: int, params: Floats, gradient: Floats, xp: Namespace = NUMPY) -> tuple[Floats, int]:
        rho = self.eta * self.factor ** (state // self.every)
        stepped = params + rho * self.rates * gradient
        held = xp.np.maximum(stepped[self.positive], 0.5 * params[self.positive])
        return xp.put(stepped, self.positive, held), state + 1
