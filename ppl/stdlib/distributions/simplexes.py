"""What the families with a vector of probabilities share."""

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.stdlib.constraints.sentences import TOLERANCE
from ppl.stdlib.record import guarded


def is_simplex(xp: Namespace, theta: Array) -> Array:
    """Of theta (..., K), with the tolerance of Stan."""
    sums_to_one = xp.np.abs(xp.np.sum(theta, axis=-1) - 1.0) <= TOLERANCE
    return sums_to_one & xp.np.all(theta >= 0, axis=-1)


def on_simplex(xp: Namespace, theta: Array, value: Array) -> Array:
    """`value` where theta (..., K) is a simplex, nan elsewhere; the value may have axes after the leading."""
    return guarded(xp, is_simplex(xp, theta), value)


def one_hot(xp: Namespace, y: Array, size: int) -> Array:
    """(...,) categories 1..K -> (..., K) booleans."""
    return xp.np.asarray(y)[..., None] == np.arange(1, size + 1)


def pick(xp: Namespace, values: Array, y: Array) -> Array:
    """values[..., y] for categories y in 1..K, and -inf for any other; leading axes broadcast."""
    y, size = xp.np.asarray(y), values.shape[-1]
    index = xp.np.clip(y - 1, 0, size - 1)
    if values.ndim == 1:
        chosen = values[index]
    else:
        lead = np.broadcast_shapes(values.shape[:-1], y.shape)
        full = xp.np.broadcast_to(values, (*lead, size))
        chosen = xp.np.take_along_axis(full, xp.np.broadcast_to(index, lead)[..., None], axis=-1)[..., 0]
    return xp.np.where((y >= 1) & (y <= size), chosen, -np.inf)
