"""R-hat, effective sample size and Monte Carlo error of draws from several runs.

Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), "Rank-normalization, folding, and localization: an
improved R-hat".  Draws have shape (..., runs, draws) and figures (...,), one for each column of draws; runs
are the paper's chains, each split in halves.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ppl.floats import Floats
from ppl.late import special, statistics

FEWEST_DRAWS_A_CHAIN = 4
"""Draws of a chain below which R-hat, effective draws and standard errors are nan."""

NUMBERS_AT_ONCE = 2**15
"""Draws of several columns that are taken together: 256 KB, which a cache holds."""


def by_columns(figure: Callable[[Floats], Floats], draws: Floats) -> Floats:
    """A figure of each column of draws (runs, draws, columns): (columns,), or (columns, k) of k figures."""
    count = draws.shape[2]
    step = max(1, NUMBERS_AT_ONCE // max(1, draws[:, :, 0].size if count else 1))
    blocks = (draws[:, :, k : k + step] for k in range(0, max(count, 1), step))
    return np.concatenate([figure(np.ascontiguousarray(np.moveaxis(block, 2, 0))) for block in blocks])


def agreement(draws: Floats) -> Floats:
    """The effective sample sizes of the centre and of the tails, and R-hat, (..., 3)."""

    def figures() -> Floats:
        halves = _split(draws)
        ranks = _normal_ranks(halves)
        folded = _normal_ranks(np.abs(halves - np.median(halves, axis=(-2, -1), keepdims=True)))
        worse_rhat = np.fmax(_basic_rhat(ranks), _basic_rhat(folded))
        return np.stack([_ess(ranks), _ess_tail(halves), worse_rhat], axis=-1)

    return _where_usable(draws, figures, 3)


def rhat(draws: Floats) -> Floats:
    """Split R-hat, the worse of rank-normalised and folded (equation 15); nan for too few draws."""
    return agreement(draws)[..., 2]


def _ess_tail(halves: Floats) -> Floats:
    low, high = np.quantile(halves, (0.05, 0.95), axis=(-2, -1), keepdims=True)
    return np.minimum(_ess((halves <= low).astype(float)), _ess((halves <= high).astype(float)))


def mcse_mean(draws: Floats) -> Floats:
    """Monte Carlo standard error of the mean."""
    return _where_usable(draws, lambda: np.std(draws, ddof=1, axis=(-2, -1)) / np.sqrt(_ess(_split(draws))))


def mcse_quantile(draws: Floats, p: float) -> Floats:
    """Monte Carlo standard error of the quantile at p, from an interval of its share (section 4.3)."""

    def half_width() -> Floats:
        below = draws <= np.quantile(draws, p, axis=(-2, -1), keepdims=True)
        ess = _ess(_split(below.astype(float)))[..., None]
        shares = special.betaincinv(ess * p + 1, ess * (1 - p) + 1, special.ndtr(np.array([-1.0, 1.0])))
        ordered = np.sort(_pooled(draws), axis=-1)
        n = ordered.shape[-1]
        low, high = np.floor(shares[..., 0] * n - 1), np.ceil(shares[..., 1] * n - 1)
        places = np.clip(np.stack([low, high], axis=-1), 0, n - 1).astype(int)
        ends = np.take_along_axis(ordered, places, axis=-1)
        return (ends[..., 1] - ends[..., 0]) / 2

    return _where_usable(draws, half_width)


def _where_usable(draws: Floats, figure: Callable[[], Floats], count: int = 0) -> Floats:
    """A figure, or `count` of them, nan for draws that are few, all the same or not all finite."""
    with np.errstate(all="ignore"):
        usable = np.isfinite(draws).all(axis=(-2, -1)) & (np.ptp(draws, axis=(-2, -1)) > 0)
        usable = usable[..., None] if count else usable
        enough = draws.shape[-1] >= FEWEST_DRAWS_A_CHAIN and usable.any()
        own = draws.shape[:-2] + (count,) * bool(count)
        return np.where(usable, figure(), math.nan) if enough else np.full(own, math.nan)


def _pooled(draws: Floats) -> Floats:
    """The draws of all runs, (..., runs * draws)."""
    return draws.reshape(*draws.shape[:-2], -1)


def _split(draws: Floats) -> Floats:
    """Each run as its two halves; a middle draw is left out."""
    n = draws.shape[-1]
    return np.concatenate([draws[..., : n // 2], draws[..., n - n // 2 :]], axis=-2)


def _normal_ranks(draws: Floats) -> Floats:
    """Normal scores of the ranks (equation 14), ties sharing theirs."""
    pooled = _pooled(draws)
    order = np.argsort(pooled, axis=-1)
    ordered, at = np.take_along_axis(pooled, order, axis=-1), np.arange(pooled.shape[-1])
    changes = ordered[..., 1:] != ordered[..., :-1]
    ends = np.ones((*pooled.shape[:-1], 1), dtype=bool)
    twice_the_rank = 2 * at + 2
    if not changes.all():
        first = np.maximum.accumulate(np.where(np.concatenate([ends, changes], axis=-1), at, 0), axis=-1)
        backwards = np.where(np.concatenate([changes, ends], axis=-1), at, at[-1])[..., ::-1]
        twice_the_rank = first + np.minimum.accumulate(backwards, axis=-1)[..., ::-1] + 2
    scores = np.empty_like(pooled)
    np.put_along_axis(scores, order, normal_scores(len(at))[twice_the_rank], axis=-1)
    return scores.reshape(draws.shape)


@lru_cache(maxsize=8)
def normal_scores(n: int) -> Floats:
    """The normal scores (2n + 1,) of the ranks 0, 1/2, 1, ... of n draws; nan of rank 0.

    By the standard library, because the import of scipy.special takes as long as a summary.
    """
    inverse = statistics.NormalDist().inv_cdf
    return np.array([math.nan, *(inverse((k / 2 - 0.375) / (n + 0.25)) for k in range(1, 2 * n + 1))])


def _basic_rhat(draws: Floats) -> Floats:
    n = draws.shape[-1]
    within = np.var(draws, axis=-1, ddof=1).mean(axis=-1)
    between = n * np.var(draws.mean(axis=-1), axis=-1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 is nan: all are equal
        return np.asarray(np.sqrt((between / within + n - 1) / n))


def _ess(draws: Floats) -> Floats:
    """Effective sample size from autocorrelations, summed as in Geyer's monotone sequence (section 3.2)."""
    runs, n = draws.shape[-2:]
    covariances = _autocovariances(draws)
    within = covariances[..., 0].mean(axis=-1) * n / (n - 1)
    apart = np.var(draws.mean(axis=-1), axis=-1, ddof=1) if runs > 1 else 0.0
    pooled = within * (n - 1) / n + apart
    lags = covariances.mean(axis=-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations = 1 - (within[..., None] - lags) / np.asarray(pooled)[..., None]
    correlations[..., 0] = 1.0
    time = np.maximum(_integrated_time(correlations), 1 / math.log10(runs * n))
    return np.asarray(np.where(pooled == 0, runs * n, runs * n / time))


def _integrated_time(correlations: Floats) -> Floats:
    """-1 + 2 times the sum of adjacent pairs while they are positive, made monotone."""
    last = (correlations.shape[-1] - 1) // 2
    pairs = correlations[..., 0 : 2 * last : 2] + correlations[..., 1 : 2 * last : 2]
    end = np.ones((*pairs.shape[:-1], 1), dtype=bool)
    ends = np.argmax(np.concatenate([pairs[..., :-1] <= 0, end], axis=-1), axis=-1)[..., None]
    monotone = np.where(np.arange(last) < ends, np.minimum.accumulate(pairs, axis=-1), 0.0)
    beyond = np.take_along_axis(correlations, 2 * ends, axis=-1)[..., 0]
    return np.asarray(-1 + 2 * monotone.sum(axis=-1) + np.maximum(beyond, 0.0))


def _autocovariances(draws: Floats) -> Floats:
    """Autocovariances (..., runs, n) at every lag, with divisor n, by the fast Fourier transform."""
    n = draws.shape[-1]
    centred = draws - draws.mean(axis=-1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n)
    return np.asarray(np.fft.irfft(spectrum.real**2 + spectrum.imag**2, 2 * n)[..., :n] / n)
