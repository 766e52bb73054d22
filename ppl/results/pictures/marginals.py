"""The marginal density of each column, alone, beside a reference's, or beside the prior's."""

import numpy as np

from ppl.results.fits.density import is_discrete
from ppl.results.pictures.canvas import (
    FITTED,
    GREY,
    OTHER,
    PICTURE_SIZES,
    Look,
    Panels,
    around,
    legend,
    panels,
    without_heights,
)
from ppl.results.pictures.kind import COLUMN, PRIOR, Caption, Kind, always
from ppl.results.pictures.marks import interval, interval_ends, marginal
from ppl.results.pictures.material import Material, Overlay


def draw_forest(material: Material, look: Look) -> Panels:
    draws = material.shown(FOREST.columns(material))
    n = len(draws.columns)
    each = panels(look, 1, 1, 0.9 + 0.21 * n, 7.0 if look.wide else PICTURE_SIZES.narrow)
    axes, finite = each[0], [draws.column(name) for name in draws.columns]
    low, lower, _, upper, high = interval_ends(finite, look.style)
    at = np.arange(n)
    axes.hlines(at, low, high, color=FITTED, alpha=0.45, linewidth=1.5)
    axes.hlines(at, lower, upper, color=FITTED, linewidth=3.5)
    axes.plot([x.mean() for x in finite], at, "o", color="white", markeredgecolor=FITTED, markersize=4)
    if look.line is None and low.min() < material.no_effect < high.max():
        axes.axvline(material.no_effect, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    axes.set_yticks(at, draws.columns, fontsize=7)
    bars = f"bars: 50% and {look.style.share} intervals, dot: mean"
    axes.set(ylim=(n - 0.5, -0.5), xlabel=f"{material.value} ({bars})")
    axes.tick_params(axis="y", length=0)
    return each


FOREST = Kind(
    "forest",
    draw_forest,
    always("Intervals", "Mean, 50% and 90% interval of each column, on one scale."),
    values="x",
    room=(60, 400),
)


ROOM = (24, 200)
"""Columns, on a page and where they are named."""
SPREAD_SHOWN = 1.0
"""How far a picture shows a prior on either side of the posterior, in ranges of the posterior."""


def draw(material: Material, look: Look) -> Panels:
    return densities(material, look, material.reference, "fit")


def densities(material: Material, look: Look, overlay: Overlay | None, posterior: str) -> Panels:
    """A panel for each column, with the overlay's density where it has the column."""
    own = MARGINALS.columns(material)
    draws, other = material.shown(own), material.shown(overlay.draws) if overlay else None
    each = panels(look, len(own.columns), min(len(own.columns), 4 if look.wide else 2), 1.75)
    for column, name, axes in zip(own.columns, draws.columns, each, strict=True):
        values, support = draws.column(name), material.support(column)
        marginal(axes, values, FITTED, posterior, True, support)
        interval(axes, values, FITTED, 0.04, look.style)
        if overlay and other and name in other.columns:
            reference = other.column(name)
            marginal(axes, reference, OTHER, overlay.name, False, support)
            interval(axes, reference, OTHER, 0.14, look.style)
        without_heights(axes, title=name, ylim=(0, None))
        if not look.log:
            axes.locator_params(axis="x", nbins=4)
    if overlay:
        legend(each)
    heights = {"probability" if is_discrete(draws.column(name)) else "density" for name in draws.columns}
    value = f"{material.value} (bar: {look.style.share} interval, dot: mean)"
    around(each, value, " or ".join(sorted(heights)))
    return each


def draw_prior(material: Material, look: Look) -> Panels:
    """The posterior beside the prior, which may reach far beyond the picture."""
    each = densities(material, look, material.prior, "posterior")
    draws = material.shown(MARGINALS.columns(material))
    for name, axes in zip(draws.columns, each, strict=True):
        low, high = np.quantile(draws.column(name), (0.005, 0.995))
        beyond, (left, right) = SPREAD_SHOWN * (high - low), axes.get_xlim()
        if not look.log:
            axes.set_xlim(max(left, low - beyond), min(right, high + beyond))
    return each


def caption(material: Material) -> Caption:
    reference = f" In red: {material.reference.name}." if material.reference else ""
    text = f"The marginal density of each column, with its mean and 90% interval.{reference}"
    return Caption("Marginal densities", text)


MARGINALS = Kind("marginals", draw, caption, values="x", room=ROOM)
PRIOR_KIND = Kind(
    "prior",
    draw_prior,
    always(
        "Prior and posterior",
        "Red: the prior, cut off where it reaches far beyond the posterior. Where both agree, the data say "
        "little about the parameter.",
    ),
    (COLUMN, PRIOR),
    values="x",
    room=ROOM,
    usual=lambda _: False,
)
