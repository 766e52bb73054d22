"""A posterior as the inference tower sees it."""

from dataclasses import dataclass

from ppl.model import Posterior
from ppl.results.columns import Floats


@dataclass(frozen=True)
class AsTarget:
    """A posterior as a density over R^dim (inference.target.Target)."""

    posterior: Posterior

    @property
    def dim(self) -> int:
        return self.posterior.param_unc_num()

    def log_density(self, u: Floats) -> float:
        return self.posterior.log_density(u)

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        return self.posterior.log_density_gradient(u)

    def explain(self, u: Floats) -> str:
        return self.posterior.explain(u)
