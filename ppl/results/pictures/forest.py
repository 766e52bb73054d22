"""Mean, 50% and 90% interval of each column on one axis, the first on top."""

import numpy as np

from ppl.results.pictures.canvas import FITTED, GREY, PICTURE_SIZES, Look, Panels, panels
from ppl.results.pictures.kind import Kind, always
from ppl.results.pictures.marks import interval_ends
from ppl.results.pictures.material import Material


def draw(material: Material, look: Look) -> Panels:
    draws = material.shown(FOREST.columns(material))
    n = len(draws.columns)
    each = panels(look, 1, 1, 0.9 + 0.21 * n, 7.0 if look.wide else PICTURE_SIZES.narrow)
    axes, finite = each[0], [draws.column(name) for name in draws.columns]
    low, lower, _, upper, high = interval_ends(finite, look.style)
    at = np.arange(n)
    axes.hlines(at, low, high, color=FITTED, alpha=0.45, linewidth=1.5)
    axes.hlines(at, lower, upper, color=FITTED, linewidth=3.5)
    axes.plot([x.mean() for x in finite], at, "o", color="white", markeredgecolor=FITTED, markersize=4)
    if look.line is None and low.min() < 0 < high.max():
        axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    axes.set_yticks(at, draws.columns, fontsize=7)
    bars = f"bars: 50% and {look.style.share} intervals, dot: mean"
    axes.set(ylim=(n - 0.5, -0.5), xlabel=f"{material.value} ({bars})")
    axes.tick_params(axis="y", length=0)
    return each


FOREST = Kind(
    "forest",
    draw,
    always("Intervals", "Mean, 50% and 90% interval of each column, on one scale."),
    values="x",
    room=(60, 400),
)
