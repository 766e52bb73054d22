"""The mean-field family, params = (mu, omega) with omega the log scale (ADVI section 2.4)."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.inference.families.standard import NORMAL, Standard


@dataclass(frozen=True)
class MeanField:
    """Coordinates without correlation: u = mu + exp(omega) * z."""

    dim: int
    standard: Standard = NORMAL

    @property
    def size(self) -> int:
        return 2 * self.dim

    @property
    def noise_dim(self) -> int:
        return self.dim

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        return np.concatenate([mu, np.full(self.dim, np.log(scale / sqrt(self.standard.variance)))])

    def noise(self, n: int, rng: np.random.Generator) -> Array:
        return self.standard.noise(n, self.dim, rng)

    def transform(self, params: Array, z: Array, xp: Namespace = NUMPY) -> Array:
        return self.mean(params) + self._s(params, xp) * z

    def pull_back(self, params: Array, z: Array, gradients: Array, xp: Namespace = NUMPY) -> Array:
        """ADVI eq. 7 and 8, without the entropy."""
        in_omega = xp.np.einsum("ij,ij->j", gradients, z) * self._s(params, xp)
        return xp.np.concatenate([gradients.sum(axis=0), in_omega]) / len(z)

    def entropy(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return self.standard.entropy(self.dim) + params[self.dim :].sum()

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        gradient = np.zeros(self.size)
        gradient[self.dim :] = 1.0
        return gradient

    def log_density(self, params: Array, u: Array) -> Array:
        return self.standard.log_density(self._whiten(params, u)) - params[self.dim :].sum()

    def score(self, params: Array, u: Array) -> Array:
        return self.standard.score(self._whiten(params, u)) / self._s(params)

    def params_score(self, params: Array, u: Array) -> Array:
        z = self._whiten(params, u)
        pull = -self.standard.score(z)
        return np.concatenate([pull / self._s(params), pull * z - 1], axis=1)

    def push_forward(self, params: Array, centre: Array, factor: Array) -> Array:
        if factor.ndim != 1:
            raise ValueError("A mean-field family is pushed forward only by a diagonal.")
        return np.concatenate([centre + factor * self.mean(params), np.log(factor) + params[self.dim :]])

    def mean(self, params: Array) -> Array:
        return params[: self.dim]

    def scales(self, params: Array) -> Array:
        return self._s(params) * sqrt(self.standard.variance)

    def covariance(self, params: Array) -> Array:
        return np.diag(self.scales(params) ** 2)

    def _s(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.exp(params[self.dim :])

    def _whiten(self, params: Array, u: Array) -> Array:
        return (u - self.mean(params)) / self._s(params)
