"""Marks that several pictures share: densities, intervals, bars of discrete data, differences of ECDFs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.results.fits.density import density, is_discrete, is_whole, masses, varies
from ppl.results.pictures.canvas import FITTED, GREY, OTHER, without_heights
from ppl.results.pictures.material import Support
from ppl.results.report.style import TableStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EVERYWHERE: Support = (-np.inf, np.inf)
INTERVAL_ENDS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles of a 90% interval, a 50% interval and the median."""
REPLICATIONS_DRAWN = 40
"""Replicated data sets whose densities are drawn."""
MOST_VALUES = 60
"""Whole numbers up to which a bar stands for one of them; of more it stands for a range."""
FEW_BARS = 12
"""Bars that are each named."""
RAREST = (0.002, 0.998)
"""Quantiles beyond which replications are not drawn, if the data end before."""
SIMULATIONS, BAND_STEPS, COVERAGE = 1000, 100, 0.95
"""Simulations behind a band of ECDFs, its steps, and the share of ECDFs within it."""


def marginal(
    axes: "Axes", values: Floats, colour: str, label: str, filled: bool, support: Support | None = None
) -> None:
    """The density of draws, or the shares of whole numbers; nothing of a column that never varies.

    On a log axis it is the density of the logarithm.
    """
    if not varies(values):
        return
    if is_discrete(values):
        at, mass = masses(values)
        axes.vlines(at + 0.1 * (not filled), 0, mass, color=colour, linewidth=2, label=label)
        return
    x, height = curve(axes, values, support)
    axes.plot(x, height, color=colour, linewidth=1.2, label=label)
    if filled:
        axes.fill([x[0], *x, x[-1]], [0, *height, 0], color=colour, alpha=0.18, linewidth=0)


def curve(axes: "Axes", values: Floats, support: Support | None = None) -> tuple[Floats, Floats]:
    """The density of values on the scale of the axes."""
    if axes.get_xscale() != "log":
        return density(values, support)
    x, height = density(np.log(values[values > 0]))
    return np.exp(x), height


def interval_ends(columns: Iterable[Floats], style: TableStyle) -> Floats:
    """The ends (5, columns) of the interval of a style, of the 50% interval inside it, and the median."""
    inner = INTERVAL_ENDS[1:-1]
    ends = [
        np.nanquantile(x, [low, *inner, high])
        for x in columns
        for low, _, high in [style.probabilities(x[~np.isnan(x)])]
    ]
    return np.array(ends).T


def interval(axes: "Axes", values: Floats, colour: str, height: float, style: TableStyle) -> None:
    """The interval and the mean of draws, at a height that is a share of the panel's."""
    if not len(values):
        return
    low, *_, high = interval_ends([values], style)[:, 0]
    across = axes.get_xaxis_transform()
    axes.plot([low, high], [height] * 2, color=colour, linewidth=3, solid_capstyle="butt", transform=across)
    mean = float(values.mean())
    axes.plot(mean, height, "o", color="white", markeredgecolor=colour, markersize=4.5, transform=across)


# --- Data beside replications --------------------------------------------------------------------


