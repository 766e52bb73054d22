"""All of q at one point: what a search for a mode leaves."""

from dataclasses import dataclass

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.inference.families.standard import NORMAL, Standard


@dataclass(frozen=True)
class Point:
    """params = mu; no noise, and so no spread. Its entropy and log density count as 0."""

    dim: int
    standard: Standard = NORMAL

    @property
    def size(self) -> int:
        return self.dim

    noise_dim = 0

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        return mu.copy()

    def noise(self, n: int, rng: np.random.Generator) -> Array:
        return np.empty((n, 0))

    def transform(self, params: Array, z: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.tile(params, (len(z), 1))

    def pull_back(self, params: Array, z: Array, gradients: Array, xp: Namespace = NUMPY) -> Array:
        return gradients.mean(axis=0)

    def entropy(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return 0.0

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return np.zeros(self.size)

    def log_density(self, params: Array, u: Array) -> Array:
        return np.zeros(len(u))

    def score(self, params: Array, u: Array) -> Array:
        return np.zeros_like(u)

    def params_score(self, params: Array, u: Array) -> Array:
        return np.zeros_like(u)

    def push_forward(self, params: Array, centre: Array, factor: Array) -> Array:
        return centre + (factor * params if factor.ndim == 1 else factor @ params)

    def mean(self, params: Array) -> Array:
        return params

    def scales(self, params: Array) -> Array:
        return np.zeros(self.dim)

    def covariance(self, params: Array) -> Array:
        return np.zeros((self.dim, self.dim))
