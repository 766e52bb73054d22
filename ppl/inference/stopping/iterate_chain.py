"""The iterates of a constant step size as a Markov chain: R-hat and Monte Carlo error.

Dhaka et al. (2020), "Robust, accurate stochastic optimization for variational inference", section 3.
"""

import numpy as np

from ppl.inference.objective.target import Array


def split_rhat(iterates: Array) -> Array:
    """R-hat (size,) of the two halves of a path (n, size), n >= 4: near 1 when both see the same place.

    An entry that never moves has R-hat 1, one that sits still in each half at another place infinity.
    """
    half = len(iterates) // 2
    halves = np.stack([iterates[-2 * half : -half], iterates[-half:]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    still = (within == 0) & (between == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rhat: Array = np.sqrt((half - 1) / half + between / within)
    return np.where(still, 1.0, rhat)


def mcse(iterates: Array) -> Array:
    """Standard error (size,) of the mean of a correlated path (n, size), from about sqrt(n) batches."""
    n_batches = max(2, int(len(iterates) ** 0.5))
    length = len(iterates) // n_batches
    batches = iterates[-n_batches * length :].reshape(n_batches, length, -1).mean(axis=1)
    error: Array = batches.std(axis=0, ddof=1) / n_batches**0.5
    return error