def distribution(axes: "Axes", y: Floats, y_rep: Floats, name: str) -> None:
    """Data (n,) and replications (draws, n): bars of whole numbers in a narrow range, else densities."""
    every = np.concatenate([y, y_rep[np.isfinite(y_rep)]])
    if is_whole(every) and np.subtract(*range_of(y, every)[::-1]) < MOST_VALUES:
        bars(axes, y, y_rep, name)
        return
    support = (0.0 if every.min() >= 0 else -np.inf, np.inf)
    for k, replication in enumerate(y_rep[:: max(1, len(y_rep) // REPLICATIONS_DRAWN)]):
        values, label = replication[np.isfinite(replication)], f"{name}_rep" if k == 0 else ""
        line(axes, values, support, color=FITTED, linewidth=0.6, alpha=0.35, label=label)
    line(axes, y, support, color=OTHER, linewidth=2, label=name)
    without_heights(axes, xlabel=name, ylabel="density", ylim=(0, None))


def range_of(y: Floats, every: Floats) -> tuple[float, float]:
    """The least and greatest of data, and of replications but for the rarest."""
    low, high = np.quantile(every, RAREST)
    return min(y.min(), low), max(y.max(), high)


def line(axes: "Axes", values: Floats, support: Support, **style: Any) -> None:
    """The density of values, if they vary."""
    if varies(values):
        axes.plot(*curve(axes, values, support), **style)


def bars(axes: "Axes", y: Floats, y_rep: Floats, name: str) -> None:
    """How often each whole number is in data (n,), as bars, and in replications (draws, n), as intervals."""
    least, greatest = range_of(y, y_rep[np.isfinite(y_rep)])
    width = int(-(-(greatest - least + 1) // MOST_VALUES))
    size = int((greatest - least) // width) + 1
    at = least + width * np.arange(size) + (width - 1) / 2
    counts = np.array([tally(row, least, width, size) for row in y_rep])
    low, _, middle, _, high = np.quantile(counts, INTERVAL_ENDS, axis=0)
    axes.bar(at, tally(y, least, width, size), 0.8 * width, color=OTHER, alpha=0.4, linewidth=0, label=name)
    axes.vlines(
        at, low, high, color=FITTED, linewidth=2 if size <= FEW_BARS else 1.2, label=f"{name}_rep, 90%"
    )
    axes.plot(
        at, middle, "o", color="white", markeredgecolor=FITTED, markersize=4 if size <= FEW_BARS else 2.5
    )
    axes.set(xlabel=name, ylabel="observations", ylim=(0, None))
    if size <= FEW_BARS:
        axes.set_xticks(at)
    else:
        axes.locator_params(axis="x", integer=True)


def tally(values: Floats, least: float, width: int, size: int) -> Floats:
    """How many finite values are in each of `size` ranges of this width from the least on."""
    places = (values[np.isfinite(values)] - least) // width
    return np.bincount(places[(places >= 0) & (places < size)].astype(int), minlength=size).astype(float)


# --- Differences of ECDFs ------------------------------------------------------------------------


def ecdf_differences(
    axes: "Axes", samples: Iterable[tuple[Floats, str, str]], band: tuple[Floats, Floats]
) -> None:
    """The ECDF of each sample of values from 0 to 1 less that of the uniform, with its label and colour.

    `band` are the least and greatest differences (steps,) of uniform samples at equal steps.
    """
    steps = np.linspace(0, 1, BAND_STEPS + 1)
    low, high = ([0, *ends, 0] for ends in band)
    axes.fill_between(steps, low, high, color=GREY, alpha=0.25, linewidth=0)
    axes.axhline(0, color=GREY, linewidth=0.8)
    for values, label, colour in samples:
        x, n = np.sort(values), len(values)
        below = np.column_stack([np.arange(n), np.arange(1, n + 1)]).ravel() / n - np.repeat(x, 2)
        axes.plot([0, *np.repeat(x, 2), 1], [0, *below, 0], color=colour, linewidth=1.1, label=label)
    axes.set(xlim=(0, 1))


def band_of(law: Any, counts: NDArray[np.int64], n: int) -> tuple[Floats, Floats]:
    """The band that holds whole ECDFs with n values, less the uniform one, in 95% of simulations.

    `counts` (simulations, steps) are how many values lie below each step, and have the law there. Säilynoja,
    Bürkner and Vehtari (2022), Statistics and Computing 32, algorithm 2.
    """
    chances = law.pmf(np.arange(n + 1)[:, None])
    cdf, at = chances.cumsum(axis=0), np.arange(BAND_STEPS - 1)
    below, above = cdf[counts, at], 1 - cdf[counts, at] + chances[counts, at]
    level = float(np.quantile(np.minimum(below, above).min(axis=1), 1 - COVERAGE))
    ends = ((cdf >= share).argmax(axis=0) / n for share in (level, 1 - level))
    low, high = (end - np.arange(1, BAND_STEPS) / BAND_STEPS for end in ends)
    return low, high


def band_of_uniform(n: int) -> tuple[Floats, Floats]:
    """The band of n independent uniform values."""
    from scipy.stats import binom

    counts = (
        np.random.default_rng(1)
        .multinomial(n, np.full(BAND_STEPS, 1 / BAND_STEPS), SIMULATIONS)
        .cumsum(axis=1)
    )
    return band_of(binom(n, np.arange(1, BAND_STEPS) / BAND_STEPS), counts[:, :-1], n)


def band_of_ranks(total: int, n: int) -> tuple[Floats, Floats]:
    """The band of the ranks that n of `total` draws have among all, as shares."""
    from scipy.stats import hypergeom

    ends = np.linspace(0, total, BAND_STEPS + 1).astype(int)
    rng = np.random.default_rng(1)
    counts = rng.multivariate_hypergeometric(np.diff(ends), n, SIMULATIONS, method="marginals").cumsum(axis=1)
    return band_of(hypergeom(total, ends[1:-1], n), counts[:, :-1], n)
