"""The ratio of two integrals by bridge sampling: from draws of p and of q, and log p - log q at both.

Meng and Wong (1996), Statistica Sinica 6, with effective numbers of draws in the optimal bridge, as Gronau et
al. (2017), "A tutorial on bridge sampling". Neither p/q nor q/p has to be bounded: the bridge is.
"""

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.late import special
from ppl.methods.correct.evidence import Evidence
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.methods.numerics.quantiles import median

MOST_NEWTON_STEPS = 100
"""Newton steps to the log ratio, halvings of its interval among them: to rounding."""
LAST_STEP = 1e-12
"""A step after which the log ratio is known to rounding."""
NO_CHANCE = 40.0
"""Log odds at which a chance is 0 or 1 to rounding."""


def bridge_sampling(of_p: Floats, of_q: Floats, size_p: float, sets: int | None = None) -> Evidence:
    """The log of the integral of p over that of q, from log p - log q at draws of p (n,) and of q (m,).

    Those of p are worth `size_p` independent ones. Those of q are independent, or so many sets of
    quasi-random points, one after the other, which are independent of one another; where p is zero they
    have -inf. The error is that of Fruehwirth-Schnatter (2004), Econometrics Journal 7. It is about 1 nat
    where neither has draws among those of the other, and the estimate means nothing.
    """
    shift, odds = median(of_p), float(np.log(size_p / len(of_q)))
    to_p, to_q = of_q - shift + odds, shift - of_p - odds

    def chances(ratio: float) -> tuple[Floats, Floats]:
        """Logs of those that draws of q, and of p, would be taken for draws of the other."""
        return special.log_expit(to_p - ratio), special.log_expit(to_q + ratio)

    ends = np.concatenate([to_p[np.isfinite(to_p)], -to_q])
    ratio, low, high = 0.0, float(ends.min()) - NO_CHANCE, float(ends.max()) + NO_CHANCE
    for _ in range(MOST_NEWTON_STEPS):
        (of_first, first), (of_second, second) = map(log_mean_and_share, chances(ratio))
        excess = of_first - of_second - odds  # which falls as the ratio grows
        low, high = (ratio, high) if excess > 0 else (low, ratio)
        slope, last = 2 - first - second, ratio
        ratio += excess / slope if slope > 0 else np.inf
        if not low < ratio < high:
            ratio = (low + high) / 2
        if abs(ratio - last) < LAST_STEP:
            break
    of_ours, of_theirs = chances(ratio)
    variance = variance_of_sets(of_ours, sets or len(of_q)) + relative_variance(of_theirs) / size_p
    return Evidence(shift + ratio, float(np.sqrt(variance)))


def log_mean_and_share(logs: Floats) -> tuple[float, float]:
    """Of chances, given by their logs (n,): the log of their mean, and the mean of their squares over it."""
    total = log_sum_exp(logs)
    return float(total - np.log(len(logs))), float(np.exp(log_sum_exp(2 * logs) - total))


def relative_variance(logs: Floats) -> float:
    """Of numbers, given by their logs (n,): their variance over the square of their mean."""
    ratios = np.exp(logs - logs.max())
    return float(ratios.var() / ratios.mean() ** 2)


def variance_of_sets(logs: Floats, sets: int) -> float:
    """Of the mean of numbers, given by their logs (n,) in so many sets, over the square of that mean.

    The means of sets are independent; quasi-random points within one are not, and their mean has an error
    that is smaller than that of independent ones.
    """
    means = np.exp(logs - logs.max()).reshape(sets, -1).mean(axis=1)
    return float(means.var(ddof=1) / means.mean() ** 2 / sets)


def effective_size(values: Floats, groups: NDArray[np.intp]) -> float:
    """How many independent draws a mean over values (n,) is worth, where groups (n,) are independent.

    Never fewer than there are groups, nor more than draws.
    """
    counts = np.bincount(groups)
    means = np.bincount(groups, values)[counts > 0] / counts[counts > 0]
    between = float(means.var())
    n = len(means)
    return float(np.clip(n * values.var() / between, n, len(values))) if between > 0 else float(n)
