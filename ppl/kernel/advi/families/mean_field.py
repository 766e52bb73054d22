"""Gaussians without correlation, by their log scales (ADVI section 2.4) or by their scales (DSVI eq. 9).

Automatic relevance determination is of the second kind: the prior of u_d is N(0, l_d^2), one scale a
coordinate. For a given q the bound is best at l_d^2 = E u_d^2 = c_d^2 + mu_d^2, and with that put in (DSVI
section 3.2, eq. 14) it depends on q alone.
"""

from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Array, Namespace
from ppl.kernel.advi.families.location_scale import ByCoordinate, diagonal
from ppl.kernel.advi.gaussian import LOG_2PI
from ppl.records import dataclass


@dataclass(frozen=True)
class MeanField(ByCoordinate):
    """Coordinates without correlation: u = mu + exp(omega) * z, params = (mu, omega)."""

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


@dataclass(frozen=True)
class Diagonal(ByCoordinate):
    """Coordinates without correlation: u = mu + c * z, params = (mu, c).

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


Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False, kw_only=True)
class ArdDiagonal(Diagonal):
    """The diagonal family for a log joint without the ARD prior of the coordinates at `ard`.

    What it calls entropy is all of the bound but E log g: the entropy of q plus the expected log prior at its
    best variances. So whatever maximises the bound of another family maximises eq. 14 of this one.
    """

    ard: Positions

    def entropy(self, params: Array, xp: Namespace = NUMPY) -> Array:
        of_prior = -0.5 * (xp.np.log(self.prior_variances(params, xp)) + LOG_2PI + 1).sum()
        return super().entropy(params, xp) + of_prior

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """The last terms of DSVI-ARD's updates (Algorithm 2 of the supplement)."""
        gradient = super().entropy_gradient(params, xp)
        shrink, in_c = 1 / self.prior_variances(params, xp), self.dim + self.ard
        of_mean = gradient[self.ard] - shrink * self.mean(params)[self.ard]
        of_c = gradient[in_c] - shrink * self.standard.variance * params[in_c]
        return xp.put(xp.put(gradient, self.ard, of_mean), in_c, of_c)

    def prior_variances(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """The best prior variances (k,) for a q: the second moments c^2 + mu^2."""
        return self.mean(params)[self.ard] ** 2 + self.scales(params, xp)[self.ard] ** 2
