"""Posterior predictive checks: distributions and statistics of data beside those of replications."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ppl.floats import Floats
from ppl.results.fits.density import is_discrete, is_whole, masses, varies
from ppl.results.pictures.canvas import (
    FITTED,
    OTHER,
    PICTURE_SIZES,
    Look,
    Panels,
    around,
    legend,
    panels,
    without_heights,
)
from ppl.results.pictures.kind import OUTCOMES, Kind, always
from ppl.results.pictures.marks import EVERYWHERE, bars, distribution, marginal
from ppl.results.pictures.material import Material, Support

Statistics = Mapping[str, Callable[..., Any]]


def zeros(values: Floats, axis: int) -> Any:
    return np.mean(values == 0, axis=axis)


OF_REALS: Statistics = {"mean": np.mean, "sd": np.std, "least": np.min, "greatest": np.max}
OF_COUNTS: Statistics = {"mean": np.mean, "sd": np.std, "zeros": zeros, "greatest": np.max}
OF_TWO_VALUES: Statistics = {"mean": np.mean}


def statistics_of(y: Floats) -> Statistics:
    """The values of the data, and of each replication, that a check compares."""
    if len(np.unique(y)) <= 2:
        return OF_TWO_VALUES
    return OF_COUNTS if is_whole(y) and y.min() >= 0 else OF_REALS


def statistics(y: Floats, y_rep: Floats) -> Iterator[tuple[str, tuple[Floats, float]]]:
    """Each statistic of the replications (draws,) and of the data, unless it never differs."""
    for label, statistic in statistics_of(y).items():
        values, observed = statistic(y_rep, axis=1), float(statistic(y, axis=0))
        if (values != observed).any():
            yield label, (values, observed)


def draw(material: Material, look: Look) -> Panels:
    """The distribution of the data over those of replications, and statistics of each replication.

    The data's statistic is a line, and P the share of replications with one at least as large (Gelman et al.,
    BDA3, section 6.3). With groups, or on a log axis, it is the distribution alone.
    """
    name, outcome = next(iter(material.outcomes.items()))
    y, y_rep, _ = outcome
    parts = [*outcome.by_group()]
    shown = {} if parts or look.log else dict(statistics(y, y_rep))
    n = len(parts) or 1 + len(shown)
    across = min(n, (4 if parts else 3) if look.wide else 2 if n > 2 else 1)
    width = min(PICTURE_SIZES.wide, 4.2 * across) if look.wide else PICTURE_SIZES.narrow
    each = panels(look, n, across, 2.2, width)
    for (level, own, replicated), axes in zip(parts, each, strict=False):
        distribution(axes, own, replicated, name)
        axes.set(title=f"{level} ({len(own)})")
    if parts:
        around(each, name, each[0].get_ylabel())
    else:
        distribution(each[0], y, y_rep, name)
        each[0].set_title("distribution")
    legend(each)
    for (label, (values, observed)), axes in zip(shown.items(), each[1:], strict=False):
        finite = values[np.isfinite(values)]
        if varies(finite) and is_discrete(finite):
            axes.bar(*masses(finite), color=FITTED, alpha=0.35)
        else:
            marginal(axes, finite, FITTED, f"{name}_rep", True, support_of(label, y, y_rep))
        axes.axvline(observed, color=OTHER, linewidth=2)
        share = (finite >= observed).sum() / max(len(finite), 1)
        without_heights(axes, title=f"{label} (P = {share:.2f})", ylim=(0, None))
        axes.locator_params(axis="x", nbins=4, integer=is_whole(finite))
    return each


def support_of(statistic: str, y: Floats, y_rep: Floats) -> Support:
    """The bounds of a statistic: shares, deviations, and what counts have alone."""
    if statistic == "zeros":
        return (0.0, 1.0)
    return (0.0, np.inf) if statistic == "sd" or min(y.min(), np.nanmin(y_rep)) >= 0 else EVERYWHERE


def draw_rootogram(material: Material, look: Look) -> Panels:
    """How often each count is, on a square-root scale that shows rare ones (Kleiber and Zeileis 2016)."""
    name, (y, y_rep, _) = next(iter(material.outcomes.items()))
    each = panels(look, 1, 1, 3.2 if look.wide else 2.8, 8.0 if look.wide else PICTURE_SIZES.narrow)
    bars(each[0], y, y_rep, name)
    each[0].set_yscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
    each[0].set_ylabel("observations (square-root scale)")
    legend(each)
    return each


def has_counts(material: Material) -> bool:
    return any(statistics_of(y) is OF_COUNTS for y, *_ in material.outcomes.values())


PPC = Kind(
    "ppc",
    draw,
    always(
        "Posterior predictive check",
        "Distribution and statistics of the data (red) and of replicated data. P is the share of "
        "replications that are not below the data; near 0 or 1 the model does not reproduce this feature.",
    ),
    (OUTCOMES,),
    values="x",
)
ROOTOGRAM = Kind(
    "rootogram",
    draw_rootogram,
    always(
        "Rootogram",
        "How often each count is in the data (bars) and in replicated data (median and 90% interval).",
    ),
    (OUTCOMES,),
    usual=has_counts,
)
