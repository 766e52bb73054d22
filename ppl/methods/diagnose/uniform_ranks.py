"""Whether ranks are uniform: the simultaneous band of their empirical distribution function.

Säilynoja, Bürkner and Vehtari (2022), "Graphical test for discrete uniformity and its applications in
goodness-of-fit evaluation and multiple sample comparison", Statistics and Computing 32:32.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.late import stats
from ppl.records import dataclass

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class RankTest:
    """How the test is made, and how a deviation is named."""

    null_samples: int = 4_000
    """Sets of uniform ranks that the p-value counts: it is right to about 0.003 where it is 0.05."""

    most_points: int = 100
    """Points at which the distribution function is looked at."""

    seed: int = 0x72616E
    """The seed "ran" of those sets."""

    named_below: float = 0.05
    """The p-value from which on ranks have a shape; that of others is chance."""

    outer_share: float = 0.1
    """The part of the ranks at either end in which too many, or too few, make a shape."""


RANK_TEST = RankTest()


@dataclass(frozen=True)
class Uniformity:
    """The p-value of uniform ranks, their mean as a share of the largest (0.5 is expected), their shape."""

    p: float
    mean: float
    shape: str


def uniformity(ranks: Ints, largest: int) -> Uniformity:
    """Of ranks (simulations,) between 0 and `largest`."""
    n = len(ranks)
    statistic = float(_gamma(_counts(ranks[None], largest), n, largest)[0])
    null = _null(n, largest)
    p = (1 + int((null <= statistic).sum())) / (1 + len(null))
    shape = shape_of(ranks, largest) if p < RANK_TEST.named_below else ""
    return Uniformity(p, float(np.mean(ranks) / largest), shape)


def shape_of(ranks: Ints, largest: int) -> str:
    """The shape of the histogram, in words, and what that says of the posterior draws."""
    n, share = len(ranks), RANK_TEST.outer_share
    low = int((ranks < share * (largest + 1)).sum())
    high = int((ranks >= (1 - share) * (largest + 1)).sum())
    expected, sd = share * n, (n * share * (1 - share)) ** 0.5
    many = [count > expected + 2 * sd for count in (low, high)]
    few = [count < expected - 2 * sd for count in (low, high)]
    if all(many):
        return "U: the draws are too narrow"
    if all(few):
        return "hump: the draws are too wide"
    if many[0] or (few[1] and not many[1]):
        return "low ranks: the draws are too large"
    if many[1] or few[0]:
        return "high ranks: the draws are too small"
    return ""


def _points(largest: int) -> Ints:
    """The ranks up to which ranks are counted."""
    return np.unique(np.linspace(0, largest - 1, min(largest, RANK_TEST.most_points)).astype(np.int64))


def _counts(ranks: Ints, largest: int) -> Ints:
    """How many of each row of ranks (sets, simulations) are at most each point, (sets, points)."""
    ordered = np.sort(ranks, axis=1)
    points = _points(largest)
    return np.stack([np.searchsorted(row, points, side="right") for row in ordered])


def _gamma(counts: Ints, n: int, largest: int) -> Floats:
    """The smallest two-sided binomial tail over the points, (sets,) (their equation 7)."""
    shares = (_points(largest) + 1) / (largest + 1)
    whole = np.arange(n + 1)[:, None]
    below = stats.binom.cdf(whole, n, shares)
    above = stats.binom.sf(whole - 1, n, shares)
    tails = 2 * np.minimum(below, above)
    at = np.arange(counts.shape[1])
    return np.asarray(tails[counts, at].min(axis=1))


@cache
def _null(n: int, largest: int) -> Floats:
    """The statistic of uniform ranks."""
    rng = np.random.default_rng(RANK_TEST.seed)
    ranks = rng.integers(0, largest + 1, (RANK_TEST.null_samples, n))
    return _gamma(_counts(ranks, largest), n, largest)
