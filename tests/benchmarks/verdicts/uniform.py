"""Whether ranks among draws are uniform, and how often intervals of the draws hold what was drawn.

Chi-squared and the largest distance of the ECDF (Säilynoja, Bürkner and Vehtari, 2022, for a sharper one).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import chisquare, kstest

from tests.benchmarks.errors import Floats

MOST_BINS, FEWEST_A_BIN = 20, 5
FEWEST = 2 * FEWEST_A_BIN


class Calibration(NamedTuple):
    """Shares in the central 50% and 90% intervals with their standard errors, and two p-values."""

    half: float
    half_se: float
    most: float
    most_se: float
    chi_squared: float
    ecdf: float


def places(ranks: Sequence[Sequence[int]], draws: int) -> Floats:
    """Where ranks 0 to `draws` lie in (0, 1)."""
    return (np.asarray(ranks, dtype=float) + 0.5) / (draws + 1)


def calibration(u: Floats) -> Calibration:
    """Of places u (fits, quantities): the quantities of a fit are dependent, fits are not.

    A p-value is the smallest over the quantities times their number (Bonferroni); nan with under FEWEST fits.
    """
    tests = np.array([_p_values(column) for column in u.T])
    chi_squared, ecdf = np.minimum(1, tests.min(axis=0) * len(tests))
    return Calibration(*_covered(u, 0.5), *_covered(u, 0.9), float(chi_squared), float(ecdf))


def _covered(u: Floats, share: float) -> tuple[float, float]:
    inside = (np.abs(u - 0.5) < share / 2).mean(axis=1)
    se = inside.std(ddof=1) / math.sqrt(len(u)) if len(u) > 1 else math.nan
    return float(inside.mean()), float(se)


def _p_values(u: Floats) -> tuple[float, float]:
    if len(u) < FEWEST:
        return math.nan, math.nan
    counts, _ = np.histogram(u, min(MOST_BINS, len(u) // FEWEST_A_BIN), (0, 1))
    return float(chisquare(counts).pvalue), float(kstest(u, "uniform").pvalue)
