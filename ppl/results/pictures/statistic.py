"""Pictures of checks: a statistic beside its replications, ranks of simulations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.results.fits.density import varies
from ppl.results.pictures.canvas import (
    FITTED,
    GREY,
    OTHER,
    WIDE_LOOK,
    around,
    figure_of,
    panels,
    styled,
    without_heights,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled()
def statistic(label: str, observed: float, values: Floats) -> "Figure":
    """The distribution of a statistic over replications, rows or draws (n,), and the observed value."""
    each = panels(WIDE_LOOK, 1, 1, 2.4, 6.5)
    axes = each[0]
    finite = values[np.isfinite(values)]
    axes.hist(finite, bins="auto" if varies(finite) else 1, color=FITTED, alpha=0.45)
    axes.axvline(observed, color=OTHER, linewidth=2)
    without_heights(axes, xlabel=label)
    return figure_of(each)


@styled()
def rank_histograms(ranks: NDArray[Any], columns: Sequence[str], draws: int) -> "Figure":
    """The ranks (simulations, columns) of each column; grey: where 99% of the bars of uniform ranks lie."""
    from scipy.stats import binom

    n = len(ranks)
    bins = max(2, min(20, n // 5, draws + 1))
    edges = np.linspace(-0.5, draws + 0.5, bins + 1)
    inside = np.diff(np.floor(edges + 0.5)) / (draws + 1)
    low, high = binom.ppf(0.005, n, inside), binom.ppf(0.995, n, inside)
    each = panels(WIDE_LOOK, len(columns), 4, 1.7)
    for k, axes in enumerate(each):
        axes.fill_between(
            edges, np.append(low, low[-1]), np.append(high, high[-1]), step="post", color=GREY, alpha=0.3
        )
        axes.hist(ranks[:, k], bins=edges.tolist(), color=FITTED, alpha=0.8)
        axes.set(title=columns[k], xlim=(edges[0], edges[-1]))
    around(each, f"rank among {draws} draws", "simulations")
    return figure_of(each)
