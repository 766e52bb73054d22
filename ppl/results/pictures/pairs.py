"""Columns against each other, a draw the darker the more importance it should have had."""

from typing import Any

import numpy as np

from ppl.kernel.draws.columns import Floats
from ppl.results.pictures.canvas import FITTED, GREY, PICTURE_SIZES, Look, Panels, panels
from ppl.results.pictures.kind import TWO, Caption, Kind
from ppl.results.pictures.marks import marginal
from ppl.results.pictures.material import Material
from ppl.results.report.stansummary import worst_khats

NARROW_PAIRS = 3
"""Columns on a narrow screen."""


def draw(material: Material, look: Look) -> Panels:
    """The panels row by row.

    Draws are shaded by the rank of their importance ratio, so that a few large ones do not hide the rest, and
    the darkest lie on top.
    """
    names, labels = worst(material, PAIRS.most(material) if look.wide else NARROW_PAIRS)
    draws, log_ratios = material.shown(material.draws.only(names)), importance(material)
    n = len(names)
    side = min(PICTURE_SIZES.wide, 1.9 * n) if look.wide else PICTURE_SIZES.narrow
    each = panels(look, n * n, n, side / n, side)
    order = np.arange(len(draws.rows)) if log_ratios is None else np.argsort(log_ratios)
    shade: Any = {"c": GREY} if log_ratios is None else {"c": np.arange(len(order)), "cmap": "viridis_r"}
    for i, row in enumerate(draws.columns):
        for j, column in enumerate(draws.columns):
            axes = each[n * i + j]
            if i == j:
                marginal(axes, draws.column(row), FITTED, "", True, material.support(names[i]))
                axes.set_title(labels[i], fontsize=8)
                axes.set_yticks([])
            elif j < i:
                x, y = draws.rows[order, j], draws.rows[order, i]
                axes.scatter(x, y, s=5, linewidths=0, rasterized=True, **shade)
            else:
                axes.set_axis_off()
            axes.locator_params(nbins=3)
            axes.tick_params(labelsize=7, labelbottom=i == n - 1, labelleft=j == 0 and i > 0)
            if i == n - 1:
                axes.set_xlabel(column)
            if j == 0 and i > 0:
                axes.set_ylabel(row)
    return each


def worst(material: Material, count: int) -> tuple[list[str], list[str]]:
    """Names by falling k-hat, the first ones where there is no k-hat, and what to write over them."""
    khats = worst_khats(material.files)
    names = list(material.draws.columns)
    if not len(khats):
        return names[:count], [*map(material.label, names[:count])]
    of = dict(zip(material.files[0].columns, np.nan_to_num(khats, nan=np.inf), strict=True))
    ordered = sorted(names, key=lambda name: -of[name])[:count]
    return ordered, [f"{material.label(name)}\nk-hat {of[name]:.2f}" for name in ordered]


def choose(material: Material, count: int) -> tuple[tuple[str, ...], str]:
    which = "those with the worst k-hat" if is_ordered(material) else "the first"
    return tuple(worst(material, count)[0]), which


def is_ordered(material: Material) -> bool:
    """Whether there is a k-hat to order columns by."""
    return len(worst_khats(material.files)) > 0


def importance(material: Material) -> Floats | None:
    """The log ratios of all draws, where every run has them."""
    found = [ratios for file in material.files if (ratios := file.log_ratios) is not None]
    return np.concatenate(found) if len(found) == len(material.files) else None


def caption(material: Material) -> Caption:
    """The columns are the worst only where there is a k-hat to order them by, and shaded only by ratios."""
    shaded = importance(material) is not None
    return Caption(
        "Pairs with the worst k-hat" if is_ordered(material) else "Pairs",
        "Darker draws have larger importance ratios. Where dark draws gather, the approximation misses mass."
        if shaded
        else "The first columns that are not constant, against each other.",
    )


PAIRS = Kind("pairs", draw, caption, (TWO,), room=(4, 8), choose=choose)
