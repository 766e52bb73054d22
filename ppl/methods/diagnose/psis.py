"""Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao and Gabry 2024, JMLR 25:72)."""

import math
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.records import dataclass


def are_alike(ess: float, n: int) -> bool:
    """Whether n weights of this effective sample size hardly differ from one another."""
    return ess >= ALIKE_SHARE * n


class PsisLimits(NamedTuple):
    """The size of the tail of importance ratios from which its shape is fitted."""

    fewest_tail_draws: int = 5
    """Ratios in the tail that the generalised Pareto distribution is fitted to."""

    smallest_log_ratio: float = math.log(np.finfo(float).tiny)
    """Of ratios whose largest is 1, those below the smallest number that is kept whole tell nothing of the
    tail.
    """

    flat_tail: float = 4 * float(np.finfo(float).eps)
    """The tail of log ratios nearer to one another than this is flat."""

    smallest_theta: float = float(np.finfo(float).eps)
    """In units of the largest excess; smaller ones tell no two tails apart."""

    negligible_excess: float = 0.01
    """A tail with less of all weight above its cutoff may have any shape: without it, means of functions
    between 0 and 1 move by less.
    """

    lone_chance: float = 1e-6
    """A largest ratio that the fitted tail reaches with a smaller chance is alone in a narrow peak."""

    lone_share: float = 0.05
    """The least share of all weight that it must have: less is smoothed with the tail."""


PSIS = PsisLimits()
ALIKE_SHARE = 0.98
"""Draws of q that are worth this part of their number are those of the posterior: the total variation
distance is at most half of sqrt(n / ess - 1), here 7%. The tail of weights that hardly differ may have any
shape.
"""


@dataclass(frozen=True)
class Psis:
    """Smoothed importance weights.

    `log_weights` (n,) are normalised to sum to one; `khat` is the shape of their tail, -inf where the weights
    are all equal, inf where fewer than five draws have nearly all the weight or the largest is far beyond the
    tail of the others, and nan where there are too few draws to tell; `ess` is the effective sample size.
    `log_mean` is the log of the mean of the smoothed ratios: normalised weights no longer tell it.
    """

    log_weights: Floats
    khat: float
    log_mean: float = math.nan

    @property
    def ess(self) -> float:
        return float(1 / np.exp(2 * self.log_weights).sum())

    @property
    def alike(self) -> bool:
        """Whether the weights hardly differ from one another."""
        return are_alike(self.ess, len(self.log_weights))

    @property
    def light_tail(self) -> bool:
        """Whether the weights above the cutoff of the tail exceed it by next to nothing, in sum."""
        n = len(self.log_weights)
        weights = np.sort(np.exp(self.log_weights))
        tail = weights[n - _tail_length(n) :]
        return bool((tail - tail[0]).sum() < PSIS.negligible_excess)

    @property
    def reliable(self) -> bool:
        """Whether estimates with these weights can be trusted at this number of draws."""
        return self.khat < khat_threshold(len(self.log_weights))


class WeightedDraws(NamedTuple):
    """Draws u (n, dim) of q, their log densities under the target and under q (n,), and weights p/q."""

    u: Floats
    log_p: Floats
    log_q: Floats
    weights: Psis


def weighted_draws_of(u: Floats, log_p: Floats, log_q: Floats) -> WeightedDraws:
    """Draws of q with their weights smoothed."""
    return WeightedDraws(u, log_p, log_q, psis(log_p - log_q))


def khat_threshold(n: int) -> float:
    """The largest k-hat at which n draws suffice: min(1 - 1/log10(n), 0.7), as the paper finds."""
    return min(1 - 1 / math.log10(max(n, 2)), 0.7)


def khat_se(khat: Floats, n: int) -> Floats:
    """The standard error of k-hats of n ratios: (1 + k) / sqrt(m) from m in the tail, for k above -1/2.

    Hosking and Wallis (1987), Technometrics 29, equation 10.
    """
    return (1 + np.maximum(khat, -0.5)) / math.sqrt(_tail_length(n))


