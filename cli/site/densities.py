"""Which densities of single numbers are drawn on the site: where, and with which parameters."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ppl.arrays import NUMPY
from ppl.kernel.draws.columns import Floats
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
    curves: tuple[tuple[float, ...], ...]


PICTURES: Mapping[str, Picture] = {
    "normal": Picture(-5, 5, ((0, 1), (0, 2), (2, 0.5))),
    "std_normal": Picture(-4, 4, ((),)),
    "bernoulli": Picture(0, 1, ((0.2,), (0.5,))),
    "bernoulli_logit": Picture(0, 1, ((-1,), (1,))),
    "beta": Picture(0, 1, ((2, 2), (0.5, 0.5), (2, 8), (5, 1))),
    "beta_proportion": Picture(0, 1, ((0.5, 4), (0.2, 10), (0.8, 40))),
    "beta_binomial": Picture(0, 20, ((20, 2, 2), (20, 0.7, 2), (20, 30, 10))),
    "beta_neg_binomial": Picture(0, 30, ((6, 5, 3), (3, 10, 10))),
    "binomial": Picture(0, 20, ((20, 0.2), (20, 0.5), (10, 0.9))),
    "binomial_logit": Picture(0, 20, ((20, -1), (20, 0), (10, 2))),
    "cauchy": Picture(-8, 8, ((0, 1), (0, 2), (2, 0.5))),
    "discrete_range": Picture(0, 8, ((1, 6), (2, 4))),
    "double_exponential": Picture(-6, 6, ((0, 1), (0, 2), (2, 0.5))),
    "skew_double_exponential": Picture(-6, 6, ((0, 1, 0.5), (0, 1, 0.2), (0, 1, 0.8))),
    "exp_mod_normal": Picture(-4, 10, ((0, 1, 1), (0, 1, 0.4), (0, 0.5, 2))),
    "exponential": Picture(0, 6, ((0.5,), (1,), (2,))),
    "gamma": Picture(0, 10, ((1, 1), (2, 1), (5, 1), (9, 4))),
    "chi_square": Picture(0, 20, ((1,), (3,), (8,))),
    "gumbel": Picture(-4, 10, ((0, 1), (0, 2), (3, 1))),
    "hypergeometric": Picture(0, 10, ((10, 20, 20), (10, 5, 20))),
    "inv_gamma": Picture(0, 4, ((1, 1), (3, 1), (3, 4))),
    "inv_chi_square": Picture(0, 2, ((2,), (4,), (8,))),
    "scaled_inv_chi_square": Picture(0, 4, ((2, 1), (10, 1), (10, 1.5))),
    "logistic": Picture(-8, 8, ((0, 1), (0, 2), (2, 0.5))),
    "loglogistic": Picture(0, 5, ((1, 1), (1, 3), (2, 8))),
    "lognormal": Picture(0, 6, ((0, 0.25), (0, 0.5), (0, 1), (1, 0.5))),
    "neg_binomial": Picture(0, 20, ((1, 0.5), (5, 1), (20, 2))),
    "neg_binomial_2": Picture(0, 20, ((5, 1), (5, 4), (5, 100))),
    "neg_binomial_2_log": Picture(0, 20, ((1, 1), (1, 10), (2, 10))),
    "pareto": Picture(0.5, 6, ((1, 1), (1, 3), (2, 3))),
    "pareto_type_2": Picture(0, 6, ((0, 1, 1), (0, 2, 3), (1, 1, 3))),
    "poisson": Picture(0, 20, ((1,), (4,), (10,))),
    "poisson_log": Picture(0, 20, ((0,), (1,), (2,))),
    "skew_normal": Picture(-4, 4, ((0, 1, 0), (0, 1, 4), (0, 1, -1.5))),
    "student_t": Picture(-6, 6, ((1, 0, 1), (4, 0, 1), (30, 0, 1))),
    "uniform": Picture(-1, 5, ((0, 4), (1, 2))),
    "von_mises": Picture(-np.pi, np.pi, ((0, 1), (0, 8), (1, 3))),
    "weibull": Picture(0, 5, ((1, 1), (2, 1), (5, 3))),
    "frechet": Picture(0, 6, ((1, 1), (2, 1), (5, 2))),
    "rayleigh": Picture(0, 8, ((1,), (2,))),
    "yule_simon": Picture(1, 12, ((0.5,), (1,), (4,))),
    "wiener": Picture(0, 4, ((1.5, 0.2, 0.5, 1), (1.5, 0.2, 0.8, 0), (2.5, 0.5, 0.5, 1))),
}
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
