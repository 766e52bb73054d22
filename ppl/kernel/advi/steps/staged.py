"""DSVI's learning rate: constant within a stage, scaled down from one to the next (supplement, section C)."""

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Namespace
from ppl.kernel.advi.target import Array
from ppl.records import dataclass, field


@dataclass(frozen=True, eq=False)
class Staged:
    """Step rho * rates * gradient, with rho = eta * factor^(stages finished) and `every` steps a stage.

    `rates` is one number or one an entry of params: DSVI moves C at 0.1 rho. The entries at `positive`, such
    as the diagonal of C, at most halve in one step, so that they stay above zero (DSVI eq. 1).
    """

    eta: float
    factor: float = 0.95
    every: int = 1000
    rates: float | Array = 1.0
    positive: NDArray[np.intp] = field(default_factory=lambda: np.array([], dtype=np.intp))

    def init(self, params: Array) -> int:
        """The state is the number of steps taken."""
        return 0

    def step(self, state: int, params: Array, gradient: Array, xp: Namespace = NUMPY) -> tuple[Array, int]:
        rho = self.eta * self.factor ** (state // self.every)
        stepped = params + rho * self.rates * gradient
        held = xp.np.maximum(stepped[self.positive], 0.5 * params[self.positive])
        return xp.put(stepped, self.positive, held), state + 1
