"""The evidence by a bridge to draws of the posterior from a density that is fitted to others of them.

Overstall and Forster (2010), Comput. Stat. Data Anal. 54, for the Gaussians and for keeping the draws of the
fit apart from those of the bridge.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target, finite
from ppl.late import special
from ppl.methods.correct import resampling
from ppl.methods.correct.bridge_sampling import bridge_sampling, effective_size
from ppl.methods.correct.evidence import Estimates, Evidence
from ppl.methods.correct.skewed_gaussian import SkewedGaussian
from ppl.methods.diagnose.psis import WeightedDraws
from ppl.methods.moves.ending import MOVES, Moved
from ppl.methods.moves.funnels import Coordinates, InFunnels
from ppl.methods.moves.metric import CORRELATED_DIMENSIONS, metric_of
from ppl.methods.moves.mixing import TAIL_SDS
from ppl.methods.numerics.fixed_noise import quasi_random
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.methods.numerics.quantiles import median
from ppl.records import dataclass


@dataclass(frozen=True)
class Reference:
    """Densities over R^dim of equal weight."""

    parts: tuple[Gaussian | SkewedGaussian, ...]
    dim: int

    def draws(self, n: int, rng: np.random.Generator, sets: int = 1) -> Floats:
        """Independent sets of n quasi-random points each, n a power of two, as many of each Gaussian."""
        z = quasi_random(n, self.dim, rng, sets)
        own = np.concatenate([rng.permutation(n) for _ in range(sets)]) % len(self.parts)
        each = np.stack([part.draws(z) for part in self.parts])
        return np.asarray(each[own, np.arange(len(z))])

    def log_densities(self, u: Floats) -> Floats:
        """The log of the mean of the densities at u (n, dim), (n,)."""
        each = np.array([part.log_densities(u) for part in self.parts])
        return np.asarray(log_sum_exp(each, axis=0) - np.log(len(each)))


Fit = Callable[[Floats], Gaussian | SkewedGaussian]
"""A density that is fitted to points (n, dim). Raises LinAlgError where they fell together."""

BRIDGE_DRAWS = 2048
"""Draws of the Gaussians that a bridge begins at, at most; a power of two."""
SETS = 16
"""Sets of quasi-random points that these are: their means say how large the error is."""
DRAWS_A_BRIDGE = 4
"""Weighted draws for each of these: a bridge that checks their weights is not to cost what they did."""

UNSETTLED = MOVES.drift / TAIL_SDS
"""The share of the posterior that stationary chains may not have reached, and so an error in nats: as much
of a tail may still change from stage to stage."""

BIAS_OF_MOVES = 0.05
"""How many sds the mean of a statistic of chains may be off, beside its noise, as they mix slowly. Evidence
of 52 sets of chains of 21 posteriors in 2 to 200 dimensions was off by 0.5 errors in the square mean, by 1.1
at most; without it by 0.8 and 1.9, that of one direction by 1.1 and 3.4.
"""

MOST_SKEWED_ERROR = 0.1
"""The standard error, in nats, above which few draws of the reference are among those of chains: the mean of
their chances is skewed, and both directions may be low alike, as once by 0.3 with an error of 0.11. The
largest of the 52 sets was 0.09.
"""

MOST_NARROW = 0.3
"""The standard error, in nats, above which draws of a Gaussian are seldom among those of the posterior."""


def bridges_between_chains(target: Target, moves: Moved, rng: np.random.Generator) -> Estimates | None:
    """By bridges from the draws of every other chain to those of the others, and back.

    From skewed Gaussians at the modes that chains began at. None where there are too few draws to fit one.
    """
    if moves.funnels:
        target, moves = in_funnels(target, moves, moves.funnels)
    second, estimates = moves.chain % 2 == 1, list[Evidence]()
    for ends in (second, ~second):
        start = fitted(moves.u[~ends], moves.mode[~ends], partial(SkewedGaussian.of, target))
        if start is None:
            return None
        of_p = moves.log_p[ends] - start.log_densities(moves.u[ends])
        independent = effective_size(special.expit(median(of_p) - of_p), moves.chain[ends])
        size = 1 / (1 / independent + BIAS_OF_MOVES**2)
        estimate = bridged(target, start, of_p, size, BRIDGE_DRAWS, rng)
        estimates.append(Evidence(estimate.value, float(np.hypot(estimate.se, UNSETTLED))))
    one, other = estimates
    return Estimates(one, other, most=MOST_SKEWED_ERROR)


def in_funnels(target: Target, moves: Moved, funnels: Coordinates) -> tuple[Target, Moved]:
    """The target and draws of chains in the coordinates that these moved in."""
    inside = InFunnels(target, funnels)
    z = inside.inside(moves.u)
    return inside, replace(moves, u=z, log_p=moves.log_p + inside.outside(z)[1])


def of_weighted(
    target: Target, by: Evidence, pool: WeightedDraws, count: int, rng: np.random.Generator
) -> Estimates:
    """By the weights of a pool, and by a bridge to every other of its draws.

    The bridge begins at a Gaussian that is fitted to the others; in many dimensions, where none fits, at the
    others as they are. `count` draws were made, of which those that are not in the pool have no weight.
    """
    weights = pool.weights
    first, second = (np.arange(k, len(pool.u), 2) for k in range(2))
    ends = second[resampling.systematic(weights.log_weights[second], len(second), rng)]
    size = resampling.effective_size(weights.log_weights[second])
    estimates = from_fitted(target, pool, first, ends, size, rng)
    if estimates is None or not estimates.se <= MOST_NARROW:
        log_ratios = pool.log_p - pool.log_q
        of_q = np.append(log_ratios[first], np.full((count - len(pool.u)) // 2, -np.inf))
        estimates = bridge_sampling(log_ratios[ends], of_q, size)
    bounded = weights.alike or weights.light_tail
    return Estimates(by, estimates, -np.inf if bounded else weights.khat)


def from_fitted(
    target: Target,
    pool: WeightedDraws,
    own: NDArray[np.intp],
    ends: NDArray[np.intp],
    size: float,
    rng: np.random.Generator,
) -> Evidence | None:
    """By a bridge from a Gaussian fitted to weighted draws at positions `own` to draws of p at others."""
    if target.dim > CORRELATED_DIMENSIONS:
        return None
    chosen = own[resampling.systematic(pool.weights.log_weights[own], len(own), rng)]
    start = fitted(pool.u[chosen], np.zeros(len(chosen), dtype=np.intp), gaussian_at)
    if start is None:
        return None
    of_p = pool.log_p[ends] - start.log_densities(pool.u[ends])
    most = 1 << (len(pool.u) // DRAWS_A_BRIDGE).bit_length() >> 1
    return bridged(target, start, of_p, size, max(SETS, min(BRIDGE_DRAWS, most)), rng)


def bridged(
    target: Target, start: Reference, of_p: Floats, size: float, count: int, rng: np.random.Generator
) -> Evidence:
    """By `count` draws of the start, and log p - log q at draws of p that are worth so many."""
    u = start.draws(count // SETS, rng, SETS)
    with np.errstate(all="ignore"):
        log_p = finite(target.log_densities(u))
    return bridge_sampling(of_p, log_p - start.log_densities(u), size, SETS)


def gaussian_at(u: Floats) -> Gaussian:
    """The Gaussian with the moments of points u (n, dim)."""
    return Gaussian(u.mean(axis=0), metric_of(u))


def fitted(u: Floats, modes: NDArray[np.intp], fit: Fit) -> Reference | None:
    """Densities that are fitted to points u (n, dim) by mode (n,); None where no mode has enough points."""
    parts, dim = list[Gaussian | SkewedGaussian](), u.shape[1]
    for mode in range(int(modes.max(initial=0)) + 1):
        own = u[modes == mode]
        if len(own) > min(dim, CORRELATED_DIMENSIONS):
            try:
                parts.append(fit(own))
            except np.linalg.LinAlgError:  # they fell together
                continue
    return Reference(tuple(parts), dim) if parts else None
