"""Resampling by weights, and what weighted draws are worth."""

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.methods.numerics.log_sums import log_sum_exp


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
