"""Products of many points with a triangular matrix, by BLAS's trmm: half the work of a full product.

A matrix that is diagonal may be given as its diagonal (dim,), whose products cost next to nothing.
"""

import numpy as np

from ppl.inference.objective.target import Array
from ppl.late import linalg


def times(lower: Array, points: Array) -> Array:
    """lower p for each p of `points` (..., dim); of the matrix (dim, dim) only the lower triangle is read."""
    return _product(lower, points, transposed=False)


def transposed_times(lower: Array, points: Array) -> Array:
    """lower' p for each p of `points` (..., dim)."""
    return _product(lower, points, transposed=True)


def solved(lower: Array, points: Array) -> Array:
    """The p with lower p = point for each of `points` (n, dim)."""
    if lower.ndim == 1:
        return points / lower
    return np.asarray(linalg.solve_triangular(lower, points.T, lower=True).T)


def inverse_of(lower: Array) -> Array:
    return 1 / lower if lower.ndim == 1 else solved(lower, np.eye(len(lower))).T


def diagonal_of(lower: Array) -> Array:
    return lower if lower.ndim == 1 else np.diag(lower)


def dense(lower: Array) -> Array:
    """The matrix (dim, dim)."""
    return np.diag(lower) if lower.ndim == 1 else lower


def composed(outer: Array, inner: Array) -> Array:
    """The matrix of `inner` first, then `outer`."""
    if outer.ndim == inner.ndim:
        return outer * inner if outer.ndim == 1 else outer @ inner
    return outer[:, None] * inner if outer.ndim == 1 else outer * inner


def _product(lower: Array, points: Array, transposed: bool) -> Array:
    if lower.ndim == 1:
        return lower * points
    if points.ndim != 2 or not points.size or not isinstance(points, np.ndarray):
        return points @ (lower if transposed else lower.T)
    # BLAS reads by columns: to it both arrays are their transposes, as they lie in memory.
    columns = linalg.blas.dtrmm(1.0, lower.T, points.T, lower=0, trans_a=not transposed)
    return np.asarray(columns.T)
