"""The Euclidean metric of Hamiltonian Monte Carlo (Neal 2011, section 5.4.1)."""

from functools import cached_property

import numpy as np

from ppl.kernel.advi.target import Array
from ppl.records import dataclass


@dataclass(frozen=True, eq=False)
class Metric:
    """`inverse` is the inverse metric: its diagonal (dim,), or the whole (dim, dim)."""

    inverse: Array

    @cached_property
    def root(self) -> Array:
        """R with R R' the metric: its diagonal (dim,), or (dim, dim).

        Raises:
            numpy.linalg.LinAlgError: the inverse metric is not positive definite.
        """
        if self.inverse.ndim == 1:
            return np.asarray(self.inverse**-0.5)
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.inverse)).T)

    def momentum(self, rng: np.random.Generator) -> Array:
        """A draw (dim,) from the normal that has the metric as its covariance."""
        z = rng.standard_normal(len(self.inverse))
        return self.root * z if self.inverse.ndim == 1 else self.root @ z

    def velocity(self, momentum: Array) -> Array:
        """The change of the position (dim,) in a unit of time."""
        return self.inverse * momentum if self.inverse.ndim == 1 else self.inverse @ momentum
