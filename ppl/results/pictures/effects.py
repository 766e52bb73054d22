"""The picture of effects: expected values over a grid of a predictor, with intervals and the data."""

from collections.abc import Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppl.results.fits.expected import ExpectedOverGrid, text_of_value, word
from ppl.results.pictures.canvas import COLOURS, Look, legend, panels
from ppl.results.pictures.kind import EFFECTS, Kind, always
from ppl.results.pictures.material import Material
from ppl.results.report.style import TableStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 12
"""Groups of rows with similar predictors, in which the share of a category is shown."""
OTHERS_NAMED = 4
"""Other predictors whose values stand below the axis."""
DODGE = 0.12
"""How far groups stand apart at a level of a factor."""

Values = NDArray[Any]


def draw(material: Material, look: Look) -> "list[Axes]":
    """A panel for each outcome, or each of its categories; a line, or a point a level, for each group."""
    effect = material.effects
    assert effect is not None
    own = [(name, k) for name, x in effect.expected.items() for k in columns(effect, x)]
    each = panels(look, len(own), min(len(own), 3) if look.wide else 1, 3.0)
    for axes, (name, k) in zip(each, own, strict=True):
        panel(axes, effect, name, k, look.style)
    if effect.by:
        legend(each)
        each[0].set_title(each[0].get_title() if look.wide else "")  # where the legend stands
    return each


def columns(effect: ExpectedOverGrid, x: Values) -> Iterator[int | None]:
    """The last axis of expected values of categories, or of vectors; None where there is none."""
    if x.ndim > 2 + bool(effect.by):
        yield from range(x.shape[-1])
    else:
        yield None


def panel(axes: "Axes", effect: ExpectedOverGrid, name: str, k: int | None, style: TableStyle) -> None:
    """The expected values of one outcome, or category `k`."""
    x = effect.expected[name] if k is None else effect.expected[name][..., k]
    grid, at, of_group, observed = effect.grid, np.arange(len(effect.grid)), effect.points[name][1], None
    is_factor = isinstance(grid[0], str)
    places = at if is_factor else np.array(grid, float)
    for g, (group, colour) in enumerate(zip(effect.groups or [None], cycle(COLOURS), strict=False)):
        own = x if group is None else x[:, :, g]
        low, _, high = np.array([np.quantile(y, style.probabilities(y)) for y in own.T]).T
        label = "" if group is None else f"{effect.by} = {text_of_value(group)}"
        rows = rows_of(of_group, effect.groups, g)
        observed = points(effect, name, k, rows)
        if is_factor:
            beside = places + DODGE * (g - (len(effect.groups or [0]) - 1) / 2)
            axes.vlines(beside, low, high, color=colour, linewidth=2)
            axes.plot(beside, own.mean(axis=0), "o", color=colour, markersize=5, label=label)
            axes.plot(beside[observed[0].astype(int)], observed[1], "x", color=colour, alpha=0.6)
        else:
            axes.fill_between(places, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(places, own.mean(axis=0), color=colour, linewidth=1.5, label=label)
            axes.plot(*observed, "o", color=colour, alpha=0.5, markersize=4, markeredgewidth=0)
    if is_factor:
        axes.set_xticks(at, grid)
        axes.set_xlim(-0.5, len(grid) - 0.5)
    what, of = quantity(effect, name, k)
    axes.set(
        xlabel=f"{effect.predictor}{held(effect)}",
        ylabel=what,
        title=f"{name}{of}: mean, {style.share} interval, data",
    )


def quantity(effect: ExpectedOverGrid, name: str, k: int | None) -> tuple[str, str]:
    """The label of the axis of values, a probability or an expected value, and the category or entry."""
    y, category = effect.points[name][2], "" if k is None else word(effect.expected.axes[name][-1], k)
    of = f"[{category}]" if category else ""
    if category and y.ndim == 1:
        return f"P({name} = {category})", of
    return f"P({name} = 1)" if not category and is_binary(y) else f"expected {name}{of}", of


def is_binary(y: Values) -> bool:
    """Whether all values that are not missing are 0 or 1."""
    given = y[~np.isnan(y)]
    return len(given) > 0 and bool(np.isin(given, (0, 1)).all())


def held(effect: ExpectedOverGrid) -> str:
    """The values of a few other predictors, of which the picture is."""
    words = [f"{name} = {text_of_value(x)}" for name, x in effect.others.items() if not np.ndim(x)]
    if not effect.others:
        return ""
    return f" ({', '.join(words)})" if 0 < len(words) <= OTHERS_NAMED else " (others at mean or mode)"


def rows_of(by: Values | None, groups: Any, g: int) -> Values | slice:
    """The rows of the data that belong to a group: of a number, those that it is nearest to."""
    if by is None:
        return slice(None)
    if isinstance(groups[g], str):
        return np.asarray(by == groups[g])
    return np.asarray(np.abs(by[:, None] - np.array(groups)).argmin(axis=1) == g)


def points(effect: ExpectedOverGrid, name: str, k: int | None, rows: Values | slice) -> tuple[Values, Values]:
    """The data of some rows: each, or of outcomes that are 0 or 1, and of categories, shares of similar rows.

    Of a factor they are means by level, at the number of the level.
    """
    x, _, y = effect.points[name]
    x, y = x[rows], y[rows].astype(float) if y.ndim == 1 else y[rows][:, k].astype(float)
    of_category = k is not None and effect.points[name][2].ndim == 1
    y = np.where(np.isnan(y), np.nan, y == k + 1) if of_category and k is not None else y
    there = ~np.isnan(y)
    x, y = x[there], y[there]
    if isinstance(effect.grid[0], str):
        levels = [*effect.grid]
        return means(np.array([levels.index(level) for level in x], int), y)
    if not is_binary(y):
        return x, y
    order = np.argsort(x)
    bins = np.arange(len(x)) * BINS // max(len(x), 1)
    centres, shares = means(bins, x[order])[1], means(bins, y[order])[1]
    return centres, shares


def means(group: Values, y: Values) -> tuple[Values, Values]:
    """The groups that there are, and their means."""
    present, place = np.unique(group, return_inverse=True)
    return present, np.bincount(place, y, len(present)) / np.bincount(place, minlength=len(present))


EFFECTS_KIND = Kind(
    "effects",
    draw,
    always(
        "Effects",
        "Expected values over a grid of a predictor, with the others at their mean, integers at their mode. "
        "Points are data: of 0 and 1 and of categories shares of similar rows, of a factor means (crosses).",
    ),
    (EFFECTS,),
    values="y",
)


def axes_of(effect: ExpectedOverGrid, interval: float, hdi: bool, narrow: bool) -> Any:
    """The axes of the picture, an array of several."""
    look = Look(not narrow, managed=True, style=TableStyle(interval, hdi))
    each = EFFECTS_KIND.axes(Material((), (), effects=effect), look)
    return each[0] if len(each) == 1 else np.array(each)
