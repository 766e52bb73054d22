"""A target in coordinates that are centred and scaled, so that a standard normal is a fair first guess."""

from functools import cached_property

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.target import AtPoints, Forwarding, OfRows, Often, Target
from ppl.kernel.advi.triangular import diagonal_of, solved, times, transposed_times
from ppl.records import dataclass


@dataclass(frozen=True)
class Scaled(Forwarding):
    """The target as a density over v, where u = centre + A v.

    `factor` is A: its diagonal (dim,), or a lower-triangular matrix (dim, dim) with a positive diagonal. The
    log-Jacobian of the map is in the density, so the ELBO of a family is the same in both coordinates;
    `Family.push_forward` brings its params back.
    """

    target: Target
    centre: Floats
    factor: Floats
    views = (OfRows, Often, AtPoints)

    @property
    def n_rows(self) -> int:
        return self.target.n_rows

    @cached_property
    def log_jacobian(self) -> float:
        return float(np.log(diagonal_of(self.factor)).sum())

    def to_u(self, v: Floats) -> Floats:
        """The points u (..., dim) that stand for v (..., dim)."""
        return self.centre + times(self.factor, v)

    def to_v(self, u: Floats) -> Floats:
        """The points v (n, dim) that stand for u (n, dim)."""
        return solved(self.factor, u - self.centre)

    def log_density(self, v: Floats) -> float:
        return self.target.log_density(self.to_u(v)) + self.log_jacobian

    def log_density_gradient(self, v: Floats) -> tuple[float, Floats]:
        value, gradient = self.target.log_density_gradient(self.to_u(v))
        return value + self.log_jacobian, self.pulled_back(gradient)

    def log_densities(self, vs: Floats) -> Floats:
        return self.target.log_densities(self.to_u(vs)) + self.log_jacobian

    def log_density_gradients(self, vs: Floats) -> tuple[Floats, Floats]:
        values, gradients = self.target.log_density_gradients(self.to_u(vs))
        return values + self.log_jacobian, self.pulled_back(gradients)

    def gradients_alone(self, vs: Floats) -> Floats:
        return self.pulled_back(self.target.gradients_alone(self.to_u(vs)))

    def pulled_back(self, gradient: Floats) -> Floats:
        """Gradients in v (..., dim) from those in u."""
        return transposed_times(self.factor, gradient)

    def explain(self, v: Floats) -> str:
        return self.target.explain(self.to_u(v))
