"""Whether chains are stationary and mixed: two stages of their moves compared, chain by chain.

Chains are many and short, and independent of one another: the spread of their means is the error of a mean,
which tells a drift between stages from noise, and how many independent draws the moves are worth (Margossian,
Hoffman, Sountsov, Riou-Durand, Vehtari and Gelman 2024, "Nested R-hat", Bayesian Analysis).
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.late import special
from ppl.methods.numerics.index_sets import distinct
from ppl.methods.numerics.quantiles import quantiles

FALSE_DRIFTS = 0.01
"""The chance that a look at all statistics calls noise a drift (Bonferroni)."""
TAIL_MASS = 0.05
"""The share of the draws in each tail."""
END_MASS = 0.025
"""The share of the draws at each end, where no chain stays."""
TAIL_SDS = 9.7
"""How far a quantile of a normal at `TAIL_MASS` moves, in sds, by the share of the draws beyond it."""
SQUARE_SDS = 0.5
"""How far an sd moves, in sds, by the mean of the square."""
RANKS_A_SD = 0.28
"""How far the mean rank of a normal moves, as a share of the draws, where its mean moves by an sd."""
SIZES = np.array([1.0, SQUARE_SDS, TAIL_SDS, TAIL_SDS])[:, None]
"""The units, in sds, of a coordinate, its square and its tails."""
MOST_RANKED = 4096
"""Positions that the ends of a coordinate's tails are taken from, about."""
SLOWEST = 10
"""Coordinates that mix slowest, which share half of the chance of a false drift: what others depend on is
among them, and creeps out along a tail for long without a change from stage to stage that would be clear in
any of hundreds.
"""
NUMBERS_COMPARED = 2**22
"""Numbers of a comparison in memory."""


class MoveStage(NamedTuple):
    """Positions u (moves, chains, dim) after each move, their log densities and modes (moves, chains).

    Of all moves (moves, chains) of each chain those are `rejected` that were as good as sure to be.
    """

    u: Floats
    log_p: Floats
    mode: NDArray[np.intp]
    rejected: NDArray[np.bool_]

    @property
    def draws(self) -> Floats:
        """All positions (moves * chains, dim)."""
        return self.u.reshape(-1, self.u.shape[-1])


def joined(stages: Sequence[MoveStage]) -> MoveStage:
    """All of them as one."""
    return MoveStage(*map(np.concatenate, zip(*stages, strict=True)))


def uneven(rejected: NDArray[np.bool_]) -> float:
    """The variance over chains of how many of their moves (moves, chains) were rejected, less that of
    rejections by chance, a move."""
    of_each, share = rejected.mean(axis=0), rejected.mean()
    return float(len(rejected) * of_each.var() - share * (1 - share))


class Mixing(NamedTuple):
    """What two stages say of each coordinate (dim,), the largest of its mean, its sd and its tails.

    `drift` is the change from stage to stage and `apart` the difference between the chains of even and of odd
    number, both in sds and beyond their noise; `effective` the independent draws that both stages are worth,
    for the mean or the tail that mixes worst. `drift_of_log_p` is the drift of the log density. `sd_errors`
    are the standard errors of sds, as shares of these: large where few chains were far out.
    """

    drift: Floats
    apart: Floats
    effective: Floats
    drift_of_log_p: float
    sd_errors: Floats = np.zeros(0)

    def since(self, start: Floats, after: Floats, least: float) -> "Mixing":
        """With the drift from where chains start (chains, dim) to later positions in place of that of stages,
        where it is as large as the `least` that matters: few chains tell next to nothing of tails but chance.
        """
        drift = drift_from(start[None], after)
        return self._replace(drift=np.where(drift < least, 0.0, drift), apart=np.zeros_like(drift))

    @property
    def largest_drift(self) -> float:
        return max(float(self.drift.max(initial=0.0)), self.drift_of_log_p)

    @property
    def fewest_effective(self) -> float:
        return float(self.effective.min(initial=np.inf))


def compare(before: MoveStage, after: MoveStage) -> Mixing:
    """Two stages of the same chains, where there are several modes by positions within these.

    Moves seldom lead from mode to mode, so that chains of several would never seem mixed.
    """
    dim = before.u.shape[-1]
    looks = 4 * dim + 1
    mode, first = np.concatenate([before.mode, after.mode]), len(before.u)
    both = (within_modes(each, mode) for each in some_columns(before.u, after.u))
    parts = [_compared(each, first, looks) for each in both]
    change, variance, apart, effective, errors = (
        np.concatenate(each, axis=-1) for each in zip(*parts, strict=True)
    )
    slowest = effective <= np.sort(effective)[min(SLOWEST, dim) - 1]
    looks_at_each = np.where(slowest, 2 * 4 * min(SLOWEST, dim), 2 * looks) if dim > SLOWEST else looks
    drift = (SIZES * beyond_noise(change, variance, standard_errors_by_chance(looks_at_each))).max(axis=0)
    drift_of_log_p = _drift_of_log_p(before.log_p, after.log_p, standard_errors_by_chance(looks))
    return Mixing(drift, apart, effective, drift_of_log_p, errors)


