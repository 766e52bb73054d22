"""The full-rank family, params = (mu, lower triangle of L by rows) (ADVI section 2.4, DSVI eq. 1)."""

from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Array, Namespace
from ppl.kernel.advi.families.location_scale import LocationScale
from ppl.kernel.advi.triangular import dense, solve_triangular
from ppl.records import dataclass


@dataclass(frozen=True)
class FullRank(LocationScale):
    """Any covariance: u = mu + L z, which is v L L' for noise of variance v.

    L is lower triangular and free: a diagonal entry may become negative, which leaves q as it is, so the
    entropy takes log |L_kk|.
    """

    @property
    def size(self) -> int:
        return self.dim + self.dim * (self.dim + 1) // 2

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        params = np.zeros(self.size)
        params[: self.dim] = mu
        params[self.diagonal] = scale / sqrt(self.standard.variance)
        return params

    def of(self, mu: Array, factor: Array) -> Array:
        """Parameters of the member with that mean (dim,) and that lower-triangular L (dim, dim)."""
        return np.concatenate([mu, factor.ravel()[self._lower]])

    def transform(self, params: Array, z: Array, xp: Namespace = NUMPY) -> Array:
        return self.mean(params) + z @ self.factor(params, xp).T

    def pull_back(self, params: Array, z: Array, gradients: Array, xp: Namespace = NUMPY) -> Array:
        """ADVI eq. 7 and 9, DSVI eq. 7 and 8, without the entropy."""
        in_factor = (gradients.T @ z).ravel()[self._lower]
        return xp.np.concatenate([gradients.sum(axis=0), in_factor]) / len(z)

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.put(np.zeros(self.size), self.diagonal, 1 / params[self.diagonal])

    def score(self, params: Array, u: Array) -> Array:
        in_z = self.standard.score(self._whiten(params, u)).T
        return solve_triangular(self.factor(params), in_z, transposed=True).T

    def params_score(self, params: Array, u: Array) -> Array:
        pull = -self.score(params, u)
        in_factor = np.einsum("ni,nj->nij", pull, self._whiten(params, u)).reshape(len(u), -1)
        return np.concatenate([pull, in_factor[:, self._lower]], axis=1) - self.entropy_gradient(params)

    def push_forward(self, params: Array, centre: Array, factor: Array) -> Array:
        matrix = dense(factor)
        carried = (matrix @ self.factor(params)).ravel()[self._lower]
        return np.concatenate([centre + matrix @ self.mean(params), carried])

    def scales(self, params: Array) -> Array:
        return np.sqrt(self.standard.variance * (self.factor(params) ** 2).sum(axis=1))

    def covariance(self, params: Array) -> Array:
        factor = self.factor(params)
        return self.standard.variance * factor @ factor.T

    def factor(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """The lower-triangular L, (dim, dim)."""
        entries = xp.put(np.zeros(self.dim * self.dim), self._lower, params[self.dim :])
        return entries.reshape(self.dim, self.dim)

    def _whiten(self, params: Array, u: Array) -> Array:
        """The noise z = L^-1 (u - mu) that lands on u, (n, dim)."""
        centred = (u - self.mean(params)).T
        return solve_triangular(self.factor(params), centred).T

    def _log_det(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.log(xp.np.abs(params[self.diagonal])).sum()

    @cached_property
    def _lower(self) -> NDArray[np.intp]:
        """Where the entries of params after mu stand in a flattened (dim, dim) matrix."""
        rows, columns = np.tril_indices(self.dim)
        return np.asarray(rows * self.dim + columns)

    @cached_property
    def diagonal(self) -> NDArray[np.intp]:
        """Where L_kk stands in params."""
        k = np.arange(self.dim)
        return self.dim + k * (k + 3) // 2
