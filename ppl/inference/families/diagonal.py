"""The mean-field family with its scales as they are, params = (mu, c), as DSVI updates them (eq. 9)."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Array, Namespace
from ppl.inference.families.standard import NORMAL, Standard


@dataclass(frozen=True)
class Diagonal:
    """Coordinates without correlation: u = mu + c * z.

    A scale that became negative would leave q as it is, so the entropy takes log |c|.
    """

    dim: int
    standard: Standard = NORMAL

    @property
    def size(self) -> int:
        return 2 * self.dim

    @property
    def noise_dim(self) -> int:
        return self.dim

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        return np.concatenate([mu, np.full(self.dim, scale / sqrt(self.standard.variance))])

    def noise(self, n: int, rng: np.random.Generator) -> Array:
        return self.standard.noise(n, self.dim, rng)

    def transform(self, params: Array, z: Array, xp: Namespace = NUMPY) -> Array:
        return self.mean(params) + self.factor(params) * z

    def pull_back(self, params: Array, z: Array, gradients: Array, xp: Namespace = NUMPY) -> Array:
        """DSVI eq. 7 and 9, without the entropy."""
        in_c = xp.np.einsum("ij,ij->j", gradients, z)
        return xp.np.concatenate([gradients.sum(axis=0), in_c]) / len(z)

    def entropy(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return self.standard.entropy(self.dim) + self._log_det(params, xp)

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.concatenate([np.zeros(self.dim), 1 / self.factor(params)])

    def log_density(self, params: Array, u: Array) -> Array:
        return self.standard.log_density(self._whiten(params, u)) - self._log_det(params)

    def score(self, params: Array, u: Array) -> Array:
        return self.standard.score(self._whiten(params, u)) / self.factor(params)

    def params_score(self, params: Array, u: Array) -> Array:
        z = self._whiten(params, u)
        pull = -self.standard.score(z)
        return np.concatenate([pull, pull * z - 1], axis=1) / np.tile(self.factor(params), 2)

    def push_forward(self, params: Array, centre: Array, factor: Array) -> Array:
        if factor.ndim != 1:
            raise ValueError("A diagonal family is pushed forward only by a diagonal.")
        return np.concatenate([centre + factor * self.mean(params), factor * self.factor(params)])

    def mean(self, params: Array) -> Array:
        return params[: self.dim]

    def scales(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.abs(self.factor(params)) * sqrt(self.standard.variance)

    def covariance(self, params: Array) -> Array:
        return np.diag(self.scales(params) ** 2)

    def factor(self, params: Array) -> Array:
        """c, (dim,)."""
        return params[self.dim :]

    def _log_det(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.log(xp.np.abs(self.factor(params))).sum()

    def _whiten(self, params: Array, u: Array) -> Array:
        return (u - self.mean(params)) / self.factor(params)

    @cached_property
    def diagonal(self) -> NDArray[np.intp]:
        """Where c stands in params."""
        return np.arange(self.dim, self.size)
