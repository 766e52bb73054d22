"""A target some coordinates of which are to be integrated out rather than maximised over."""

from dataclasses import dataclass

from ppl.inference.target import Array, Target, log_densities, log_density_gradients, width_of


@dataclass(frozen=True, eq=False)
class MarginalTarget:
    """A target, and the coordinates `at` that Type-II maximum likelihood integrates out."""

    target: Target
    at: tuple[int, ...]

    @property
    def dim(self) -> int:
        return self.target.dim

    @property
    def width(self) -> int:
        return width_of(self.target)

    def log_density(self, u: Array) -> float:
        return self.target.log_density(u)

    def log_density_gradient(self, u: Array) -> tuple[float, Array]:
        return self.target.log_density_gradient(u)

    def log_densities(self, us: Array) -> Array:
        return log_densities(self.target, us)

    def log_density_gradients(self, us: Array) -> tuple[Array, Array]:
        return log_density_gradients(self.target, us)

    def explain(self, u: Array) -> str:
        return self.target.explain(u)
