"""Resampling by weights, and few draws that stand for many: exchanged until they have the moments of all.

A thousand independent draws put a mean 0.03 sd off, and the worst of fifty means 0.1 sd. Of the samples that
resampling could give, one whose means, variances and tails are those of the weighted proposals is taken:
Hajek's rejective sampling (Fuller 2009, Biometrika 96), found by exchanging one draw at a time.
"""

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.methods.numerics.quantiles import quantiles


def effective_size(log_weights: Floats) -> float:
    """The effective number of weighted draws, (sum w)^2 / sum w^2, of logarithms of weights (n,)."""
    return float(np.exp(2 * log_sum_exp(log_weights) - log_sum_exp(2 * log_weights)))


def systematic(log_weights: Floats, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """n positions in proportion to the weights: each as often as expected, rounded up or down.

    Source: Kitagawa (1996), J. Comput. Graph. Stat. 5.
    """
    cumulative = np.cumsum(np.exp(log_weights - log_sum_exp(log_weights)))
    places = (rng.random() + np.arange(n)) / n * cumulative[-1]
    return np.asarray(np.minimum(np.searchsorted(cumulative, places), len(log_weights) - 1))


MOST_EXCHANGES = 300
"""Exchanges of one draw for another."""
OFFERS = 64
"""Exchanges that are offered at a time."""
MOST_IDLE = 2
"""Times in a row that none of these gains, after which others would gain next to nothing."""
OUTER_SHARES = (0.05, 0.95)
"""The shares of draws below the two quantiles that are balanced."""
DRAWS_A_MOMENT = 5
"""Draws for each moment that is balanced: moments are worth their number only where there are many more
draws.
"""


def balanced(u: Floats, log_weights: Floats, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """n positions in u (N, dim), in proportion to the weights (N,), in random order.

    The first exchange that gains is taken, not the best: that would be of the outermost draws, and leave
    tails that differ more than those of independent draws do.
    """
    weights = np.exp(log_weights - log_sum_exp(log_weights))
    chosen = rng.permutation(systematic(log_weights, n, rng))
    moments = _moments(u, weights, chosen, max(1, n // DRAWS_A_MOMENT)) / max(1, n)
    off, cumulative, idle = moments[chosen].sum(axis=0), np.cumsum(weights), 0
    for _ in range(MOST_EXCHANGES if n else 0):
        places = rng.integers(n, size=OFFERS)
        shares = cumulative[-1] * rng.random(OFFERS)
        offered = np.minimum(np.searchsorted(cumulative, shares, side="right"), len(u) - 1)
        change = moments.take(offered, axis=0) - moments.take(chosen[places], axis=0)
        gains = 2 * change @ off + np.einsum("ij,ij->i", change, change) < 0
        first = int(np.argmax(gains))
        if gains[first]:
            off, idle = off + change[first], 0
            chosen[places[first]] = offered[first]
        elif (idle := idle + 1) == MOST_IDLE:
            break
    return chosen


def _moments(u: Floats, weights: Floats, chosen: NDArray[np.intp], most: int) -> Floats:
    """First and second powers of each coordinate and whether it is in a tail, with weighted mean 0 and
    variance 1: (N, at most 4 dim).

    Of more than `most` only those, the first powers before the second. Tails begin where those of the draws
    at positions `chosen` (n,) do.
    """
    first = _standardised(u[:, :most], weights)
    parts = [first, _standardised(first**2, weights)]
    if 2 * u.shape[1] < most and len(chosen):
        low, high = quantiles(u[chosen], OUTER_SHARES)
        parts += [_standardised(tail.astype(float), weights) for tail in (u < low, u > high)]
    return np.concatenate(parts, axis=1)[:, :most]


def _standardised(x: Floats, weights: Floats) -> Floats:
    off = x - weights @ x
    sd = np.sqrt(weights @ off**2)
    return np.divide(off, sd, out=np.zeros_like(off), where=sd > 0)
