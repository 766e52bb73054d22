"""Columns against each other, a draw the darker the more importance it should have had."""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from ppl.floats import Floats
from ppl.kernel.draws.columns import variables
from ppl.results.pictures.canvas import FITTED, GREY, PICTURE_SIZES, Look, Panels, panels
from ppl.results.pictures.kind import TWO, Caption, Kind
from ppl.results.pictures.marks import marginal
from ppl.results.pictures.material import Material
from ppl.results.report.stansummary import worst_khats

INDEPENDENT = ("meanfield", "diagonal")
"""Families of q that know no correlation."""


def draw_covariance(material: Material, look: Look) -> Panels:
    own = COVARIANCE.columns(material)
    draws, n = material.shown(own), len(own.columns)
    each = panels(look, 1, 1, 4.6 if look.wide else 3.6, 6.0 if look.wide else PICTURE_SIZES.narrow)
    axes = each[0]
    with np.errstate(all="ignore"):
        matrix = np.ma.masked_invalid(np.corrcoef(draws.rows, rowvar=False).reshape(n, -1))
    image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r", interpolation="nearest")
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.8, ticks=[-1, 0, 1])
    bar.outline.set_visible(False)
    bar.set_label("correlation")
    ticks = labelled(own.columns, 30 if look.wide else 22)
    axes.set_xticks(ticks, [draws.columns[k] for k in ticks], rotation=90, fontsize=7)
    axes.set_yticks(ticks, [draws.columns[k] for k in ticks], fontsize=7)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return each


def labelled(columns: Sequence[str], most: int) -> list[int]:
    """Positions to label: all of a few, else the first of each variable, else none too close."""
    if len(columns) <= most:
        return list(range(len(columns)))
    gap, labels = ceil(len(columns) / most), list[int]()
    for first, *_ in variables(columns).values():
        if not labels or first - labels[-1] >= gap:
            labels.append(first)
    return labels


def caption_of_covariance(material: Material) -> Caption:
    """The warning on what mean-field does not see, if these are draws of a mean-field q."""
    known = [file.provenance for file in material.files]
    independent = all(about and about.of_q and about.family in INDEPENDENT for about in known)
    return Caption(
        "Covariance, scaled to unit variances",
        "Mean-field has no correlations on the unconstrained scale: correlations here come from "
        "transformations alone."
        if independent
        else "Red: positive correlation. Blue: negative correlation.",
    )


COVARIANCE = Kind("covariance", draw_covariance, caption_of_covariance, (TWO,), room=(60, 400))


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
    each = [ratios for file in material.files if (ratios := file.log_ratios) is not None]
    return np.concatenate(each) if len(each) == len(material.files) else None


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
