"""The mean-field family with its scales as they are, params = (mu, c), as DSVI updates them (eq. 9)."""

from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Array, Namespace
from ppl.kernel.advi.families.location_scale import ByCoordinate, diagonal
from ppl.records import dataclass


@dataclass(frozen=True)
class Diagonal(ByCoordinate):
    """Coordinates without correlation: u = mu + c * z.

    A scale that became negative would leave q as it is, so the entropy takes log |c|.
    """

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        return np.concatenate([mu, np.full(self.dim, scale / sqrt(self.standard.variance))])

    def pull_back(self, params: Array, z: Array, gradients: Array, xp: Namespace = NUMPY) -> Array:
        """DSVI eq. 7 and 9, without the entropy."""
        in_c = xp.np.einsum("ij,ij->j", gradients, z)
        return xp.np.concatenate([gradients.sum(axis=0), in_c]) / len(z)

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.concatenate([np.zeros(self.dim), 1 / self._diagonal(params)])

    def params_score(self, params: Array, u: Array) -> Array:
        z = self._whiten(params, u)
        pull = -self.standard.score(z)
        return np.concatenate([pull, pull * z - 1], axis=1) / np.tile(self._diagonal(params), 2)

    def push_forward(self, params: Array, centre: Array, factor: Array) -> Array:
        mean, c = self.mean(params), self._diagonal(params)
        return np.concatenate([centre + diagonal(factor) * mean, factor * c])

    def _diagonal(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """c, (dim,)."""
        return params[self.dim :]

    def _log_det(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return xp.np.log(xp.np.abs(self._diagonal(params))).sum()

    @cached_property
    def diagonal(self) -> NDArray[np.intp]:
        """Where c stands in params."""
        return np.arange(self.dim, self.size)
