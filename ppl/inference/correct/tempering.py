"""How far a step of annealing may go, and who goes on from there.

Del Moral, Doucet and Jasra (2006), "Sequential Monte Carlo samplers", JRSS B 68; the temperature is chosen by
the effective sample size as in Jasra, Stephens, Doucet and Tsagaris (2011), Scand. J. Stat. 38.
"""

import numpy as np
from numpy.typing import NDArray

from ppl.inference.objective.target import Array
from ppl.late import special

TEMPERATURE_HALVINGS = 40
"""Halvings of the interval that has the next temperature: to 1e-12 of it."""


def effective_size(log_weights: Array) -> float:
    """What weighted draws are worth: (sum w)^2 / sum w^2 of the weights whose logarithms are given, (n,)."""
    return float(np.exp(2 * special.logsumexp(log_weights) - special.logsumexp(2 * log_weights)))


def next_temperature(log_ratios: Array, beta: float, share: float) -> float:
    """The largest power above `beta`, at most 1, at which the draws are worth `share` of their number.

    The draws follow q^(1-beta) p^beta, and `log_ratios` (n,) are log p - log q there; -inf where p is 0.
    """
    least = share * len(log_ratios)
    if effective_size((1 - beta) * log_ratios) >= least:
        return 1.0
    low, high = beta, 1.0
    for _ in range(TEMPERATURE_HALVINGS):
        middle = (low + high) / 2
        enough = effective_size((middle - beta) * log_ratios) >= least
        low, high = (middle, high) if enough else (low, middle)
    return high if low == beta else low


def systematic(log_weights: Array, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """n positions in proportion to the weights: each as often as expected, rounded up or down.

    Source: Kitagawa (1996), J. Comput. Graph. Stat. 5.
    """
    cumulative = np.cumsum(np.exp(log_weights - special.logsumexp(log_weights)))
    places = (rng.random() + np.arange(n)) / n * cumulative[-1]
    return np.asarray(np.minimum(np.searchsorted(cumulative, places), len(log_weights) - 1))
