"""A Gaussian with the moments of a target, from importance-weighted draws of an approximation.

Plain weighted moments have the noise of the draws. Here the draws are control variates for themselves: the
moments of q are known, and only what the weights change of them is estimated (Owen 2013, "Monte Carlo theory,
methods and examples", section 8.9). Where the target is a Gaussian and q is it, there is no noise at all.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ppl.inference.correct.draws import points_with_density
from ppl.inference.correct.population import Worth
from ppl.inference.diagnose.psis import Psis, psis
from ppl.inference.families.family import Family
from ppl.inference.families.full_rank import FullRank
from ppl.inference.numerics.parts import by_rows
from ppl.inference.objective.target import Array, Target


@dataclass(frozen=True)
class MomentLimits:
    """How moments are matched."""

    draws: int = 2000
    """Weighted draws of each q."""

    rounds: int = 2
    """Gaussians that are fitted, one to the draws of the other."""

    most_dimensions: int = 100
    """Dimensions above which q stays as it is: correlations take more draws than there are."""

    fewest_ess: int = 200
    """Effective draws that moments need."""


MOMENTS = MomentLimits()


def matched(
    target: Target, family: Family, params: Array, rng: np.random.Generator
) -> tuple[Family, Array, Worth]:
    """A Gaussian of full rank with the mean and covariance of the target, and what its draws are worth.

    q itself where its draws do not tell these moments, or where it is worth more than the Gaussian.
    """
    found = weighed(target, family, params, rng)
    best: tuple[Family, Array, Worth] = (family, params, worth(found[1]))
    if family.dim > MOMENTS.most_dimensions:
        return best
    for _ in range(MOMENTS.rounds):
        u, weights = found
        if weights.ess < MOMENTS.fewest_ess:
            break
        try:
            params = moved(family, params, u, np.exp(weights.log_weights))
        except np.linalg.LinAlgError:
            break
        family = FullRank(family.dim)
        found = weighed(target, family, params, rng)
        if found[1].ess < best[2].ess:
            break
        best = family, params, worth(found[1])
    return best


def weighed(target: Target, family: Family, params: Array, rng: np.random.Generator) -> tuple[Array, Psis]:
    """Draws of q (n, dim) and their weights."""
    u, log_p, _ = points_with_density(target, family, params, MOMENTS.draws, rng)
    return u, psis(log_p - by_rows(partial(family.log_density, params), u))


def worth(weights: Psis) -> Worth:
    return Worth(len(weights.log_weights), float(weights.khat), float(weights.ess))


def moved(family: Family, params: Array, u: Array, weights: Array) -> Array:
    """Params of the Gaussian with the moments of q, and what weights (n,) of its draws u (n, dim) change.

    Raises LinAlgError where that is no covariance.
    """
    off = u - family.mean(params)
    extra = weights - 1 / len(u)
    shift = extra @ off
    covariance = family.covariance(params) + (off * extra[:, None]).T @ off - np.outer(shift, shift)
    factor = np.asarray(np.linalg.cholesky(covariance), dtype=float)
    return np.asarray(FullRank(family.dim).of(family.mean(params) + shift, factor))
