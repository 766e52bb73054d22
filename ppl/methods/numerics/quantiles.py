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


def median(x: Floats) -> float:
    """The median of values x (n,), none of them nan."""
    middle = np.sort(x)[(len(x) - 1) // 2 : len(x) // 2 + 1]
    return float(middle.mean())
