"""A mixture of Gaussians from which annealing sets out."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ppl.inference.fixed_draws import fixed_noise
from ppl.inference.gaussian import Gaussian
from ppl.inference.target import Array


@dataclass(frozen=True)
class Reference:
    """Gaussians over R^dim of equal weight. Shapes: u (n, dim)."""

    parts: tuple[Gaussian, ...]

    @property
    def dim(self) -> int:
        return len(self.parts[0].mean)

    def draws(self, n: int, rng: np.random.Generator) -> Array:
        """n quasi-random points, n a power of two, as many of each Gaussian."""
        z = fixed_noise(n, self.dim, rng)
        own = rng.permutation(n) % len(self.parts)
        each = np.stack([part.draws(z) for part in self.parts])
        return np.asarray(each[own, np.arange(n)])

    def log_density(self, u: Array) -> Array:
        """log of the mean of the densities, (n,)."""
        return np.asarray(logsumexp(self._each(u), axis=0) - np.log(len(self.parts)))

    def score(self, u: Array) -> Array:
        """Gradient of the log density in u, (n, dim)."""
        each = self._each(u)
        shares = np.exp(each - logsumexp(each, axis=0))
        slopes = [part.score(u) for part in self.parts]
        return np.asarray(sum(share[:, None] * slope for share, slope in zip(shares, slopes, strict=True)))

    def _each(self, u: Array) -> Array:
        """log density of each Gaussian at each point, (parts, n)."""
        return np.array([part.log_density(u) for part in self.parts])