def psis(log_ratios: Floats) -> Psis:
    """Smooth the importance ratios p/q at draws of q, given their logarithms (n,) up to a constant.

    Example:
        >>> psis(fit.result.log_p - fit.result.log_q).khat < 1
        True
    """
    n, length = len(log_ratios), _tail_length(len(log_ratios))
    # An improper posterior can send q so far out that nothing is told apart.
    highest = float(log_ratios.max())
    if not np.isfinite(highest):
        return Psis(np.full(n, -math.log(n)), math.inf, highest)
    log_ratios = log_ratios - highest

    def weights(smoothed: Floats, shape: float) -> Psis:
        log_sum = float(np.log(np.exp(smoothed).sum()))
        return Psis(smoothed - log_sum, shape, highest + (log_sum - math.log(n)))

    if length < PSIS.fewest_tail_draws:
        return weights(log_ratios, math.nan)
    before = n - length - 1
    cutoff = max(float(np.partition(log_ratios, before)[before]), PSIS.smallest_log_ratio)
    if cutoff >= -PSIS.flat_tail:
        return weights(log_ratios, -math.inf)
    tail = np.flatnonzero(log_ratios > cutoff)
    if len(tail) < PSIS.fewest_tail_draws:  # few draws have nearly all the weight
        return weights(log_ratios, math.inf)
    tail = tail[np.argsort(log_ratios[tail], kind="stable")]
    excess = np.exp(log_ratios[tail]) - math.exp(cutoff)
    shape, scale = fit_pareto(excess)
    raw = weights(log_ratios, math.inf)
    lone = raw.log_weights[tail[-1]] > math.log(PSIS.lone_share)
    if lone and len(tail) * pareto_survival(excess[-1], shape, scale) < PSIS.lone_chance:
        return raw
    smoothed = log_ratios.copy()
    smoothed[tail] = np.minimum(np.log(math.exp(cutoff) + pareto_midpoints(len(tail), shape, scale)), 0.0)
    return weights(smoothed, shape)


def fit_pareto(excess: Floats) -> tuple[float, float]:
    """Shape k and scale of a generalised Pareto distribution from sorted positive excesses (n,).

    The quasi-Bayesian estimate of Zhang and Stephens (2009), with k drawn towards 1/2 by a prior worth ten
    draws, as in the PSIS paper.
    """
    n = len(excess)
    grid = 30 + math.isqrt(n)
    quartile = excess[int(n / 4 + 0.5) - 1]
    spread = 1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))
    theta = 1 / excess[-1] + spread / (3 * quartile)
    # An exponential tail has theta 0, of which what follows is the limit.
    theta[theta == 0] = PSIS.smallest_theta / excess[-1]
    shapes = np.log1p(-theta[:, None] * excess).mean(axis=1)
    profile = n * (np.log(-theta / shapes) - shapes - 1)
    weights = np.exp(profile - profile.max())
    mean_theta = float(weights @ theta / weights.sum())
    shape = float(np.log1p(-mean_theta * excess).mean())
    scale = -shape / mean_theta
    return (n * shape + 10 * 0.5) / (n + 10), scale


def _tail_length(n: int) -> int:
    return math.ceil(min(0.2 * n, 3 * math.sqrt(n)))


def pareto_survival(excess: float, shape: float, scale: float) -> float:
    """The chance that a generalised Pareto distribution exceeds it."""
    if abs(shape) < 1e-12:
        return math.exp(-excess / scale)
    return float(max(1 + shape * excess / scale, 0.0) ** (-1 / shape))


def pareto_midpoints(n: int, shape: float, scale: float) -> Floats:
    """The quantiles (n,) at (i - 1/2)/n of a generalised Pareto distribution."""
    log_survival = np.log1p(-(np.arange(1, n + 1) - 0.5) / n)
    if abs(shape) < 1e-12:
        return -scale * log_survival
    return scale * np.expm1(-shape * log_survival) / shape
