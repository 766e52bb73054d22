"""Standard errors of means and quantiles of draws, with the error of the approximation among them.

A thousand draws of the posterior itself leave sd / sqrt(1000). To that is added what the pool that they were
resampled from knows (the variance of self-normalised importance sampling, Owen 2013, equation 9.8; the number
of chains), what q and its weighted draws, or independent runs differ by.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.late import special
from ppl.methods.diagnose.psis import Psis
from ppl.records import dataclass, replace


@dataclass(frozen=True)
class ErrorSources:
    """Sources of error of a mean over n draws, beside their number; each array (n,), or empty for none.

    `weights` are the shares of the draws in the weight of all that they were resampled from, `chain` numbers
    the chain that each is of, `moves` are what weights p/q would add to the share 1/n of each. `between` is
    the variance of means between independent runs, or between the stages of chains that are not stationary,
    as a share of the variance of the draws.
    """

    weights: Floats
    chain: NDArray[np.intp]
    moves: Floats
    between: float = 0.0

    def at(self, some: slice | NDArray[np.bool_] | NDArray[np.intp]) -> Self:
        """The sources of some of the draws."""
        own = {name: getattr(self, name) for name in ("weights", "chain", "moves")}
        return replace(self, **{name: x[some] for name, x in own.items() if len(x)})


NONE = np.zeros(0)
INDEPENDENT = ErrorSources(NONE, np.zeros(0, dtype=np.intp), NONE)
"""Draws of the posterior itself, independent of one another."""


def of_resampled(weights: Psis, chosen: NDArray[np.intp]) -> ErrorSources:
    """Draws at positions `chosen` (n,) of a weighted pool."""
    return replace(INDEPENDENT, weights=heaviness(weights) * np.exp(weights.log_weights[chosen]))


def of_chains(chain: NDArray[np.intp], drift: float) -> ErrorSources:
    """Draws of chains with these numbers (n,), which are independent of one another.

    `drift` is how far a mean still moved, in sds: chains that are not stationary may have as far to go.
    """
    return replace(INDEPENDENT, chain=chain, between=drift**2)


def of_q(weights: Psis, n: int) -> ErrorSources:
    """The first n draws of q, as they are, given their weights p/q."""
    if not n:
        return INDEPENDENT
    own = np.exp(weights.log_weights[:n] - weights.log_weights[:n].max())
    moves = own / own.sum() - 1 / n
    return replace(INDEPENDENT, weights=n * heaviness(weights) * moves**2, moves=moves)


def heaviness(weights: Psis) -> float:
    """By how much their variance falls short of the squared error of a mean where the tail is heavy.

    Ratios whose tail has a shape k above 1/2 have no variance: the error of a mean of N is of the order of
    N^(k-1), so that they are worth N^(2-2k) draws at most.
    """
    n, k = len(weights.log_weights), weights.khat
    if not k > 0.5 or weights.light_tail:
        return 1.0
    expected_ess = float(n ** max(0.0, 2 - 2 * k))
    return max(1.0, weights.ess / expected_ess)


def standard_errors(x: Floats, by: ErrorSources = INDEPENDENT) -> Floats:
    """Of the mean of each column of x (n, columns), (columns,); nan for fewer than two draws."""
    n = len(x)
    if n < 2:
        return np.full(x.shape[1], np.nan)
    off = x - x.mean(axis=0)
    squares = off**2
    spread = squares.sum(axis=0) / (n - 1)
    own = _of_clusters(off, by.chain) if len(by.chain) else spread / n
    variance = own + spread * by.between
    if len(by.weights):
        variance = variance + by.weights @ squares / n
    if len(by.moves):
        variance = variance + (by.moves @ off) ** 2
    return np.asarray(np.sqrt(variance))


def _of_clusters(off: Floats, cluster: NDArray[np.intp]) -> Floats:
    """The variance of the mean of columns (n, columns) of mean 0 by clusters that are independent.

    Source: Cameron and Miller (2015), "A practitioner's guide to cluster-robust inference", equation 11.
    """
    numbers, own = np.unique(cluster, return_inverse=True)
    count = len(numbers)
    if count < 2:
        return np.full(off.shape[1], np.nan)
    sums = np.zeros((count, off.shape[1]))
    np.add.at(sums, own, off)
    return np.asarray(count / (count - 1) * (sums**2).sum(axis=0) / len(off) ** 2)


LEVEL = 1.96
"""The normal score of intervals whose coverage the density at a quantile is smoothed for."""


class Errors(NamedTuple):
    """Standard errors of the mean, of the sd and of some quantiles."""

    mean: float
    sd: float
    quantiles: tuple[float, ...]


def errors_of(x: Floats, probabilities: Sequence[float], by: ErrorSources = INDEPENDENT) -> Errors:
    """Of the mean, the sd and the quantiles of draws x (n,).

    That of the sd is that of the mean square about the mean, over twice the sd; that of a quantile the
    standard error of the share of draws below, over the density there (Vehtari et al. 2021, section 4.3).
    """
    p, ordered, at = np.array(probabilities), np.sort(x), np.arange(len(x))
    places = np.interp(p * at[-1], at, ordered)
    columns = np.column_stack([x, (x - x.mean()) ** 2, x[:, None] <= places])
    mean, square, *shares = standard_errors(columns, by).tolist()
    if math.isnan(mean):
        return Errors(mean, mean, (mean,) * len(p))
    # A share of 0 or 1 among few draws has no spread of its own.
    s = np.maximum(shares, np.sqrt(p * (1 - p) / len(x)))
    width = np.maximum(s, widths(p, len(x)))
    below, above = np.clip([p - width, p + width], 0.0, 1.0)
    gaps = np.interp(above * at[-1], at, ordered) - np.interp(below * at[-1], at, ordered)
    slopes = np.divide(gaps, above - below, out=np.zeros_like(gaps), where=above > below)
    sd = float(np.divide(square, 2 * x.std()))
    return Errors(mean, sd, tuple((s * slopes).tolist()))


def widths(p: Floats, n: int) -> Floats:
    """How far from probabilities p the quantiles of n draws are that their density between is taken from.

    Between those one standard error away are 14 draws of 1,000 at 5%, whose density is off by a fourth;
    between these there are 42. Source: Hall and Sheather (1988), "On the distribution of a Studentized
    quantile", J. R. Statist. Soc. B 50, for a normal density.
    """
    z = special.ndtri(p)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    sizes = np.cbrt(1.5 * LEVEL**2 * density**2 / (n * (2 * z**2 + 1)))
    return np.asarray(sizes)
