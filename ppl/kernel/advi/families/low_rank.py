"""A family between mean-field and full-rank, in O(dim * rank) memory (after Ong, Nott and Smith 2018)."""

from math import ceil, sqrt

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.kernel.advi.families.location_scale import Located, diagonal
from ppl.kernel.advi.families.standard import NORMAL, Elliptical
from ppl.records import dataclass


@dataclass(frozen=True)
class LowRank(Located):
    """u = mu + s * (z_1 + F z_2), with dim + rank numbers of noise: S (I + F F') S, times their variance.

    params = (mu, omega = log s, F by rows). Scaling F by s as well keeps its entries free of units. The noise
    is elliptical, because no other sum z_1 + F z_2 has a density in closed form.
    """

    dim: int
    rank: int
    standard: Elliptical = NORMAL

    @classmethod
    def of(cls, dim: int) -> "LowRank":
        """Rank sqrt(dim), rounded up."""
        return cls(dim, ceil(sqrt(dim)))

    @property
    def size(self) -> int:
        return self.dim * (2 + self.rank)

    @property
    def noise_dim(self) -> int:
        return self.dim + self.rank

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        """F = 0 is a saddle of the ELBO, which the noise of the first gradients leaves."""
        omega = np.full(self.dim, np.log(scale / sqrt(self.standard.variance)))
        return np.concatenate([mu, omega, np.zeros(self.dim * self.rank)])

    def near(self, covariance: Array) -> Array:
        """Parameters with mean 0 near a covariance (dim, dim), in units of its conditional sds.

        F takes what the largest eigenvalues have above one (Tipping and Bishop 1999, eq. 15, without noise).
        """
        values, vectors = np.linalg.eigh(covariance)
        above = np.sqrt(np.maximum(values[-self.rank :] - 1, 0.0))
        return np.concatenate([np.zeros(2 * self.dim), (vectors[:, -self.rank :] * above).ravel()])

    def like(self, factor: Array) -> Array:
        """Parameters with mean 0, scales 1 and F the first columns of a factor (dim, any)."""
        own = np.zeros((self.dim, self.rank))
        columns = factor[:, : self.rank]
        own[:, : columns.shape[1]] = columns
        omega = np.full(self.dim, -0.5 * np.log(self.standard.variance))
        return np.concatenate([np.zeros(self.dim), omega, own.ravel()])

    def transform(self, params: Array, z: Array, xp: Namespace = NUMPY) -> Array:
        return self.mean(params) + self._s(params, xp) * self._correlate(params, z)

    def pull_back(self, params: Array, z: Array, gradients: Array, xp: Namespace = NUMPY) -> Array:
        scaled = gradients * self._s(params, xp)
        in_omega = xp.np.einsum("ij,ij->j", scaled, self._correlate(params, z))
        in_factor = scaled.T @ z[:, self.dim :]
        return xp.np.concatenate([gradients.sum(axis=0), in_omega, in_factor.ravel()]) / len(z)

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        # The core is small, and symmetric: its inverse costs less than a solution for each of dim columns.
        in_factor = self.factor(params) @ self._solve(params, np.eye(self.rank), xp)
        return xp.np.concatenate([np.zeros(self.dim), np.ones(self.dim), in_factor.ravel()])

    def log_density(self, params: Array, u: Array) -> Array:
        y, rest = self._project(params, u)
        log_phi = self.standard.log_density_at((y * rest).sum(axis=1), self.dim)
        return log_phi - self._log_det(params)

    def score(self, params: Array, u: Array) -> Array:
        return -self._pull(params, u)[1] / self._s(params)

    def params_score(self, params: Array, u: Array) -> Array:
        y, pull = self._pull(params, u)
        rest = self._project(params, u)[1]
        in_factor = np.einsum("ni,nr->nir", pull, rest @ self.factor(params)).reshape(len(u), -1)
        of_quadratic = np.concatenate([pull / self._s(params), y * pull, in_factor], axis=1)
        return of_quadratic - self.entropy_gradient(params)

    def push_forward(self, params: Array, centre: Array, factor: Array) -> Array:
        mean, omega, rest = np.split(params, [self.dim, 2 * self.dim])
        return np.concatenate([centre + diagonal(factor) * mean, np.log(factor) + omega, rest])

    def scales(self, params: Array) -> Array:
        inflation = self.standard.variance * (1 + (self.factor(params) ** 2).sum(axis=1))
        return self._s(params) * np.sqrt(inflation)

    def covariance(self, params: Array) -> Array:
        factor, s = self.factor(params), self._s(params)
        return self.standard.variance * (np.eye(self.dim) + factor @ factor.T) * np.outer(s, s)

    def factor(self, params: Array) -> Array:
        """F, (dim, rank)."""
        return params[2 * self.dim :].reshape(self.dim, self.rank)

    def _s(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.exp(params[self.dim : 2 * self.dim])

    def _correlate(self, params: Array, z: Array) -> Array:
        return z[:, : self.dim] + z[:, self.dim :] @ self.factor(params).T

    def _solve(self, params: Array, right: Array, xp: Namespace = NUMPY) -> Array:
        """The inverse of the core times `right` (rank, n); nan where a step too far has made it singular."""
        try:
            return xp.linalg.solve(self._core(params), right)
        except np.linalg.LinAlgError:
            return np.full_like(right, np.nan)

    def _core(self, params: Array) -> Array:
        """I + F'F, (rank, rank): what Woodbury's identity leaves to invert."""
        factor = self.factor(params)
        return np.eye(self.rank) + factor.T @ factor

    def _log_det(self, params: Array, xp: Namespace = NUMPY) -> Array:
        log_det = xp.linalg.slogdet(self._core(params))[1]
        return params[self.dim : 2 * self.dim].sum() + 0.5 * log_det

    def _project(self, params: Array, u: Array) -> tuple[Array, Array]:
        """y = (u - mu) / s and (I + F F')^-1 y, each (n, dim)."""
        y = (u - self.mean(params)) / self._s(params)
        factor = self.factor(params)
        return y, y - self._solve(params, factor.T @ y.T).T @ factor.T

    def _pull(self, params: Array, u: Array) -> tuple[Array, Array]:
        """y, and minus the gradient of log q in y, each (n, dim)."""
        y, rest = self._project(params, u)
        return y, self.standard.weight((y * rest).sum(axis=1), self.dim)[:, None] * rest
