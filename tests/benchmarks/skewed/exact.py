"""Exact laws of single quantities: of SciPy, or by grids over the unconstrained coordinates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
PROBABILITIES = 0.05, 0.95, 0.99
ABOUT = 0.01
"""The probability between the ends of a difference that is a quantile's slope."""


class Law(NamedTuple):
    """Mean, sd, fourth moment over the square of the variance; quantiles at `PROBABILITIES`, their slopes."""

    mean: float
    sd: float
    kurtosis: float
    quantiles: tuple[float, ...]
    slopes: tuple[float, ...]


def quantiles_of(quantile) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Of a quantile function, with what they change by the probability."""
    p, h = np.array(PROBABILITIES), ABOUT / 2
    slopes = (quantile(p + h) - quantile(p - h)) / ABOUT
    return tuple(map(float, quantile(p))), tuple(map(float, slopes))


def frozen(law) -> Law:
    """Of a distribution of scipy.stats."""
    mean, variance, _, excess = (float(each) for each in law.stats(moments="mvsk"))
    return Law(mean, variance**0.5, excess + 3, *quantiles_of(law.ppf))


class Axis(NamedTuple):
    """Even points u of an unconstrained coordinate, the values there, and the log-Jacobians."""

    values: Array
    log_jacobian: Array
    step: float


def real(low: float, high: float, n: int = 1201) -> Axis:
    u = np.linspace(low, high, n)
    return Axis(u, np.zeros(n), u[1] - u[0])


def positive(low: float, high: float, n: int = 1201, least: float = 0.0) -> Axis:
    """Above `least`, on a log scale from `low` to `high`."""
    u = np.linspace(np.log(low), np.log(high), n)
    return Axis(least + np.exp(u), u, u[1] - u[0])


def between(low: float, high: float, ends: float = 20.0, n: int = 1201) -> Axis:
    """Between two bounds, on a logit scale."""
    u = np.linspace(-ends, ends, n)
    log_jacobian = special.log_expit(u) + special.log_expit(-u) + np.log(high - low)
    return Axis(low + (high - low) * special.expit(u), log_jacobian, u[1] - u[0])


def by_grid(log_density, **axes: Axis) -> dict[str, Law]:
    """The marginal law of each coordinate, by a log density of sparse arrays, one for each axis."""
    values = np.meshgrid(*(axis.values for axis in axes.values()), indexing="ij", sparse=True)
    jacobians = np.meshgrid(*(axis.log_jacobian for axis in axes.values()), indexing="ij", sparse=True)
    with np.errstate(all="ignore"):
        heights = np.nan_to_num(log_density(*values) + sum(jacobians), nan=-np.inf)
    weights = np.exp(heights - heights.max())
    weights /= weights.sum()
    laws = {}
    for k, (name, axis) in enumerate(axes.items()):
        laws[name] = law_of(axis.values, weights.sum(axis=tuple(j for j in range(len(axes)) if j != k)))
    return laws


def law_of(values: Array, weights: Array) -> Law:
    """Of increasing values by their weights, each of which stands for half a step to both sides."""
    assert max(weights[0], weights[-1]) < 1e-6, "the grid ends where there is mass"
    mean = float(weights @ values)
    variance = float(weights @ (values - mean) ** 2)
    below = np.cumsum(weights) - weights / 2
    fourth = float(weights @ (values - mean) ** 4)
    of = quantiles_of(lambda p: np.interp(p, below, values))
    return Law(mean, variance**0.5, fourth / variance**2, *of)
