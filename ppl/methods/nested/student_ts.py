"""Mixtures of Student's t over the outer coordinates, about one place, or over scores of each coordinate.

The logarithm of a scale has a long tail towards zero, and a loading or a correlation is skewed: their scores
are about normal. Wide components are always there, as a defence against thin tails (Hesterberg 1995,
Technometrics 37).
"""

from functools import cached_property

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian
from ppl.late import special
from ppl.methods.correct.resampling import systematic
from ppl.methods.correct.sinh_arcsinh import SinhArcsinh
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.records import dataclass, replace

WIDER = 4.0
"""How many times as wide the components for the tails are, along all coordinates or one."""


@dataclass(frozen=True)
class StudentTs:
    """A mixture of Student's t over R^dim about a Gaussian: one `scale` times as wide, and others for the
    tails, which share `defence` of the draws: one much wider, next to none of whose draws count where
    coordinates are many, and one as wide along each coordinate, with what is correlated with it.

    It is of the scores by `margins`, or of the coordinates themselves.
    """

    gaussian: Gaussian
    degrees: float
    scale: float = 1.0
    defence: float = 0.0
    margins: SinhArcsinh | None = None

    @property
    def dim(self) -> int:
        return len(self.gaussian.mean)

    @property
    def undefended(self) -> "StudentTs":
        """The first component, without those that are wide as a defence."""
        return replace(self, defence=0.0)

    @cached_property
    def shares(self) -> Floats:
        """Of each component."""
        others = self.dim + 1 if self.defence else 0
        return np.array([1 - self.defence, *[self.defence / (self.dim + 1)] * others])

    @cached_property
    def covariance(self) -> Floats:
        return self.gaussian.factor @ self.gaussian.factor.T

    def part(self, k: int) -> Gaussian:
        """The Gaussian of component k."""
        if k < 2:
            return replace(self.gaussian, factor=(self.scale, WIDER)[k] * self.gaussian.factor)
        along = self.covariance[:, k - 2] / np.sqrt(self.covariance[k - 2, k - 2])
        more = (WIDER**2 - 1) * np.outer(along, along)
        return Gaussian.with_covariance(self.gaussian.mean, self.covariance + more)

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """n points (n, dim), of each component in proportion to its share."""
        own = systematic(np.log(self.shares), n, rng)
        z = rng.standard_normal((n, self.dim))
        z /= np.sqrt(rng.chisquare(self.degrees, n) / self.degrees)[:, None]
        u = np.empty((n, self.dim))
        for k in range(len(self.shares)):
            u[own == k] = self.part(k).draws(z[own == k])
        return self.margins.back(u) if self.margins else u

    def log_density(self, u: Floats) -> Floats:
        """(n,) at u (n, dim)."""
        power = (self.degrees + self.dim) / 2
        u, change = self.margins.normal(u) if self.margins else (u, np.zeros(len(u)))
        lengths = self.lengths(u) / self.degrees
        terms = (np.log(self.shares) + self.log_constants)[:, None] - power * np.log1p(lengths)
        return np.asarray(log_sum_exp(terms, axis=0) + change)

    def lengths(self, u: Floats) -> Floats:
        """The squared distance of scores u (n, dim) from the place, in the scale of each component; (k, n).

        Along a coordinate a component differs from the Gaussian by rank one (Sherman and Morrison).
        """
        off = u - self.gaussian.mean
        whole = (off @ self.gaussian.whitening.T) ** 2 @ np.ones(self.dim)
        own = whole / self.scale**2
        if not self.defence:
            return own[None]
        along = (1 - 1 / WIDER**2) * off.T**2 / np.diag(self.covariance)[:, None]
        return np.concatenate([own[None], whole[None] / WIDER**2, whole - along])

    @cached_property
    def log_constants(self) -> Floats:
        whole = special.gammaln((self.degrees + self.dim) / 2) - special.gammaln(self.degrees / 2)
        whole -= self.dim / 2 * np.log(self.degrees * np.pi) + self.gaussian.half_log_det
        changes = [self.dim * np.log(self.scale), self.dim * np.log(WIDER), *[np.log(WIDER)] * self.dim]
        return np.asarray(whole - changes[: len(self.shares)])


def moments(u: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean (dim,) and covariance (dim, dim) of weighted draws."""
    mean = weights @ u
    off = u - mean
    return mean, np.asarray((off * weights[:, None]).T @ off)
