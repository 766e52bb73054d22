"""Importance sampling from Gaussians, with one more wherever a weight is large, until none is.

Raftery and Bao (2010), "Estimating and projecting trends in HIV/AIDS generalized epidemics using incremental
mixture importance sampling", Biometrics 66, section 3. In few dimensions some draws of wider Gaussians are on
every shoulder of the posterior, where chains that begin at draws of q seldom come.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.gaussian import Gaussian
from ppl.methods.diagnose.mixture_sampling import Proposal, density_of
from ppl.methods.diagnose.psis import WeightedDraws, weighted_draws_of
from ppl.methods.numerics.log_sums import softmax


class IncrementalMixtureLimits(NamedTuple):
    """The Gaussians of the mixture, and how many draws are made of each."""

    most_dimensions: int = 10
    """Dimensions up to which draws of wider Gaussians come upon most of what q misses."""

    draws: int = 4096
    """Draws of q."""

    width: float = 3.0
    """The sd, in those of q, of the Gaussian about its mean that others are drawn from."""

    wide_draws: int = 2048
    """Draws of that."""

    added_draws: int = 512
    """Draws of each Gaussian that is added; it has the moments of as many draws about the heaviest one."""

    added: int = 40
    """Gaussians that are added at most."""

    largest_weight: float = 0.0003
    """The largest share of all weight that a draw has when none is added any more."""

    most_of_one: float = 0.0005
    """The same of a mixture with which draws are resampled: where one has more, some mass may be unseen. With
    0.0008 to 0.0009 the sd of one of two curved coordinates was 12% too small.
    """

    @property
    def most_draws(self) -> int:
        return self.draws + self.wide_draws + self.added * self.added_draws


INCREMENTAL = IncrementalMixtureLimits()


def incremental_mixture(
    scaled: Scaled, others: Sequence[Gaussian], rng: np.random.Generator
) -> WeightedDraws:
    """Draws u (n, dim) of the mixture, weighted; it begins at q, standard here, and at others beside it.

    Draws without a density are left out.
    """

    def drawn(gaussian: Gaussian, n: int) -> Proposal:
        return Proposal.of(gaussian, scaled, rng.standard_normal((n, scaled.dim)))

    limits, zero, one = INCREMENTAL, np.zeros(scaled.dim), np.ones(scaled.dim)
    with np.errstate(all="ignore"):
        batches = [drawn(Gaussian(zero, one), limits.draws)]
        batches += [drawn(Gaussian(zero, limits.width * one), limits.wide_draws)]
        batches += [drawn(each, limits.added_draws) for each in others]
        v, log_p = (np.concatenate(each) for each in zip(*((b.u, b.log_p) for b in batches), strict=True))
        log_g = density_of(batches)(v) + np.log(len(v))  # of the sum of all Gaussians, draw by draw
        for _ in range(limits.added):
            weights = softmax(log_p - log_g)
            if weights.max() < limits.largest_weight:
                break
            gaussian, n = about_heaviest(v, weights), limits.added_draws
            new = drawn(gaussian, n)
            batches.append(new)
            log_g = np.logaddexp(log_g, gaussian.log_densities(v) + np.log(n))
            v, log_p = np.concatenate([v, new.u]), np.concatenate([log_p, new.log_p])
            log_g = np.concatenate([log_g, density_of(batches)(new.u) + np.log(len(v))])
    some = np.isfinite(log_p)
    log_q = log_g[some] - np.log(some.sum())
    log_jacobian = scaled.log_jacobian
    return weighted_draws_of(scaled.to_u(v[some]), log_p[some] - log_jacobian, log_q - log_jacobian)


def about_heaviest(v: Floats, weights: Floats) -> Gaussian:
    """The Gaussian at the point of v (n, dim) with the largest weight that its neighbours are spread as.

    Their weights are the mean of their own and of equal ones, as in the paper. Raises LinAlgError where they
    have no spread.
    """
    centre = v[np.argmax(weights)]
    off = v - centre
    near = np.argpartition((off**2).sum(axis=1), INCREMENTAL.added_draws)[: INCREMENTAL.added_draws]
    shares = weights[near] + 1 / len(v)
    covariance = (off[near] * (shares / shares.sum())[:, None]).T @ off[near]
    return Gaussian.with_covariance(centre, covariance)
