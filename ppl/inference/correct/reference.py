"""A mixture of Gaussians from which annealing sets out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppl.inference.numerics.gaussian import Gaussian
from ppl.inference.objective.target import Array
from ppl.inference.refine.fixed_draws import fixed_noise
from ppl.late import special


@dataclass(frozen=True)
class Reference:
    """Gaussians over R^dim of equal weight, the first `modes` of them at modes. Shapes: u (n, dim)."""

    parts: tuple[Gaussian, ...]
    modes: int = 1

    @property
    def dim(self) -> int:
        return len(self.parts[0].mean)

    def draws(self, n: int, rng: np.random.Generator) -> Array:
        """n quasi-random points, n a power of two, as many of each Gaussian."""
        z = fixed_noise(n, self.dim, rng)
        own = rng.permutation(n) % len(self.parts)
        each = np.stack([part.draws(z) for part in self.parts])
        return np.asarray(each[own, np.arange(n)])

    def widened(self, factor: float) -> "Reference":
        """The same means, every sd so many times as large."""
        return Reference(tuple(Gaussian(part.mean, factor * part.factor) for part in self.parts), self.modes)

    def nearest(self, u: Array) -> NDArray[np.intp]:
        """Which of the modes' Gaussians has most density at u (n, dim); (n,)."""
        each = [part.log_densities(u) for part in self.parts[: self.modes]]
        return np.asarray(np.argmax(each, axis=0))

    def rescaled(self, inverse: Array) -> "Reference":
        """The same over x = inverse u, for a lower-triangular matrix (dim, dim)."""
        return Reference(tuple(part.rescaled(inverse) for part in self.parts), self.modes)

    def log_densities(self, u: Array) -> Array:
        """The log of the mean of the densities at u (n, dim), (n,)."""
        each = np.array([part.log_densities(u) for part in self.parts])
        return np.asarray(special.logsumexp(each, axis=0) - np.log(len(each)))

    def log_density_gradients(self, u: Array) -> tuple[Array, Array]:
        """The log of the mean of the densities (n,), and its gradient in u (n, dim)."""
        each = [part.log_density_gradients(u) for part in self.parts]
        if len(each) == 1:
            return each[0]
        values = np.array([value for value, _ in each])
        total = special.logsumexp(values, axis=0)
        shares = np.exp(values - total)
        slope = np.einsum("kn,knd->nd", shares, np.array([slope for _, slope in each]))
        return np.asarray(total - np.log(len(each))), slope
