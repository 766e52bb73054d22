"""R-hat, effective sample size and Monte Carlo error of draws from several runs.

Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), "Rank-normalization, folding, and localization: an
improved R-hat".  Draws have shape (runs, draws); runs are the paper's chains, each split in halves.
"""

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from ppl.kernel.advi.target import Array
from ppl.late import special

FEWEST_DRAWS_A_CHAIN = 4
"""Draws of a chain below which R-hat, effective draws and standard errors are nan."""


def rhat(draws: Array) -> float:
    """Split R-hat, the worse of rank-normalised and folded (equation 15); nan for too few draws."""
    return rank_rhat(_split(draws)) if _usable(draws) else math.nan


def rank_rhat(halves: Array) -> float:
    """The worse of rank-normalised and folded R-hat of chains (chains, draws), unsplit."""
    folded = np.abs(halves - np.median(halves))
    return max(_basic_rhat(_normal_ranks(halves)), _basic_rhat(_normal_ranks(folded)))


def ess_bulk(draws: Array) -> float:
    """Effective sample size of the centre: that of the rank-normalised draws."""
    return _ess(_normal_ranks(_split(draws))) if _usable(draws) else math.nan


def ess_tail(draws: Array) -> float:
    """The smaller effective sample size of the 5% and 95% quantiles' indicators."""
    if not _usable(draws):
        return math.nan
    halves = _split(draws)
    low, high = np.quantile(halves, (0.05, 0.95))
    return min(_ess((halves <= low).astype(float)), _ess((halves <= high).astype(float)))


def mcse_mean(draws: Array) -> float:
    """Monte Carlo standard error of the mean."""
    if not _usable(draws):
        return math.nan
    return float(np.std(draws, ddof=1)) / math.sqrt(_ess(_split(draws)))


def mcse_quantile(draws: Array, p: float) -> float:
    """Monte Carlo standard error of the quantile at p, from an interval of its share (section 4.3)."""
    if not _usable(draws):
        return math.nan
    below = draws <= np.quantile(draws, p)
    ess = _ess(_split(below.astype(float)))
    shares = special.betaincinv(ess * p + 1, ess * (1 - p) + 1, special.ndtr(np.array([-1.0, 1.0])))
    ordered, n = np.sort(draws, axis=None), draws.size
    low, high = max(math.floor(shares[0] * n - 1), 0), min(math.ceil(shares[1] * n - 1), n - 1)
    return float(ordered[high] - ordered[low]) / 2


def _usable(draws: Array) -> bool:
    enough = draws.shape[1] >= FEWEST_DRAWS_A_CHAIN
    return enough and bool(np.isfinite(draws).all() and np.ptp(draws) > 0)


def _split(draws: Array) -> Array:
    """Each run as its two halves; a middle draw is left out."""
    n = draws.shape[1]
    return np.vstack([draws[:, : n // 2], draws[:, n - n // 2 :]])


def _normal_ranks(draws: Array) -> Array:
    """Normal scores of the ranks (equation 14), ties sharing theirs."""
    _, place, times = np.unique(draws, return_inverse=True, return_counts=True)
    twice_the_rank = 2 * np.cumsum(times) - times + 1
    return np.asarray(normal_scores(draws.size)[twice_the_rank][place.reshape(draws.shape)])


@lru_cache(maxsize=8)
def normal_scores(n: int) -> Array:
    """The normal scores (2n + 1,) of the ranks 0, 1/2, 1, ... of n draws; nan of rank 0.

    By the standard library, because the import of scipy.special takes as long as a summary.
    """
    inverse = NormalDist().inv_cdf
    return np.array([math.nan, *(inverse((k / 2 - 0.375) / (n + 0.25)) for k in range(1, 2 * n + 1))])


def _basic_rhat(draws: Array) -> float:
    n = draws.shape[1]
    within = np.var(draws, axis=1, ddof=1).mean()
    between = n * np.var(draws.mean(axis=1), ddof=1)
    if within == 0:
        return math.nan if between == 0 else math.inf
    return math.sqrt((between / within + n - 1) / n)


def _ess(draws: Array) -> float:
    """Effective sample size from autocorrelations, summed as in Geyer's monotone sequence (section 3.2)."""
    runs, n = draws.shape
    covariances = _autocovariances(draws)
    within = covariances[:, 0].mean() * n / (n - 1)
    pooled = within * (n - 1) / n + (np.var(draws.mean(axis=1), ddof=1) if runs > 1 else 0.0)
    if pooled == 0:
        return float(draws.size)
    correlations = 1 - (within - covariances.mean(axis=0)) / pooled
    correlations[0] = 1.0
    time = max(_integrated_time(correlations), 1 / math.log10(draws.size))
    return draws.size / time


def _integrated_time(correlations: Array) -> float:
    """-1 + 2 times the sum of adjacent pairs while they are positive, made monotone."""
    last = (len(correlations) - 1) // 2
    pairs = correlations[0 : 2 * last : 2] + correlations[1 : 2 * last : 2]
    ends = int(np.argmax(np.append(pairs[:-1] <= 0, True)))
    monotone = np.minimum.accumulate(pairs[:ends])
    return float(-1 + 2 * monotone.sum() + max(correlations[2 * ends], 0.0))


def _autocovariances(draws: Array) -> Array:
    """Autocovariances (runs, n) at every lag, with divisor n, by the fast Fourier transform."""
    n = draws.shape[1]
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, 2 * n)[:, :n] / n)
