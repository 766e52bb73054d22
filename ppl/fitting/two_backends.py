"""A posterior as inference sees it, computed by JAX at one point and by NumPy at many.

Of a differential equation JAX takes a gradient in a tenth of the time, but to compile one for many points
takes it longer than NumPy takes for all that a fit looks at: values of many points cost NumPy no more, and
gradients of many are few until draws are annealed.
"""

from dataclasses import dataclass, replace

from ppl.density.log_density import Floats
from ppl.fitting.posterior_target import PosteriorTarget
from ppl.inference.objective.target import Kinds, Target, gradients, log_density_gradients, width_of


@dataclass(frozen=True)
class TwoBackends:
    """The `interpreted` density at many points, the `compiled` one at each alone (inference.target.Target).

    Where `many_gradients` are to be taken they are compiled too.
    """

    interpreted: PosteriorTarget
    compiled: Target
    many_gradients: bool = False

    @property
    def dim(self) -> int:
        return self.interpreted.dim

    @property
    def width(self) -> int:
        """That of the compiled one, which is what thousands of gradients are taken by."""
        return width_of(self.compiled)

    @property
    def kinds(self) -> Kinds:
        return self.interpreted.kinds

    def log_density(self, u: Floats) -> float:
        return self.compiled.log_density(u)

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        return self.compiled.log_density_gradient(u)

    def log_densities(self, us: Floats) -> Floats:
        return self.interpreted.log_densities(us)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        if self.many_gradients or len(us) == 1:
            return log_density_gradients(self.compiled, us)
        return self.interpreted.log_density_gradients(us)

    def gradients_alone(self, us: Floats) -> Floats:
        if self.many_gradients or len(us) == 1:
            return gradients(self.compiled, us)
        return self.interpreted.gradients_alone(us)

    def for_many_points(self) -> "TwoBackends":
        return replace(self, many_gradients=True)

    def explain(self, u: Floats) -> str:
        return self.interpreted.explain(u)
