"""Sums of what is given by logarithms, to the last bit as `scipy.special`, whose Python is slow to import."""

import numpy as np
from numpy.typing import ArrayLike

from ppl.floats import Floats


def log_sum_exp(x: ArrayLike, axis: int | None = None) -> Floats:
    """log(sum(exp(x))) over an axis, or over all entries; of infinite entries what IEEE's arithmetic says."""
    x = np.asarray(x, dtype=float)
    if not x.size:
        return np.full(np.delete(x.shape, range(x.ndim) if axis is None else axis), -np.inf)[()]
    top = x.max(axis=axis, keepdims=True)
    at_top = x == top
    with np.errstate(all="ignore"):
        count = at_top.sum(axis=axis, keepdims=True, dtype=float)
        rest = np.exp(np.where(at_top, -np.inf, x) - top).sum(axis=axis, keepdims=True)
        out = np.log1p(rest / count) + np.log(count) + top
        if not np.isfinite(out).all():
            out = np.where(np.isfinite(out), out, np.log(np.exp(x).sum(axis=axis, keepdims=True)))
    return out.squeeze(axis=axis)[()]


def softmax(x: Floats) -> Floats:
    """exp(x) / sum(exp(x)) of a vector."""
    each = np.exp(x - x.max())
    return np.asarray(each / each.sum())
