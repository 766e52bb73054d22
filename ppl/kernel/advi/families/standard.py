"""Standard distributions phi: the noise that a family shifts and scales (DSVI section 2.1).

Each is symmetric about zero in every coordinate, with uncorrelated coordinates of one variance.
"""

from collections.abc import Callable
from math import inf, pi
from typing import Protocol

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.gaussian import LOG_2PI
from ppl.late import special
from ppl.records import dataclass

LOG_2 = float(np.log(2))
"""The logarithm of 2."""


class Standard(Protocol):
    """A distribution over R^dim without parameters of place or scale. Shapes: z (n, dim)."""

    @property
    def variance(self) -> float:
        """Of each coordinate."""

    def noise(self, n: int, dim: int, rng: np.random.Generator) -> Floats:
        """n draws, (n, dim)."""

    def log_density(self, z: Floats) -> Floats:
        """log phi(z), (n,), with every constant."""

    def score(self, z: Floats) -> Floats:
        """Gradient of log phi(z) in z, (n, dim)."""

    def entropy(self, dim: int) -> float:
        """In nats: the H_phi of DSVI eq. 4."""


class Elliptical(Standard, Protocol):
    """A density of |z|^2 alone: any linear map of the noise is as easy as one."""

    def log_density(self, z: Floats) -> Floats:
        return self.log_density_at((z**2).sum(axis=1), z.shape[1])

    def score(self, z: Floats) -> Floats:
        return -self.weight((z**2).sum(axis=1), z.shape[1])[:, None] * z

    def log_density_at(self, square: Floats, dim: int) -> Floats:
        """log phi where |z|^2 is `square` (n,)."""

    def weight(self, square: Floats, dim: int) -> Floats:
        """w (n,) such that the score is -w z where |z|^2 is `square` (n,)."""


@dataclass(frozen=True)
class Normal(Elliptical):
    """The standard normal."""

    variance = 1.0

    def noise(self, n: int, dim: int, rng: np.random.Generator) -> Floats:
        return rng.standard_normal((n, dim))

    def score(self, z: Floats) -> Floats:
        return -z

    def entropy(self, dim: int) -> float:
        return 0.5 * dim * (1 + LOG_2PI)

    def log_density_at(self, square: Floats, dim: int) -> Floats:
        return -0.5 * square - 0.5 * dim * LOG_2PI

    def weight(self, square: Floats, dim: int) -> Floats:
        return np.ones_like(square)


NORMAL = Normal()


@dataclass(frozen=True)
class StudentT(Elliptical):
    """The multivariate t with nu > 2 degrees of freedom: tails heavier than the normal's, and no correlation.

    Its coordinates share one scale of tail, so they depend on each other even in a mean-field family.
    """

    nu: float = 5.0

    def __post_init__(self) -> None:
        if not 2 < self.nu < inf:
            raise InferenceError(f"nu = {self.nu!r} is out of range; expected a number above 2.")

    @property
    def variance(self) -> float:
        return self.nu / (self.nu - 2)

    def noise(self, n: int, dim: int, rng: np.random.Generator) -> Floats:
        scale: Floats = np.sqrt(self.nu / rng.chisquare(self.nu, size=(n, 1)))
        return rng.standard_normal((n, dim)) * scale

    def entropy(self, dim: int) -> float:
        half = (self.nu + dim) / 2
        return float(half * (special.psi(half) - special.psi(self.nu / 2))) - self._log_constant(dim)

    def log_density_at(self, square: Floats, dim: int) -> Floats:
        return np.asarray(self._log_constant(dim) - (self.nu + dim) / 2 * np.log1p(square / self.nu))

    def weight(self, square: Floats, dim: int) -> Floats:
        return (self.nu + dim) / (self.nu + square)

    def _log_constant(self, dim: int) -> float:
        log_gammas = special.gammaln((self.nu + dim) / 2) - special.gammaln(self.nu / 2)
        return float(log_gammas - 0.5 * dim * np.log(self.nu * np.pi))


@dataclass(frozen=True)
class Logistic:
    """Independent standard logistics."""

    variance = pi**2 / 3

    def noise(self, n: int, dim: int, rng: np.random.Generator) -> Floats:
        return rng.logistic(size=(n, dim))

    def log_density(self, z: Floats) -> Floats:
        # Written in |z|, exp(-z) cannot overflow; the density is even.
        size = np.abs(z)
        return -(size + 2 * np.log1p(np.exp(-size))).sum(axis=1)

    def score(self, z: Floats) -> Floats:
        return -np.tanh(z / 2)

    def entropy(self, dim: int) -> float:
        return 2.0 * dim


@dataclass(frozen=True)
class Laplace:
    """Independent standard Laplace (double exponential) coordinates."""

    variance = 2.0

    def noise(self, n: int, dim: int, rng: np.random.Generator) -> Floats:
        return rng.laplace(size=(n, dim))

    def log_density(self, z: Floats) -> Floats:
        return np.asarray(-np.abs(z).sum(axis=1) - z.shape[1] * LOG_2)

    def score(self, z: Floats) -> Floats:
        return -np.sign(z)

    def entropy(self, dim: int) -> float:
        return dim * (1 + LOG_2)


STANDARDS: dict[str, Callable[[], Standard]] = {
    "normal": Normal,
    "student_t": StudentT,
    "logistic": Logistic,
    "laplace": Laplace,
}
