"""Data beside replicated data, observation by observation and group by group."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ppl.floats import Floats
from ppl.results.fits.density import is_whole
from ppl.results.pictures.canvas import FITTED, GREY, OTHER, PICTURE_SIZES, Look, Panels, legend, panels
from ppl.results.pictures.kind import GROUPS, OUTCOMES, Kind, always
from ppl.results.pictures.marks import distribution, interval_ends
from ppl.results.pictures.material import Material
from ppl.results.report.style import TableStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW_OBSERVATIONS = 60
"""Observations up to which each has its intervals."""
MANY_POINTS = 1000
"""Observations above which marks are small and faint."""
TWO_VALUES = 2
"""Values of an outcome that intervals of single observations would not tell apart."""


def draw(material: Material, look: Look) -> Panels:
    """Intervals of each of a few observations, means of many; bars of two values."""
    name, (y, y_rep, _) = next(iter(material.outcomes.items()))
    if len(np.unique(y)) <= TWO_VALUES < y.size:
        each = panels(look, 1, 1, 2.8, 5.0 if look.wide else PICTURE_SIZES.narrow)
        distribution(each[0], y, y_rep, name)
        legend(each)
        return each
    each = panels(look, 1, 1, 3.2 if look.wide else 2.8)
    (intervals if y.size <= FEW_OBSERVATIONS else against_means)(each[0], y, y_rep, name, look.style)
    if is_whole(y):
        each[0].locator_params(axis="y", integer=True)
    legend(each)
    return each


def intervals(axes: "Axes", y: Floats, y_rep: Floats, name: str, style: TableStyle) -> None:
    """90% and 50% intervals of each replicated observation, in the data's order."""
    at = np.arange(1, y.size + 1)
    low, lower, middle, upper, high = interval_ends(y_rep.T, style)
    axes.vlines(at, low, high, color=FITTED, alpha=0.45, linewidth=1.5, label=f"{name}_rep, {style.share}")
    axes.vlines(at, lower, upper, color=FITTED, linewidth=3.5, label=f"{name}_rep, 50%")
    axes.plot(at, middle, "o", color="white", markeredgecolor=FITTED, markersize=4)
    axes.plot(at, y, "D", color=OTHER, markersize=4, linestyle="none", label=name)
    axes.set(xlabel="observation", ylabel=name)
    axes.locator_params(axis="x", integer=True)


def against_means(axes: "Axes", y: Floats, y_rep: Floats, name: str, style: TableStyle) -> None:
    """Each observation over the mean of its replications, with 90% intervals."""
    mean = np.nanmean(y_rep, axis=0)
    (low, *_, high), label = interval_ends(y_rep.T, style), f"{name}_rep, {style.share}"
    axes.vlines(mean, low, high, color=FITTED, alpha=0.25, linewidth=1, label=label, rasterized=True)
    axes.plot(np.sort(mean), np.sort(mean), color=GREY, linewidth=0.9)
    few = y.size <= MANY_POINTS
    marks: Any = {"markersize": 2.2, "alpha": 0.6} if few else {"markersize": 1.2, "alpha": 0.3}
    axes.plot(mean, y, "D", color=OTHER, linestyle="none", label=name, rasterized=True, **marks)
    axes.set(xlabel=f"mean of {name}_rep", ylabel=name)


def draw_groups(material: Material, look: Look) -> Panels:
    """The mean of each group, and intervals of its mean in replications, the first group on top."""
    name, outcome = next(iter(material.outcomes.items()))
    levels, own, replicated = zip(*outcome.by_group(), strict=True)
    n, at = len(levels), np.arange(len(levels))
    each = panels(look, 1, 1, 1.1 + 0.24 * n, 7.0 if look.wide else PICTURE_SIZES.narrow)
    axes, means = each[0], np.stack([y_rep.mean(axis=1) for y_rep in replicated], axis=1)
    low, lower, middle, upper, high = interval_ends(means.T, look.style)
    axes.hlines(
        at, low, high, color=FITTED, alpha=0.45, linewidth=1.5, label=f"{name}_rep, {look.style.share}"
    )
    axes.hlines(at, lower, upper, color=FITTED, linewidth=3.5, label=f"{name}_rep, 50%")
    axes.plot(middle, at, "o", color="white", markeredgecolor=FITTED, markersize=4)
    axes.plot([y.mean() for y in own], at, "D", color=OTHER, markersize=4, linestyle="none", label=name)
    axes.set_yticks(at, [f"{level} ({len(y)})" for level, y in zip(levels, own, strict=True)], fontsize=7)
    axes.set(
        ylim=(n - 0.5, -0.5), xlabel=f"mean of {name} by {outcome.groups.name if outcome.groups else ''}"
    )
    axes.tick_params(axis="y", length=0)
    legend(each)
    return each


PREDICTIVE = Kind(
    "predictive",
    draw,
    always(
        "Posterior predictive",
        "The model does not explain data outside of the range of the replicated data.",
    ),
    (OUTCOMES,),
    values="y",
)
GROUPS_KIND = Kind(
    "groups",
    draw_groups,
    always(
        "Means by group",
        "The mean of the data in each group, and of replicated data (median, 50% and 90% interval). In "
        "brackets: observations.",
    ),
    (OUTCOMES, GROUPS),
    values="x",
)
