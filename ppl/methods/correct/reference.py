"""A mixture of Gaussians from which a bridge begins, or a Gaussian with the margins of draws."""

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian
from ppl.methods.correct.margins import Margins
from ppl.methods.numerics.fixed_noise import fixed_noise
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.records import dataclass


@dataclass(frozen=True)
class Reference:
    """Gaussians over R^dim of equal weight; those of normal scores where there are `margins`."""

    parts: tuple[Gaussian, ...]
    margins: Margins | None = None

    @property
    def dim(self) -> int:
        return len(self.parts[0].mean)

    def draws(self, n: int, rng: np.random.Generator, sets: int = 1) -> Floats:
        """Independent sets of n quasi-random points each, n a power of two, as many of each Gaussian."""
        z = fixed_noise(n, self.dim, rng, sets)
        own = np.concatenate([rng.permutation(n) for _ in range(sets)]) % len(self.parts)
        each = np.stack([part.draws(z) for part in self.parts])
        drawn = np.asarray(each[own, np.arange(len(z))])
        return self.margins.back(drawn) if self.margins else drawn

    def log_densities(self, u: Floats) -> Floats:
        """The log of the mean of the densities at u (n, dim), (n,)."""
        u, change = self.margins.normal(u) if self.margins else (u, 0.0)
        each = np.array([part.log_densities(u) for part in self.parts])
        return np.asarray(log_sum_exp(each, axis=0) - np.log(len(each)) + change)
