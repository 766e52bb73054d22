"""Which densities of single numbers are drawn on the site: where, and with which parameters."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ppl.arrays import NUMPY
from ppl.floats import Floats
from ppl.results.pictures.canvas import COLOURS, WIDE_LOOK, figure_of, panels, styled, svg
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.record import Distribution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 401
"""Of a curve."""


class Picture(NamedTuple):
    """The least and greatest variate of a picture, and the parameters of each of its curves."""

    low: float
    high: float
    curves: list[list[float]]


GROUPS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    files("ppl.cli.site").joinpath("distributions.toml").read_text("utf-8")
)
"""The display of each distribution on the site: a picture, or arguments of an example."""
SHOWN = {name: shown for group in GROUPS.values() for name, shown in group.items()}
PICTURES = {name: Picture(**shown) for name, shown in SHOWN.items() if "curves" in shown}
"""By the name of the distribution; discrete ones at the whole numbers of the interval."""


def densities() -> Iterator[tuple[str, str]]:
    """The name of each of these distributions, and its picture as SVG."""
    for d in DISTRIBUTIONS:
        if d.name in PICTURES:
            y, heights = curves(d)
            figure = picture_of(y, heights, labels(d), d.args[0][0], d.discrete)
            yield d.name, svg(figure)


def curves(d: Distribution) -> tuple[Floats, Floats]:
    """The variates (points,), and the density of each curve there (curves, points); nan outside."""
    picture = PICTURES[d.name]
    y = np.arange(picture.low, picture.high + 1) if d.discrete else inner(picture.low, picture.high)
    variates = y.astype(int) if d.discrete else y
    log_densities = [d.log_density(NUMPY, variates, *map(np.asarray, curve)) for curve in picture.curves]
    heights = np.exp(np.array([np.broadcast_to(values, y.shape) for values in log_densities]))
    return y, heights


def inner(low: float, high: float) -> Floats:
    """The middles of equal parts of an interval, for a density may be infinite at its ends."""
    half: float = 0.5 * (high - low) / POINTS
    return np.linspace(low + half, high - half, POINTS)


def labels(d: Distribution) -> list[str]:
    """`mu = 0, sigma = 1` of each curve."""
    names = [name for name, _ in d.args[1:]]
    return [
        ", ".join(f"{name} = {value:g}" for name, value in zip(names, curve, strict=False))
        for curve in PICTURES[d.name].curves
    ]


@styled()
def picture_of(y: Floats, heights: Floats, names: Sequence[str], variate: str, discrete: bool) -> "Figure":
    """Densities (curves, points) at y (points,), or probabilities, one for each of the names."""
    each = panels(WIDE_LOOK, 1, 1, 2.2, 6.5)
    axes = each[0]
    for height, label, colour in zip(heights, names, cycle(COLOURS), strict=False):
        style = {"marker": "o", "markersize": 3, "linewidth": 0.6} if discrete else {"linewidth": 1.4}
        axes.plot(y, height, color=colour, label=label, **style)
    top = min(float(heights.max()), 3 * float(np.quantile(heights, 0.98)))
    axes.set(xlabel=variate, ylabel="probability" if discrete else "density", ylim=(0, 1.05 * top))
    if any(names):
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure_of(each)
