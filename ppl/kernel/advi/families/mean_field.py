"""The mean-field family, params = (mu, omega) with omega the log scale (ADVI section 2.4)."""

from math import sqrt

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.kernel.advi.families.location_scale import ByCoordinate, diagonal
from ppl.records import dataclass


@dataclass(frozen=True)
class MeanField(ByCoordinate):
    """Coordinates without correlation: u = mu + exp(omega) * z."""

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        return np.concatenate([mu, np.full(self.dim, np.log(scale / sqrt(self.standard.variance)))])

    def pull_back(self, params: Array, z: Array, gradients: Array, xp: Namespace = NUMPY) -> Array:
        """ADVI eq. 7 and 8, without the entropy."""
        in_omega = xp.np.einsum("ij,ij->j", gradients, z) * self._diagonal(params, xp)
        return xp.np.concatenate([gradients.sum(axis=0), in_omega]) / len(z)

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return np.concatenate([np.zeros(self.dim), np.ones(self.dim)])

    def params_score(self, params: Array, u: Array) -> Array:
        z = self._whiten(params, u)
        pull = -self.standard.score(z)
        return np.concatenate([pull / self._diagonal(params), pull * z - 1], axis=1)

    def push_forward(self, params: Array, centre: Array, factor: Array) -> Array:
        mean, omega = self.mean(params), params[self.dim :]
        return np.concatenate([centre + diagonal(factor) * mean, np.log(factor) + omega])

    def _diagonal(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.exp(params[self.dim :])

    def _log_det(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return params[self.dim :].sum()
