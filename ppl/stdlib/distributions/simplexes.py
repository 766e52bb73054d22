"""Shared by the families with a vector of probabilities."""

import math

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.batching import sum_at
from ppl.stdlib.constraints.simplex import SIMPLEX
from ppl.stdlib.record import guarded


def on_simplex(xp: Namespace, theta: Array, value: Array) -> Array:
    """`value` where theta (..., K) is a simplex, nan elsewhere; the value may have axes after the leading."""
    return guarded(xp, SIMPLEX.contains(xp, theta), value)


def one_hot(xp: Namespace, y: Array, size: int) -> Array:
    """(...,) categories 1..K -> (..., K) booleans."""
    return xp.np.asarray(y)[..., None] == np.arange(1, size + 1)


def pick(xp: Namespace, values: Array, y: Array) -> Array:
    """values[..., y] for categories y in 1..K, and -inf for any other; leading axes broadcast."""
    y, size = xp.np.asarray(y), values.shape[-1]
    index = xp.np.clip(y - 1, 0, size - 1)
    chosen = xp.np.reshape(values, (-1, size))[_rows(values), index]
    return xp.np.where((y >= 1) & (y <= size), chosen, -np.inf)


def picked_adjoint(xp: Namespace, g: Array, y: Array, values: Array) -> Array:
    """The adjoint (..., K) of the values that `pick` picked from, from that of what it gave.

    What several categories pick is summed, so that no array has both their axes and that of the values.
    """
    y, size = xp.np.asarray(y), values.shape[-1]
    inside = (y >= 1) & (y <= size)
    entry = _rows(values) * size + xp.np.clip(y, 1, size)
    shape = np.broadcast_shapes(np.shape(g), np.shape(entry))
    entries, at = (xp.np.reshape(xp.np.broadcast_to(x, shape), (-1,)) for x in (g * inside, entry))
    return xp.np.reshape(sum_at(xp, entries, np.zeros(math.prod(values.shape)), at), values.shape)


def _rows(values: Array) -> np.ndarray:
    """The number of each row of values (..., K), in the shape of their leading axes."""
    lead = values.shape[:-1]
    return np.arange(math.prod(lead)).reshape(lead)
