"""Quantities of laws that are known: a distribution of SciPy, a mixture of normals, weights on points."""

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from tests.benchmarks.errors import Floats, Quantity

HALVINGS = 60


def of_law(law: Any, moments: bool = True) -> Quantity:
    """A frozen distribution of SciPy; without `moments` where it has none, or draws cannot tell them."""
    mean, sd = (float(law.mean()), float(law.std())) if moments else (math.nan, math.nan)
    return Quantity(mean, sd, float(law.ppf(0.05)), float(law.ppf(0.95)))


def of_mixture(weights: Floats, means: Floats, sds: Floats, moments: bool = True) -> Quantity:
    """A mixture of normals, arrays (k,) that broadcast; its quantiles by bisection."""
    weights, means, sds = np.broadcast_arrays(weights, means, sds)
    weights = weights / weights.sum()
    mean = float(weights @ means)
    sd = math.sqrt(weights @ (sds**2 + (means - mean) ** 2))
    lower, upper = (_quantile(p, weights, means, sds) for p in (0.05, 0.95))
    return Quantity(mean, sd, lower, upper) if moments else Quantity(q05=lower, q95=upper)


def _quantile(p: float, weights: Floats, means: Floats, sds: Floats) -> float:
    low, high = float((means - 40 * sds).min()), float((means + 40 * sds).max())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = weights @ ndtr((middle - means) / sds) < p
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2


def of_points(values: Floats, log_weights: Floats) -> Quantity:
    """Weights on points, those of a fine grid; its quantiles linear between them."""
    order = np.argsort(values, axis=None)
    x, weights = values.ravel()[order], np.exp(log_weights - log_weights.max()).ravel()[order]
    weights /= weights.sum()
    mean = float(weights @ x)
    lower, upper = np.interp([0.05, 0.95], np.cumsum(weights) - weights / 2, x)
    return Quantity(mean, math.sqrt(weights @ (x - mean) ** 2), float(lower), float(upper))
