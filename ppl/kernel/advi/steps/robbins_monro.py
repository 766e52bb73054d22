"""Steps that shrink so that stochastic search converges (Paisley, Blei and Jordan 2012, section 3)."""

from ppl.arrays import NUMPY, Namespace
from ppl.errors import InferenceError
from ppl.kernel.advi.target import Array
from ppl.records import dataclass


@dataclass(frozen=True)
class RobbinsMonro:
    """Step t = 0, 1, 2, ... is eta * (1 + t / w)^-kappa * gradient.

    That is the paper's (w + t)^-kappa when eta = w^-kappa; eta is the first step, whatever w and kappa. With
    kappa in (1/2, 1] the steps sum to infinity and their squares do not.
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

    def init(self, params: Array) -> int:
        """The state is the number of steps taken."""
        return 0

    def step(self, state: int, params: Array, gradient: Array, xp: Namespace = NUMPY) -> tuple[Array, int]:
        rate = self.eta * (1 + state / self.w) ** -self.kappa
        return params + rate * gradient, state + 1
