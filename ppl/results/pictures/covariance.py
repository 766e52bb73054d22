"""The covariance of the draws with every column at unit variance, as a heat map."""

from collections.abc import Sequence
from math import ceil

import numpy as np

from ppl.kernel.draws.columns import variables
from ppl.results.pictures.canvas import PICTURE_SIZES, Look, Panels, panels
from ppl.results.pictures.kind import TWO, Caption, Kind
from ppl.results.pictures.material import Material

INDEPENDENT = ("meanfield", "diagonal")
"""Families of q that know no correlation."""


def draw(material: Material, look: Look) -> Panels:
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


def caption(material: Material) -> Caption:
    """What mean-field does not see, where these are draws of a mean-field q."""
    known = [file.provenance for file in material.files]
    independent = all(about and about.of_q and about.family in INDEPENDENT for about in known)
    return Caption(
        "Covariance, scaled to unit variances",
        "Mean-field has no correlations on the unconstrained scale: correlations here come from "
        "transformations alone."
        if independent
        else "Red: positive correlation. Blue: negative correlation.",
    )


COVARIANCE = Kind("covariance", draw, caption, (TWO,), room=(60, 400))
