"""The ELBO by Monte Carlo, with its standard error."""

from typing import NamedTuple

import numpy as np

from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.finite_draws import draws_with_density
from ppl.kernel.advi.target import Array, Target


class Elbo(NamedTuple):
    """An estimate of the ELBO in nats, its standard error (nan for one draw), draws that were dropped."""

    value: float
    se: float
    dropped: int


def estimate_elbo(target: Target, family: Family, params: Array, n: int, rng: np.random.Generator) -> Elbo:
    """Estimate the ELBO of q from n fresh draws: mean log density plus entropy (ADVI eq. 5)."""
    draws = draws_with_density(target, family, params, n, rng)
    return elbo_of(draws.log_density, family.entropy(params), draws.dropped)


def elbo_by_ratios(target: Target, family: Family, params: Array, n: int, rng: np.random.Generator) -> Elbo:
    """The same from log(p/q) at the draws, which differs less from draw to draw where q is near p."""
    draws = draws_with_density(target, family, params, n, rng)
    return elbo_of(draws.log_density - family.log_density(params, draws.u), 0.0, draws.dropped)


def elbo_of(terms: Array, entropy: float, dropped: int) -> Elbo:
    """The ELBO from log densities at draws of q (n,) and the entropy of q.

    Or from log(p/q), without an entropy: these differ less from draw to draw, where q is near p.
    """
    n = len(terms)
    se = float(np.std(terms, ddof=1)) / n**0.5 if n > 1 else float("nan")
    return Elbo(float(np.mean(terms) + entropy), se, dropped)
