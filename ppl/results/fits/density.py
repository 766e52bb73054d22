"""Densities and masses of draws, for pictures."""

import numpy as np

from ppl.floats import Floats

MOST_BARS = 30
"""The range of whole numbers that are drawn as masses, one bar each; wider ones as a density."""
EQUAL_BUT_ROUNDING = 1e-12
"""Draws whose range is smaller, in units of the largest, are all equal."""


def varies(values: Floats) -> bool:
    """Whether there are finite values that differ by more than rounding."""
    finite = values[np.isfinite(values)]
    return len(finite) > 0 and bool(np.ptp(finite) > EQUAL_BUT_ROUNDING * np.abs(finite).max())


def is_whole(values: Floats) -> bool:
    """Whether all values are whole numbers."""
    return bool(np.all(values == np.round(values)))


def is_discrete(values: Floats) -> bool:
    """Whether the values are whole numbers within a range of a few."""
    return is_whole(values) and bool(np.ptp(values) < MOST_BARS)


def masses(values: Floats) -> tuple[Floats, Floats]:
    """The whole numbers from the least to the greatest value, and the share of each."""
    least = int(values.min())
    counts = np.bincount((values - least).astype(int))
    return least + np.arange(len(counts), dtype=float), counts / len(values)


def density(
    values: Floats, support: tuple[float, float] | None = None, points: int = 100
) -> tuple[Floats, Floats]:
    """A kernel estimate on a grid over the central 99% of the values and a margin, within the support.

    The values are reflected at the ends of the support, at their extremes where it is unknown, so that a
    density does not leak over the edge, and scaled, so that the squares of none of them overflow.
    """
    from scipy.stats import gaussian_kde  # a second that a fit, which draws nothing, need not wait

    scale = float(np.abs(values).max())
    values = values / scale
    ends = np.array(support) / scale if support else np.array([values.min(), values.max()])
    low, high = np.quantile(values, (0.005, 0.995))
    margin = (0.2 if support else 0.05) * (high - low)
    grid = np.linspace(max(ends[0], low - margin), min(ends[1], high + margin), points)
    estimate = gaussian_kde(values)
    images = (2 * end - grid for end in ends[np.isfinite(ends)])
    height: Floats = estimate(grid) + sum(estimate(image) for image in images)
    return grid * scale, height / scale
