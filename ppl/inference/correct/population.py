"""Draws weighted anew, of a mixture that is fitted to weighted draws: population Monte Carlo.

Cappe, Douc, Guillin, Marin and Robert (2008), "Adaptive importance sampling in general mixture classes",
Statistics and Computing 18, section 4: the components are Student's t, and each round fits them to the
weighted draws of the last by steps of EM.  One wide component is always there, as a defence against thin
tails (Hesterberg 1995, Technometrics 37).  Draws that are kept are of a mixture that was fitted to others.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ppl.inference.correct.tempering import systematic
from ppl.inference.diagnose.psis import Psis, WeightedDraws, weighted_draws_of
from ppl.inference.numerics.gaussian import Gaussian
from ppl.inference.objective.target import Array, Target, finite, log_densities
from ppl.inference.run.phases import Phase
from ppl.inference.run.progress import Listener, Progress, silent
from ppl.late import special


class PopulationLimits(NamedTuple):
    """How mixtures are fitted, and when draws of one will do."""

    most_dimensions: int = 10
    """Dimensions above which components would need more draws than there are."""

    components: int = 8
    """Components that are fitted."""

    degrees: float = 4.0
    """Degrees of freedom of each."""

    rounds: int = 4
    """Mixtures that are tried, one fitted to the draws of the other."""

    em_steps: int = 20
    """Steps of EM in a round."""

    defensive_share: float = 0.1
    """The share of the wide component."""

    defensive_width: float = 2.0
    """How many times as wide as all draws that is, about their mean."""

    fewest_start_ess: int = 100
    """Effective weighted draws that the first mixture needs to be fitted to."""

    prior_draws: float = 10.0
    """Draws that the covariance of all is worth in that of a component, which cannot fall together."""

    good_khat: float = 0.5
    """The k-hat below which weights have a variance."""

    good_share: float = 0.5
    """The effective share of the draws that will do; in few dimensions a mixture that fits has more."""


POPULATION = PopulationLimits()


@dataclass(frozen=True)
class StudentTs:
    """A mixture of Student's t over R^dim: shares (k,), and by component a place and a scale."""

    shares: Array
    parts: tuple[Gaussian, ...]
    degrees: float = POPULATION.degrees

    @property
    def dim(self) -> int:
        return len(self.parts[0].mean)

    @property
    def undefended(self) -> "StudentTs":
        """Without the last component, which is wide as a defence."""
        shares = self.shares[:-1] / self.shares[:-1].sum()
        return StudentTs(shares, self.parts[:-1], self.degrees)

    def draws(self, n: int, rng: np.random.Generator) -> Array:
        """n points (n, dim), of each component in proportion to its share."""
        own = systematic(np.log(self.shares), n, rng)
        z = rng.standard_normal((n, self.dim))
        z /= np.sqrt(rng.chisquare(self.degrees, n) / self.degrees)[:, None]
        u = np.empty((n, self.dim))
        for k, part in enumerate(self.parts):
            u[own == k] = part.draws(z[own == k])
        return u

    def log_density(self, u: Array) -> Array:
        """(n,) at u (n, dim)."""
        return np.asarray(special.logsumexp(self.terms(u), axis=0))

    def terms(self, u: Array) -> Array:
        """The log of each component's share of the density (k, n) at u (n, dim)."""
        power = (self.degrees + self.dim) / 2
        lengths = self.lengths(u) / self.degrees
        return np.asarray((np.log(self.shares) + self.log_constants)[:, None] - power * np.log1p(lengths))

    def lengths(self, u: Array) -> Array:
        """The squared distance of u (n, dim) from each place, in its scale; (k, n)."""
        return np.array([((u - p.mean) @ p.whitening.T) ** 2 @ np.ones(self.dim) for p in self.parts])

    @cached_property
    def log_constants(self) -> Array:
        whole = special.gammaln((self.degrees + self.dim) / 2) - special.gammaln(self.degrees / 2)
        whole -= self.dim / 2 * np.log(self.degrees * np.pi)
        return np.array([whole - part.half_log_det for part in self.parts])