def some_columns(before: Floats, after: Floats) -> Iterator[Floats]:
    """Positions of both (moves, chains, dim) in as many coordinates at once as memory is for."""
    dim = before.shape[-1]
    width = max(1, NUMBERS_COMPARED * dim // (before.size + after.size))
    for k in range(0, dim, width):
        yield np.concatenate([before[..., k : k + width], after[..., k : k + width]])


def drift_from(start: Floats, after: Floats) -> Floats:
    """The drift (dim,) from one position of each chain (1, chains, dim) to others (moves, chains, dim).

    It is that of ranks and of their distances from the middle one, which are close to normal in the mean of
    few positions, as numbers in a tail are not.
    """
    most = standard_errors_by_chance(2 * start.shape[-1])

    def drift(both: Floats) -> Floats:
        columns = both.reshape(-1, both.shape[-1])
        ranks = columns.argsort(axis=0).argsort(axis=0).reshape(both.shape) / len(columns) - 0.5
        each = np.array([ranks, np.abs(ranks)])
        change = each[:, 1:].mean(axis=1) - each[:, 0]
        clear = beyond_noise(change.mean(axis=1), change.var(axis=1) / change.shape[1], most)
        return np.asarray(clear.max(axis=0) / RANKS_A_SD)

    return np.concatenate([drift(both) for both in some_columns(start, after)])


def about_modes(u: Floats, mode: NDArray[np.intp]) -> Floats:
    """Positions u (..., dim) less the mean of those of their mode (...,), where there are several."""
    if not mode.any():
        return u
    off = u.copy()
    for own in distinct(mode):
        here = mode == own
        off[here] -= u[here].mean(axis=0)
    return off


def within_modes(u: Floats, mode: NDArray[np.intp]) -> Floats:
    """Those also in sds of their mode: one may be many times as wide as another."""
    if not mode.any():
        return u
    off = about_modes(u, mode)
    for own in distinct(mode):
        here = mode == own
        sds = off[here].std(axis=0)
        off[here] /= np.where(sds > 0, sds, 1.0)
    return off


def standard_errors_by_chance(looks: Any) -> Any:
    """How many standard errors the largest of so many differences may be by chance (Bonferroni)."""
    return -special.ndtri(FALSE_DRIFTS / (2 * looks))


def _compared(both: Floats, first: int, looks: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Changes of the statistics of some coordinates and their variances, (4, coordinates), apart, effective
    sizes and errors of sds, (coordinates,); the first moves are earlier.
    """
    before, after, most = both[:first], both[first:], standard_errors_by_chance(looks)
    centre, sds = both.mean(axis=(0, 1)), both.std(axis=(0, 1))
    sds = np.where(sds > 0, sds, 1.0)
    ranked = both[:: 1 + both[..., 0].size // MOST_RANKED].reshape(-1, both.shape[-1])
    shares = [TAIL_MASS, 1 - TAIL_MASS, END_MASS, 1 - END_MASS]
    low, high, lowest, highest = quantiles(ranked, shares)

    def means(u: Floats) -> Floats:
        """Of each statistic by chain, (4, chains, coordinates)."""
        z = (u - centre) / sds
        return np.array(
            [z.mean(axis=0), (z**2).mean(axis=0), (u < low).mean(axis=0), (u > high).mean(axis=0)]
        )

    one, two = means(before), means(after)
    share = len(after) / len(both)
    all_of = (1 - share) * one + share * two
    change = two - one
    halves = all_of[:, ::2], all_of[:, 1::2]
    noise = sum(half.var(axis=1) / half.shape[1] for half in halves)
    apart = beyond_noise(halves[0].mean(axis=1) - halves[1].mean(axis=1), noise, most)
    effective = effective_sizes(all_of[[0, 2, 3]], both, low, high).min(axis=0)
    left = left_behind(both, lowest, highest, effective, looks * both.shape[1])
    errors = all_of[1].std(axis=0, ddof=1) / (2 * np.sqrt(both.shape[1]))  # the mean square is one
    apart = np.maximum((SIZES * apart).max(axis=0), left)
    return change.mean(axis=1), change.var(axis=1) / change.shape[1], apart, effective, errors


def left_behind(both: Floats, lowest: Floats, highest: Floats, effective: Floats, looks: int) -> Floats:
    """How far chains move a quantile, in sds, that never left the end of a tail, where they began.

    Positions (moves, chains, coordinates) beyond `lowest` and `highest` (coordinates,) are those at an end.
    Few moves of chains that are worth few `effective` draws may all be there by chance.
    """
    surely = np.log(END_MASS) * effective / both.shape[1] < np.log(FALSE_DRIFTS / looks)
    always = ((both < lowest).all(axis=0) | (both > highest).all(axis=0)) & surely
    return np.asarray(TAIL_SDS * always.mean(axis=0))


def beyond_noise(difference: Floats, variance: Floats, most: Any) -> Floats:
    """By how much differences are larger than so many of their standard errors."""
    return np.maximum(0.0, np.abs(difference) - most * np.sqrt(variance))


def effective_sizes(means: Floats, both: Floats, low: Floats, high: Floats) -> Floats:
    """The independent draws that the chains are worth for the mean and both tails, (3, coordinates).

    The variance of a statistic over that of its mean over all chains, whose means (3, chains, coordinates)
    are independent. That of a square need not exist.
    """
    below, above = ((both < low).mean(axis=(0, 1)), (both > high).mean(axis=(0, 1)))
    variances = np.array([np.ones_like(below), below * (1 - below), above * (1 - above)])
    of_mean = means.var(axis=1, ddof=1) / means.shape[1]
    most = both[..., 0].size
    sizes = np.divide(variances, of_mean, out=np.full_like(variances, most), where=of_mean > 0)
    return np.asarray(np.minimum(sizes, most))


def _drift_of_log_p(before: Floats, after: Floats, most: float) -> float:
    """Of the log density, in its sds."""
    change = after.mean(axis=0) - before.mean(axis=0)
    sd = np.concatenate([before, after]).std()
    if not sd > 0 or not np.isfinite(sd):
        return 0.0
    clear = beyond_noise(change.mean(), change.var() / len(change), most)
    return float(clear / sd)
