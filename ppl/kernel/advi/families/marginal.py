"""A point in some coordinates or in all, and a Gaussian in the others, for Type-II maximum likelihood."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Array, Namespace
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.location_scale import diagonal
from ppl.kernel.advi.families.standard import NORMAL, Standard
from ppl.kernel.advi.triangular import dense
from ppl.records import dataclass


@dataclass(frozen=True)
class Marginal:
    """u = mu, and mu + L z in the coordinates `at`: params = (mu, lower triangle of L by rows).

    The ELBO bounds the log density with those coordinates integrated out, at mu in the rest; where they are
    Gaussian given the rest it is that log density. The point's entropy and log density count as 0.
    """

    dim: int
    at: tuple[int, ...]
    standard: Standard = NORMAL

    @cached_property
    def inner(self) -> FullRank:
        """The family of the coordinates that are integrated out."""
        return FullRank(len(self.at), self.standard)

    @cached_property
    def _at(self) -> NDArray[np.intp]:
        return np.array(self.at, dtype=np.intp)

    @property
    def size(self) -> int:
        return self.dim + self.inner.size - self.inner.dim

    @property
    def noise_dim(self) -> int:
        return self.inner.dim

    def start(self, mu: Array, scale: float = 1.0) -> Array:
        return np.concatenate([mu, self.inner.start(mu[self._at], scale)[self.inner.dim :]])

    def noise(self, n: int, rng: np.random.Generator) -> Array:
        return self.inner.noise(n, rng)

    def transform(self, params: Array, z: Array, xp: Namespace = NUMPY) -> Array:
        u = xp.np.tile(self.mean(params), (len(z), 1))
        return xp.put(u, (slice(None), self._at), self.inner.transform(self._inside(params, xp), z, xp))

    def pull_back(self, params: Array, z: Array, gradients: Array, xp: Namespace = NUMPY) -> Array:
        inside = self.inner.pull_back(self._inside(params, xp), z, gradients[:, self._at], xp)
        return xp.np.concatenate([gradients.mean(axis=0), inside[self.inner.dim :]])

    def entropy(self, params: Array, xp: Namespace = NUMPY) -> Array:
        return self.inner.entropy(self._inside(params, xp), xp)

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        inside = self.inner.entropy_gradient(self._inside(params, xp), xp)
        return xp.np.concatenate([np.zeros(self.dim), inside[self.inner.dim :]])

    def log_density(self, params: Array, u: Array) -> Array:
        return self.inner.log_density(self._inside(params), u[:, self._at])

    def score(self, params: Array, u: Array) -> Array:
        score = np.zeros_like(u)
        score[:, self._at] = self.inner.score(self._inside(params), u[:, self._at])
        return score

    def params_score(self, params: Array, u: Array) -> Array:
        inside = self.inner.params_score(self._inside(params), u[:, self._at])
        of_mean = np.zeros_like(u)
        of_mean[:, self._at] = inside[:, : self.inner.dim]
        return np.concatenate([of_mean, inside[:, self.inner.dim :]], axis=1)

    def push_forward(self, params: Array, centre: Array, factor: Array) -> Array:
        inside = self.inner.push_forward(self._inside(params), centre[self._at], diagonal(factor)[self._at])
        return np.concatenate([centre + factor * self.mean(params), inside[self.inner.dim :]])

    def mean(self, params: Array) -> Array:
        return params[: self.dim]

    def scales(self, params: Array) -> Array:
        """0 where q is a point."""
        scales = np.zeros(self.dim)
        scales[self._at] = self.inner.scales(self._inside(params))
        return scales

    def covariance(self, params: Array) -> Array:
        covariance = np.zeros((self.dim, self.dim))
        covariance[np.ix_(self._at, self._at)] = self.inner.covariance(self._inside(params))
        return covariance

    def _inside(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """The params of the inner family."""
        return xp.np.concatenate([params[self._at], params[self.dim :]])


@dataclass(frozen=True)
class Point(Marginal):
    """All of q at one point, params = mu, as a search for a mode leaves it.

    No noise, and so no spread. Its entropy and log density count as 0.
    """

    at: tuple[int, ...] = ()

    def log_density(self, params: Array, u: Array) -> Array:
        return np.zeros(len(u))

    def push_forward(self, params: Array, centre: Array, factor: Array) -> Array:
        return centre + dense(factor) @ params
