"""Families of a location and a scale: what they do alike whatever the scale is made of."""

from abc import ABC, abstractmethod
from math import sqrt

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.kernel.advi.families.standard import NORMAL, Standard
from ppl.records import dataclass


class Located(ABC):
    """u = mu + A z for noise z (n, noise_dim), and params that begin with mu."""

    dim: int
    standard: Standard

    @property
    def noise_dim(self) -> int:
        return self.dim

    def noise(self, n: int, rng: np.random.Generator) -> Array:
        return self.standard.noise(n, self.noise_dim, rng)

    def entropy(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return self.standard.entropy(self.dim) + self._log_det(params, xp)

    def mean(self, params: Array) -> Array:
        return params[: self.dim]

    @abstractmethod
    def _log_det(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """log |det A|, half of log det A A' where A is wider than high."""


@dataclass(frozen=True)
class LocationScale(Located):
    """The same for a regular A."""

    dim: int
    standard: Standard = NORMAL

    def log_density(self, params: Array, u: Array) -> Array:
        return self.standard.log_density(self._whiten(params, u)) - self._log_det(params)

    @abstractmethod
    def _whiten(self, params: Array, u: Array) -> Array:
        """The noise z = A^-1 (u - mu) that lands on u, (n, dim)."""


class ByCoordinate(LocationScale):
    """A diagonal A: coordinates without correlation."""

    @property
    def size(self) -> int:
        return 2 * self.dim

    def transform(self, params: Array, z: Array, xp: Namespace = NUMPY) -> Array:
        return self.mean(params) + self._diagonal(params, xp) * z

    def score(self, params: Array, u: Array) -> Array:
        return self.standard.score(self._whiten(params, u)) / self._diagonal(params)

    def scales(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.abs(self._diagonal(params, xp)) * sqrt(self.standard.variance)

    def covariance(self, params: Array) -> Array:
        return np.diag(self.scales(params) ** 2)

    def _whiten(self, params: Array, u: Array) -> Array:
        return (u - self.mean(params)) / self._diagonal(params)

    @abstractmethod
    def _diagonal(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """Of A, (dim,)."""


def diagonal(factor: Array) -> Array:
    """The factor that a family without all correlations is pushed forward by; ValueError for a matrix."""
    if factor.ndim != 1:
        raise ValueError("This family is pushed forward only by a diagonal.")
    return factor
