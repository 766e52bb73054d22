"""The full-rank Gaussian, params = (mu, lower triangle of L by rows), covariance L L' (ADVI section 2.4)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ppl.inference.target import Array

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class FullRank:
    """A normal with any covariance: u = mu + L z.

    L is lower triangular and free: a diagonal entry may become negative, which leaves q as it is, so the
    entropy takes log |L_kk|.
    """

    dim: int

    @property
    def size(self) -> int:
        return self.dim + self.dim * (self.dim + 1) // 2

    @property
    def noise_dim(self) -> int:
        return self.dim

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        params = np.zeros(self.size)
        params[: self.dim] = mu
        params[self._diagonal] = scale
        return params

    def noise(self, n: int, rng: np.random.Generator) -> Array:
        return rng.standard_normal((n, self.dim))

    def transform(self, params: Array, z: Array) -> Array:
        return self.mean(params) + z @ self.factor(params).T

    def pull_back(self, params: Array, z: Array, gradients: Array) -> Array:
        """ADVI eq. 7 and 9, without the entropy."""
        in_factor = (gradients.T @ z).ravel()[self._lower]
        return np.concatenate([gradients.sum(axis=0), in_factor]) / len(z)

    def entropy(self, params: Array) -> float:
        return 0.5 * self.dim * (1 + LOG_2PI) + float(np.log(np.abs(params[self._diagonal])).sum())

    def entropy_gradient(self, params: Array) -> Array:
        gradient = np.zeros(self.size)
        gradient[self._diagonal] = 1 / params[self._diagonal]
        return gradient

    def log_density(self, params: Array, u: Array) -> Array:
        z = self._whiten(params, u)
        log_det = np.log(np.abs(params[self._diagonal])).sum()
        log_q: Array = -0.5 * (z**2).sum(axis=0) - 0.5 * self.dim * LOG_2PI - log_det
        return log_q

    def score(self, params: Array, u: Array) -> Array:
        z = self._whiten(params, u)
        score: Array = -solve_triangular(self.factor(params), z, lower=True, trans="T", check_finite=False).T
        return score

    def carry(self, params: Array, centre: Array, factor: Array) -> Array:
        matrix = np.diag(factor) if factor.ndim == 1 else factor
        carried = (matrix @ self.factor(params)).ravel()[self._lower]
        return np.concatenate([centre + matrix @ self.mean(params), carried])

    def mean(self, params: Array) -> Array:
        return params[: self.dim]

    def scales(self, params: Array) -> Array:
        scales: Array = np.sqrt((self.factor(params) ** 2).sum(axis=1))
        return scales

    def covariance(self, params: Array) -> Array:
        factor = self.factor(params)
        return factor @ factor.T

    def factor(self, params: Array) -> Array:
        """The lower-triangular L, (dim, dim)."""
        factor = np.zeros(self.dim * self.dim)
        factor[self._lower] = params[self.dim :]
        return factor.reshape(self.dim, self.dim)

    def _whiten(self, params: Array, u: Array) -> Array:
        """The noise z = L^-1 (u - mu) that lands on u, by columns: (dim, n)."""
        centred = (u - self.mean(params)).T
        z: Array = solve_triangular(self.factor(params), centred, lower=True, check_finite=False)
        return z

    @cached_property
    def _lower(self) -> NDArray[np.intp]:
        """Where the entries of params after mu stand in a flattened (dim, dim) matrix."""
        rows, columns = np.tril_indices(self.dim)
        return np.asarray(rows * self.dim + columns)

    @cached_property
    def _diagonal(self) -> NDArray[np.intp]:
        """Where L_kk stands in params."""
        k = np.arange(self.dim)
        return self.dim + k * (k + 3) // 2
