"""The Euclidean metric of Hamiltonian Monte Carlo (Neal 2011, section 5.4.1)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ppl.inference.objective.target import Array

PRIOR_DRAWS = 5.0
"""Draws that the prior of a covariance counts for, as in Stan's adaptation."""
PRIOR_VARIANCE = 1e-3
"""The variance towards which Stan shrinks those of a window, as five draws more would."""


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


def covariance_of(us: Array, dense: bool) -> Array:
    """The covariance (dim, dim) of draws (n, dim), or its diagonal (dim,).

    Shrunk towards 1e-3 as if by five draws more, as Stan's adaptation does.
    """
    n, dim = us.shape
    weight = n / (n + PRIOR_DRAWS)
    floor = PRIOR_VARIANCE * (1.0 - weight)
    if dense:
        return np.asarray(weight * np.cov(us, rowvar=False).reshape(dim, dim) + floor * np.eye(dim))
    return np.asarray(weight * us.var(axis=0, ddof=1) + floor)
