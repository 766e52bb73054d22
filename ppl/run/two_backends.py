"""A posterior as inference sees it, computed by JAX at each of few points and by NumPy at many.

Of a differential equation JAX takes a gradient in a tenth of the time, but to compile one for many points
takes it longer than NumPy takes for all that a fit looks at: values of many points cost NumPy no more, and
gradients of many are few until draws are moved.
"""

import numpy as np

from ppl.density.log_density import Floats
from ppl.kernel.advi.target import Forwarding, Target, gradients, log_density_gradients
from ppl.records import dataclass, replace
from ppl.run.posterior_target import PosteriorTarget

MANY = 20_000
"""Gradients after which draws that are still moved would be done first by JAX, its compilation included."""


ONE_BY_ONE = 16
"""Points up to which the compiled code, one at a time, is faster than NumPy with all of them."""


@dataclass(frozen=True)
class TwoBackends(Forwarding):
    """The `interpreted` density at many points, the compiled `target` at each alone.

    Where `many_gradients` are to be taken they are compiled too.
    """

    interpreted: PosteriorTarget
    target: Target
    many_gradients: bool = False

    def log_densities(self, us: Floats) -> Floats:
        return self.interpreted.log_densities(us)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        if not self.many_gradients and len(us) <= ONE_BY_ONE:
            values, slopes = zip(*map(self.target.log_density_gradient, us), strict=True)
            return np.array(values), np.array(slopes)
        return log_density_gradients(self.at(len(us)), us)

    def gradients_alone(self, us: Floats) -> Floats:
        return gradients(self.at(len(us)), us)

    def at(self, points: int) -> Target:
        """What computes gradients at so many points."""
        return self.target if self.many_gradients or points == 1 else self.interpreted

    def for_many_points(self, points: int) -> "TwoBackends":
        return replace(self, many_gradients=points >= MANY)
