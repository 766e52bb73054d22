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


@dataclass(frozen=True)
class StudentTs:
    """A mixture of Student's t over R^dim: shares (k,), and by component a place and a scale.

    It is of the scores by `margins`, or of the coordinates themselves.
    """

    shares: Floats
    parts: tuple[Gaussian, ...]
    degrees: float
    margins: SinhArcsinh | None = None

    @property
    def dim(self) -> int:
        return len(self.parts[0].mean)

    @property
    def undefended(self) -> "StudentTs":
        """The first component, without those that are wide as a defence."""
        return replace(self, shares=np.ones(1), parts=self.parts[:1])

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """n points (n, dim), of each component in proportion to its share."""
        own = systematic(np.log(self.shares), n, rng)
        z = rng.standard_normal((n, self.dim))
        z /= np.sqrt(rng.chisquare(self.degrees, n) / self.degrees)[:, None]
        u = np.empty((n, self.dim))
        for k, part in enumerate(self.parts):
            u[own == k] = part.draws(z[own == k])
        return self.margins.back(u) if self.margins else u

    def log_density(self, u: Floats) -> Floats:
        """(n,) at u (n, dim)."""
        power = (self.degrees + self.dim) / 2
        u, change = self.margins.normal(u) if self.margins else (u, np.zeros(len(u)))
        lengths = self.lengths(u) / self.degrees
        terms = (np.log(self.shares) + self.log_constants)[:, None] - power * np.log1p(lengths)
        return np.asarray(log_sum_exp(terms, axis=0) + change)

    def lengths(self, u: Floats) -> Floats:
        """The squared distance of scores u (n, dim) from each place, in its scale; (k, n)."""
        return np.array([((u - p.mean) @ p.whitening.T) ** 2 @ np.ones(self.dim) for p in self.parts])

    @cached_property
    def log_constants(self) -> Floats:
        whole = special.gammaln((self.degrees + self.dim) / 2) - special.gammaln(self.degrees / 2)
        whole -= self.dim / 2 * np.log(self.degrees * np.pi)
        return np.array([whole - part.half_log_det for part in self.parts])


def moments(u: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean (dim,) and covariance (dim, dim) of weighted draws."""
    mean = weights @ u
    off = u - mean
    return mean, np.asarray((off * weights[:, None]).T @ off)
