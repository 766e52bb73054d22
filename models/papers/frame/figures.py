"""Pictures in one style, drawn on their own figure: no global state of matplotlib is touched."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

COLOURS = ("#4477aa", "#cc6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
INK = "#222222"


def panels(
    rows: int, columns: int, width: float = 7.0, height: float = 2.4, **more: Any
) -> tuple[Figure, Any]:
    """A figure of `width` inches and an array (rows, columns) of axes, each row `height` inches high."""
    figure = Figure(figsize=(width, rows * height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **more)
    for ax in np.ravel(axes):
        tidy(ax)
    return figure, axes


def tidy(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        text.set_fontsize(9)


def legend(ax: Axes, **more: Any) -> None:
    ax.legend(fontsize=7, frameon=False, **more)


def legend_above(figure: Figure, ax: Axes, columns: int | None = None) -> None:
    """One legend for all panels, that of `ax`, above them: in one row, or in so many columns."""
    handles, labels = ax.get_legend_handles_labels()
    ncols = columns or len(labels)
    figure.legend(handles, labels, loc="outside upper center", ncols=ncols, fontsize=8, frameon=False)


def legend_over(ax: Axes, columns: int) -> None:
    """The panel's own legend between its title and its axes, where no curve can run into it."""
    rows = -(-len(ax.get_legend_handles_labels()[1]) // columns)
    ax.set_title(ax.get_title(), fontsize=9, pad=6 + 12 * rows)
    legend(ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, borderaxespad=0.2)


def marks(seconds: list[float]) -> dict[str, Any]:
    """How a curve is drawn; a single point is a square on top of the others, lest it be lost."""
    alone = {"marker": "s", "ms": 6, "zorder": 3, "ls": ""}
    return alone if len(seconds) == 1 else {"marker": "o", "ms": 3, "lw": 1}


def seconds_axis(ax: Axes) -> None:
    """Processor seconds on a log scale, with a few plain numbers however short it is."""
    ax.set(xscale="log", xlabel="processor seconds")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
