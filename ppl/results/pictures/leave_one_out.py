"""Rows left out: the k-hat of PSIS-LOO of each, and where a row lies in its own prediction."""

import numpy as np

from ppl.errors import DataError
from ppl.floats import Floats
from ppl.methods.diagnose.psis import psis
from ppl.results.fits.density import is_whole
from ppl.results.pictures.canvas import FITTED, GREY, OTHER, PICTURE_SIZES, Look, Panels, panels
from ppl.results.pictures.kind import OUTCOMES, ROWS, Kind, always
from ppl.results.pictures.marks import band_of_uniform, ecdf_differences
from ppl.results.pictures.material import Material
from ppl.results.report.log_lik import LogLik
from ppl.results.report.loo import loo_of

ROWS_NAMED = 8
"""Rows with the largest k-hat above the threshold that are named."""


def draw_khats(material: Material, look: Look) -> Panels:
    """The k-hat of each row, and the threshold above which its term is unreliable."""
    loo = loo_of(material.log_liks[0])
    each = panels(look, 1, 1, 3.0 if look.wide else 2.8)
    axes, at = each[0], np.arange(1, len(loo.names) + 1)
    bad = loo.khats > loo.threshold
    axes.axhline(loo.threshold, color=GREY, linestyle="--", linewidth=0.9)
    axes.plot(at[~bad], loo.khats[~bad], "o", color=FITTED, markersize=3)
    axes.plot(at[bad], loo.khats[bad], "D", color=OTHER, markersize=4)
    for name in loo.bad[:ROWS_NAMED]:
        k = loo.names.index(name)
        left = k > len(at) / 2
        axes.annotate(
            name,
            (at[k], loo.khats[k]),
            (-5 if left else 5, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            fontsize=7,
        )
    axes.set(
        xlabel=f"row of {loo.outcome or 'the data'}",
        ylabel="k-hat",
        title=f"{bad.sum()} of {len(at)} above {loo.threshold:.3g}",
    )
    axes.locator_params(axis="x", integer=True)
    return each


def draw_pit(material: Material, look: Look) -> Panels:
    """The ECDF of LOO-PIT values less the uniform one."""
    name, (y, y_rep, _) = next(iter(material.outcomes.items()))
    pits = loo_pit(material.log_liks[0], y, y_rep)
    each = panels(look, 1, 1, 2.8, 6.0 if look.wide else PICTURE_SIZES.narrow)
    ecdf_differences(each[0], [(pits, name, FITTED)], band_of_uniform(len(pits)))
    each[0].set(xlabel=f"LOO-PIT of {name}", ylabel="difference of the ECDF from uniform")
    return each


def loo_pit(rows: LogLik, y: Floats, y_rep: Floats) -> Floats:
    """The probability (rows,) that a row's prediction from all others is below its value.

    Values that predictions equal count by a uniform share, so that those of discrete data are uniform too
    (Czado, Gneiting and Held 2009, Biometrics 65).

    Raises:
        DataError: rows or draws of the log likelihood are not those of the replications.
    """
    if rows.values.shape != y_rep.shape:
        (own, n), (draws, size) = rows.values.shape, y_rep.shape
        raise DataError(
            f"LOO-PIT needs a log likelihood of each of {size} values at {draws} draws, not {n} at {own}."
        )
    log_weights = np.array([psis(rows.log_ratios - row).log_weights for row in rows.values.T])
    weights = np.exp(log_weights - np.logaddexp.reduce(log_weights, axis=1)[:, None]).T
    below, equal = (weights * (y_rep < y)).sum(axis=0), (weights * (y_rep == y)).sum(axis=0)
    shares = np.random.default_rng(1).uniform(size=len(y)) if is_whole(y) else 0.5
    return np.asarray(np.clip(below + shares * equal, 0, 1))


KHAT = Kind(
    "khat",
    draw_khats,
    always(
        "k-hat of left-out rows",
        "Above the line the estimate of the row's ELPD is unreliable: the row is influential, or the model "
        "does not explain it.",
    ),
    (ROWS,),
)
LOO_PIT = Kind(
    "loo-pit",
    draw_pit,
    always(
        "LOO-PIT",
        "Where each value lies in its prediction from the other rows, less the uniform distribution. Grey: "
        "95% of calibrated models. A line below, then above zero: predictions are too wide; the reverse: too "
        "narrow.",
    ),
    (OUTCOMES, ROWS),
)
