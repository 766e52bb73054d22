"""The score-function gradient: it needs no gradient of the log density, and is noisy for that."""

import numpy as np

from ppl.kernel.advi.estimators.estimate import Estimate
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.finite_draws import draws_with_density
from ppl.kernel.advi.target import Array, Target

PILOT_DRAWS = 20
"""Draws that the scales of the control variates are estimated from."""


def score_function(
    target: Target, family: Family, params: Array, n: int, rng: np.random.Generator
) -> Estimate:
    """Average log p(u) times the score of q in params; the entropy is in closed form (Paisley eq. 6)."""
    draws = draws_with_density(target, family, params, n, rng)
    noisy = draws.log_density @ family.params_score(params, draws.u) / n
    gradient = noisy + family.entropy_gradient(params)
    return Estimate(gradient, float(draws.log_density.mean()), draws.dropped)


def black_box(target: Target, family: Family, params: Array, n: int, rng: np.random.Generator) -> Estimate:
    """BBVI's gradient with the score itself as control variate (Ranganath, Gerrish and Blei 2014, eq. 9-12).

    The scales a* of the control variate, one an entry of params, are estimated from pilot draws of their own,
    which keeps the gradient unbiased. At q = p it has no noise.
    """
    pilot = draws_with_density(target, family, params, PILOT_DRAWS, rng)
    a = _best_scales(*_excess_and_score(family, params, pilot.u, pilot.log_density))
    draws = draws_with_density(target, family, params, n, rng)
    excess, score = _excess_and_score(family, params, draws.u, draws.log_density)
    gradient = ((excess[:, None] - a) * score).mean(axis=0)
    return Estimate(gradient, float(draws.log_density.mean()), pilot.dropped + draws.dropped)


def _excess_and_score(family: Family, params: Array, u: Array, log_density: Array) -> tuple[Array, Array]:
    """log p - log q (n,), and the score of q in params (n, size)."""
    return log_density - family.log_density(params, u), family.params_score(params, u)


def _best_scales(excess: Array, score: Array) -> Array:
    """a* = Cov(excess * score, score) / Var(score) of each entry of params; 0 where the score is constant."""
    centred = score - score.mean(axis=0)
    covariance = (excess[:, None] * score * centred).sum(axis=0)
    variance = (centred**2).sum(axis=0)
    return np.asarray(np.divide(covariance, variance, out=np.zeros_like(variance), where=variance > 0))
