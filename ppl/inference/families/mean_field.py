"""The mean-field Gaussian, params = (mu, omega) with omega = log sd (ADVI section 2.4)."""

from dataclasses import dataclass

import numpy as np

from ppl.inference.target import Array

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class MeanField:
    """Independent normals: u = mu + exp(omega) * z."""

    dim: int

    @property
    def size(self) -> int:
        return 2 * self.dim

    @property
    def noise_dim(self) -> int:
        return self.dim

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        return np.concatenate([mu, np.full(self.dim, np.log(scale))])

    def noise(self, n: int, rng: np.random.Generator) -> Array:
        return rng.standard_normal((n, self.dim))

    def transform(self, params: Array, z: Array) -> Array:
        return self.mean(params) + self.scales(params) * z

    def pull_back(self, params: Array, z: Array, gradients: Array) -> Array:
        """ADVI eq. 7 and 8, without the entropy."""
        in_omega = np.einsum("ij,ij->j", gradients, z) * self.scales(params)
        return np.concatenate([gradients.sum(axis=0), in_omega]) / len(z)

    def entropy(self, params: Array) -> float:
        return 0.5 * self.dim * (1 + LOG_2PI) + float(params[self.dim :].sum())

    def entropy_gradient(self, params: Array) -> Array:
        gradient = np.zeros(self.size)
        gradient[self.dim :] = 1.0
        return gradient

    def log_density(self, params: Array, u: Array) -> Array:
        z = (u - self.mean(params)) / self.scales(params)
        log_q: Array = -0.5 * (z**2).sum(axis=1) - 0.5 * self.dim * LOG_2PI - params[self.dim :].sum()
        return log_q

    def score(self, params: Array, u: Array) -> Array:
        sd = self.scales(params)
        return -((u - self.mean(params)) / sd) / sd

    def carry(self, params: Array, centre: Array, factor: Array) -> Array:
        if factor.ndim != 1:
            raise ValueError("A mean-field family is carried by a diagonal alone.")
        return np.concatenate([centre + factor * self.mean(params), np.log(factor) + params[self.dim :]])

    def mean(self, params: Array) -> Array:
        return params[: self.dim]

    def scales(self, params: Array) -> Array:
        return np.exp(params[self.dim :])

    def covariance(self, params: Array) -> Array:
        return np.diag(self.scales(params) ** 2)
