"""Mixtures of Student's t, fitted to weighted draws of the outer coordinates.

Cappe, Douc, Guillin, Marin and Robert (2008), "Adaptive importance sampling in general mixture classes",
Statistics and Computing 18, section 4, by steps of EM.  One wide component is always there, as a defence
against thin tails (Hesterberg 1995, Technometrics 37).
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian
from ppl.late import special
from ppl.methods.correct.resampling import systematic
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.records import dataclass


class StudentTLimits(NamedTuple):
    """How mixtures are fitted."""

    components: int = 8
    """Components that are fitted."""

    degrees: float = 4.0
    """Degrees of freedom of each."""

    em_steps: int = 20
    """Steps of EM in a round."""

    defensive_share: float = 0.1
    """The share of the wide component."""

    defensive_width: float = 2.0
    """How many times as wide as all draws that is, about their mean."""

    prior_draws: float = 10.0
    """Draws that the covariance of all is worth in that of a component, which cannot fall together."""


STUDENT_TS = StudentTLimits()


@dataclass(frozen=True)
class StudentTs:
    """A mixture of Student's t over R^dim: shares (k,), and by component a place and a scale."""

    shares: Floats
    parts: tuple[Gaussian, ...]
    degrees: float = STUDENT_TS.degrees

    @property
    def dim(self) -> int:
        return len(self.parts[0].mean)

    @property
    def undefended(self) -> "StudentTs":
        """Without the last component, which is wide as a defence."""
        shares = self.shares[:-1] / self.shares[:-1].sum()
        return StudentTs(shares, self.parts[:-1], self.degrees)

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """n points (n, dim), of each component in proportion to its share."""
        own = systematic(np.log(self.shares), n, rng)
        z = rng.standard_normal((n, self.dim))
        z /= np.sqrt(rng.chisquare(self.degrees, n) / self.degrees)[:, None]
        u = np.empty((n, self.dim))
        for k, part in enumerate(self.parts):
            u[own == k] = part.draws(z[own == k])
        return u

    def log_density(self, u: Floats) -> Floats:
        """(n,) at u (n, dim)."""
        return np.asarray(log_sum_exp(self.terms(u), axis=0))

    def terms(self, u: Floats) -> Floats:
        """The log of each component's share of the density (k, n) at u (n, dim)."""
        power = (self.degrees + self.dim) / 2
        lengths = self.lengths(u) / self.degrees
        return np.asarray((np.log(self.shares) + self.log_constants)[:, None] - power * np.log1p(lengths))

    def lengths(self, u: Floats) -> Floats:
        """The squared distance of u (n, dim) from each place, in its scale; (k, n)."""
        return np.array([((u - p.mean) @ p.whitening.T) ** 2 @ np.ones(self.dim) for p in self.parts])

    @cached_property
    def log_constants(self) -> Floats:
        whole = special.gammaln((self.degrees + self.dim) / 2) - special.gammaln(self.degrees / 2)
        whole -= self.dim / 2 * np.log(self.degrees * np.pi)
        return np.array([whole - part.half_log_det for part in self.parts])


def fitted(u: Floats, log_weights: Floats, rng: np.random.Generator) -> StudentTs:
    """The mixture that draws u (n, dim) are likeliest of, by weights (n,) that sum to one."""
    weights = np.exp(log_weights)
    mean, covariance = moments(u, weights)
    k = STUDENT_TS.components
    places = u[systematic(log_weights, k, rng)]
    start = tuple(Gaussian.with_covariance(place, covariance) for place in places)
    mixture = StudentTs(np.full(k, 1 / k), start)
    for _ in range(STUDENT_TS.em_steps):
        mixture = em_step(mixture, u, weights, covariance)
    wide = Gaussian.with_covariance(mean, STUDENT_TS.defensive_width**2 * covariance)
    shares = np.append((1 - STUDENT_TS.defensive_share) * mixture.shares, STUDENT_TS.defensive_share)
    return StudentTs(shares, (*mixture.parts, wide))


def em_step(mixture: StudentTs, u: Floats, weights: Floats, covariance: Floats) -> StudentTs:
    """One step of EM (Peel and McLachlan 2000, equations 29 to 31), with a prior for the scales."""
    terms = mixture.terms(u)
    own = weights * np.exp(terms - log_sum_exp(terms, axis=0))
    near = own * (mixture.degrees + mixture.dim) / (mixture.degrees + mixture.lengths(u))
    shares, prior = own.sum(axis=1), STUDENT_TS.prior_draws * (weights**2).sum()
    parts = []
    for mine, share, part in zip(near, shares, mixture.parts, strict=True):
        place = mine @ u / mine.sum() if mine.sum() > 0 else part.mean
        off = u - place
        scale = ((off * mine[:, None]).T @ off + prior * covariance) / (share + prior)
        parts.append(Gaussian.with_covariance(place, scale))
    least = np.maximum(shares, np.finfo(float).tiny)
    return StudentTs(least / least.sum(), tuple(parts), mixture.degrees)


def moments(u: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean (dim,) and covariance (dim, dim) of weighted draws."""
    mean = weights @ u
    off = u - mean
    return mean, np.asarray((off * weights[:, None]).T @ off)
