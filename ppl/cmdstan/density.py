"""A posterior as a target of inference, with or without what depends on no parameter, and the Jacobian."""

from ppl.kernel.advi.target import Array
from ppl.posterior import Posterior
from ppl.records import dataclass


@dataclass(frozen=True)
class Density:
    """The log density over R^dim (inference.target.Target).

    Stan's point estimates leave the Jacobian out, so that they are modes of the constrained density; all but
    Pathfinder and ADVI also drop the constants of `~` statements (`propto`).
    """

    posterior: Posterior
    jacobian: bool = True
    propto: bool = True

    @property
    def dim(self) -> int:
        return self.posterior.param_unc_num()

    def log_density(self, u: Array) -> float:
        return self.posterior.log_density(u, self.propto, self.jacobian)

    def log_density_gradient(self, u: Array) -> tuple[float, Array]:
        return self.posterior.log_density_gradient(u, self.propto, self.jacobian)

    def log_densities(self, us: Array) -> Array:
        return self.posterior.log_densities(us, self.propto, self.jacobian)

    def log_density_gradients(self, us: Array) -> tuple[Array, Array]:
        return self.posterior.log_density_gradients(us, self.propto, self.jacobian)

    def explain(self, u: Array) -> str:
        return self.posterior.explain(u)