class WeightQuality(NamedTuple):
    """The weights of n draws: the Pareto shape of their tail, and their effective sample size."""

    n: int
    khat: float
    ess: float


def population(
    target: Target, u: Array, weights: Psis, n: int, rng: np.random.Generator, listen: Listener = silent
) -> tuple[WeightedDraws, StudentTs] | None:
    """n draws of a mixture whose weights are good, and this, first fitted to weighted draws u (m, dim).

    None where no round has such weights.
    """
    if u.shape[1] > POPULATION.most_dimensions:
        return None
    try:
        for k in range(POPULATION.rounds):
            if not weights.ess >= POPULATION.fewest_start_ess:
                break
            listen(Progress(Phase.POPULATION, k, POPULATION.rounds))
            mixture = fitted(u, weights.log_weights, rng)
            u = mixture.draws(n, rng)
            found = weighted_draws_of(u, finite(log_densities(target, u)), mixture.log_density(u))
            weights = found.weights
            if is_good(weights):
                return found, mixture
    except np.linalg.LinAlgError:  # the draws of a component fell together
        pass
    return None


def is_good(weights: Psis) -> bool:
    """Whether weights have a variance, and most draws count."""
    return weights.khat < POPULATION.good_khat and most_count(weights)


def is_light(weights: Psis) -> bool:
    """Whether resampling by weights is beyond doubt: they have a variance, or most draws count."""
    return weights.khat < POPULATION.good_khat or most_count(weights)


def is_reliable(weights: Psis) -> bool:
    """Whether they have a variance, or most draws count and so many tell their tail, or have next to none.

    The last is for draws of Student's t, whose own tails bound the weights: what a verdict asks.
    """
    if weights.khat < POPULATION.good_khat:
        return True
    return most_count(weights) and (weights.reliable or weights.light_tail)


def most_count(weights: Psis) -> bool:
    return weights.ess >= POPULATION.good_share * len(weights.log_weights)


def fitted(u: Array, log_weights: Array, rng: np.random.Generator) -> StudentTs:
    """The mixture that draws u (n, dim) are likeliest of, by weights (n,) that sum to one."""
    weights = np.exp(log_weights)
    mean, covariance = moments(u, weights)
    k = POPULATION.components
    places = u[systematic(log_weights, k, rng)]
    start = tuple(Gaussian.with_covariance(place, covariance) for place in places)
    mixture = StudentTs(np.full(k, 1 / k), start)
    for _ in range(POPULATION.em_steps):
        mixture = em_step(mixture, u, weights, covariance)
    wide = Gaussian.with_covariance(mean, POPULATION.defensive_width**2 * covariance)
    shares = np.append((1 - POPULATION.defensive_share) * mixture.shares, POPULATION.defensive_share)
    return StudentTs(shares, (*mixture.parts, wide))


def em_step(mixture: StudentTs, u: Array, weights: Array, covariance: Array) -> StudentTs:
    """One step of EM (Peel and McLachlan 2000, equations 29 to 31), with a prior for the scales."""
    terms = mixture.terms(u)
    own = weights * np.exp(terms - special.logsumexp(terms, axis=0))
    near = own * (mixture.degrees + mixture.dim) / (mixture.degrees + mixture.lengths(u))
    shares, prior = own.sum(axis=1), POPULATION.prior_draws * (weights**2).sum()
    parts = []
    for mine, share, part in zip(near, shares, mixture.parts, strict=True):
        place = mine @ u / mine.sum() if mine.sum() > 0 else part.mean
        off = u - place
        scale = ((off * mine[:, None]).T @ off + prior * covariance) / (share + prior)
        parts.append(Gaussian.with_covariance(place, scale))
    least = np.maximum(shares, np.finfo(float).tiny)
    return StudentTs(least / least.sum(), tuple(parts), mixture.degrees)


def moments(u: Array, weights: Array) -> tuple[Array, Array]:
    """Mean (dim,) and covariance (dim, dim) of weighted draws."""
    mean = weights @ u
    off = u - mean
    return mean, np.asarray((off * weights[:, None]).T @ off)
