"""Products of many points with a triangular matrix, by BLAS's trmm: half the work of a full product."""

import numpy as np
from scipy.linalg.blas import dtrmm

from ppl.inference.target import Array


def times(lower: Array, points: Array) -> Array:
    """lower p for each p of `points` (..., dim); of the matrix (dim, dim) only the lower triangle is read."""
    return _product(lower, points, transposed=False)


def transposed_times(lower: Array, points: Array) -> Array:
    """lower' p for each p of `points` (..., dim)."""
    return _product(lower, points, transposed=True)


def _product(lower: Array, points: Array, transposed: bool) -> Array:
    if points.ndim != 2 or not points.size:
        return points @ (lower if transposed else lower.T)
    # BLAS reads by columns: to it both arrays are their transposes, as they lie in memory.
    columns = dtrmm(1.0, lower.T, points.T, lower=0, trans_a=not transposed)
    return np.asarray(columns.T)
