"""Targets without the prior of some coordinates (automatic relevance determination), or to be integrated."""

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.families.mean_field import Positions
from ppl.kernel.advi.gaussian import LOG_2PI
from ppl.kernel.advi.target import Forwarding, Target
from ppl.records import dataclass


@dataclass(frozen=True, eq=False)
class ArdTarget(Forwarding):
    """A log joint given without the zero-mean Gaussian prior of the coordinates at `ard` (k,)."""

    target: Target
    ard: Positions

    def with_prior(self, variances: Floats) -> "WithPrior":
        """The whole log joint, for prior variances (k,)."""
        return WithPrior(self.target, self.ard, variances)


@dataclass(frozen=True, eq=False)
class WithPrior(Forwarding):
    """A target times independent N(0, variances) over the coordinates at `ard`."""

    target: Target
    ard: Positions
    variances: Floats

    def log_density(self, u: Floats) -> float:
        return self.target.log_density(u) + float(self._log_prior(u))

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        value, gradient = self.target.log_density_gradient(u)
        return value + float(self._log_prior(u)), self._with_prior(gradient, u)

    def log_densities(self, us: Floats) -> Floats:
        return self.target.log_densities(us) + self._log_prior(us)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        values, gradients = self.target.log_density_gradients(us)
        return values + self._log_prior(us), self._with_prior(gradients, us)

    def _log_prior(self, u: Floats) -> Floats:
        """At u (..., dim), (...)."""
        terms = u[..., self.ard] ** 2 / self.variances + np.log(self.variances) + LOG_2PI
        return np.asarray(-0.5 * terms.sum(axis=-1))

    def _with_prior(self, gradient: Floats, u: Floats) -> Floats:
        """The gradient (..., dim) at u with that of the prior added."""
        gradient = gradient.copy()
        gradient[..., self.ard] -= u[..., self.ard] / self.variances
        return gradient


@dataclass(frozen=True, eq=False)
class MarginalTarget(Forwarding):
    """A target, and the coordinates `at` that Type-II maximum likelihood integrates out."""

    target: Target
    at: tuple[int, ...]
