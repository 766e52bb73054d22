"""A posterior as inference sees it, computed by JAX at one point and by NumPy at many.

Of a differential equation JAX takes a gradient in a tenth of the time, but to compile one for many points
takes it longer than NumPy takes for all that a fit looks at: values of many points cost NumPy no more, and
gradients of many are few until draws are annealed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ppl.inference.objective.target import Target, width_of
from ppl.results.files.columns import Floats
from ppl.results.fits.as_target import AsTarget


@dataclass(frozen=True)
class ByBoth:
    """The `interpreted` density at many points, the `compiled` one at each alone (inference.target.Target).

    `whole` begins the one that is compiled for many points too.
    """

    interpreted: AsTarget
    compiled: Target
    whole: Callable[[], Target]

    @property
    def dim(self) -> int:
        return self.interpreted.dim

    @property
    def width(self) -> int:
        """That of the compiled one, which is what thousands of gradients are taken by."""
        return width_of(self.compiled)

    def log_density(self, u: Floats) -> float:
        return self.compiled.log_density(u)

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        return self.compiled.log_density_gradient(u)

    def log_densities(self, us: Floats) -> Floats:
        return self.interpreted.log_densities(us)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        if len(us) == 1:
            value, gradient = self.log_density_gradient(us[0])
            return np.array([value]), gradient[None]
        return self.interpreted.log_density_gradients(us)

    def for_many_points(self) -> Target:
        return self.whole()

    def explain(self, u: Floats) -> str:
        return self.interpreted.explain(u)
