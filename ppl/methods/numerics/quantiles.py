"""Quantiles as NumPy interpolates them, to the last bit; its own function imports all of numpy.ma."""

from collections.abc import Sequence

import numpy as np

from ppl.floats import Floats


def quantiles(x: Floats, shares: Floats | Sequence[float]) -> Floats:
    """Those of values x (n, ...) at shares (k,), (k, ...); nan of those with a nan among them.

    Example:
        >>> quantiles([4.0, 1.0, 2.0], [0.5, 1.0]).tolist()
        [2.0, 4.0]
    """
    ordered = np.sort(x, axis=0)
    at = np.multiply(shares, len(ordered) - 1)
    below = np.floor(at).astype(np.intp)
    low, high = ordered[below], ordered[np.minimum(below + 1, len(ordered) - 1)]
    part, step = (at - below).reshape(-1, *(1,) * (ordered.ndim - 1)), high - low
    between = np.where(part < 0.5, low + step * part, high - step * (1 - part))
    return np.where(np.isnan(ordered[-1]), np.nan, between)


def weighted_quantiles(x: Floats, weights: Floats, shares: Floats) -> Floats:
    """Those of values x (n, d) with weights (n,) at shares (k,), (k, d): between values, by the weights below
    the middle of each.

    Example:
        >>> x, weights = np.array([[4.0], [1.0], [2.0]]), np.array([0.5, 0.25, 0.25])
        >>> weighted_quantiles(x, weights, np.array([0.125, 0.25, 0.75])).tolist()
        [[1.0], [1.5], [4.0]]
    """
    order = np.argsort(x, axis=0)
    own = weights[order]
    middle = np.cumsum(own, axis=0) - own / 2
    columns = zip(middle.T, np.take_along_axis(x, order, axis=0).T, strict=True)
    return np.array([np.interp(shares * weights.sum(), *column) for column in columns]).T


def median(x: Floats) -> float:
    """The median of values x (n,), none of them nan."""
    middle = np.sort(x)[(len(x) - 1) // 2 : len(x) // 2 + 1]
    return float(middle.mean())
