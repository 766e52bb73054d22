"""Triangular matrices: Cholesky factors, solutions, and products of many points, half the work of full ones.

LAPACK and BLAS are called as `scipy.linalg` calls them, whose Python takes as long to import as a small fit.

A matrix that is diagonal may be given as its diagonal (dim,), whose products cost next to nothing.
"""

import numpy as np

from ppl.floats import Floats
from ppl.late import blas, lapack


def cholesky(a: Floats) -> Floats:
    """The lower-triangular factor of a symmetric matrix (dim, dim).

    Raises LinAlgError where it is not positive definite, or not finite.
    """
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("the matrix is not finite")
    factor, minor = lapack.dpotrf(a, lower=1, clean=1)
    if minor:
        raise np.linalg.LinAlgError(f"leading minor {minor} of the matrix is not positive definite")
    return np.asarray(factor)


def solve_triangular(a: Floats, b: Floats, lower: bool = True, transposed: bool = False) -> Floats:
    """The x with a x = b, or a' x = b; of a (dim, dim) only the triangle is read.

    Raises LinAlgError where a diagonal entry is 0.
    """
    if not b.size:
        return np.empty_like(b)
    flipped = not a.flags.f_contiguous  # to LAPACK, which reads by columns, it is its transpose
    x, singular = lapack.dtrtrs(
        a.T if flipped else a, b, lower=int(lower is not flipped), trans=int(transposed is not flipped)
    )
    if singular:
        raise np.linalg.LinAlgError(f"diagonal entry {singular} of the factor is 0")
    return np.asarray(x)


def times(lower: Floats, points: Floats) -> Floats:
    """lower p for each p of `points` (..., dim); of the matrix (dim, dim) only the lower triangle is read."""
    return _product(lower, points, transposed=False)


def transposed_times(lower: Floats, points: Floats) -> Floats:
    """lower' p for each p of `points` (..., dim)."""
    return _product(lower, points, transposed=True)


def solved(lower: Floats, points: Floats) -> Floats:
    """The p with lower p = point for each of `points` (n, dim)."""
    if lower.ndim == 1:
        return points / lower
    return solve_triangular(lower, points.T).T


def inverse_of(lower: Floats) -> Floats:
    return 1 / lower if lower.ndim == 1 else solved(lower, np.eye(len(lower))).T


def diagonal_of(lower: Floats) -> Floats:
    return lower if lower.ndim == 1 else np.diag(lower)


def dense(lower: Floats) -> Floats:
    """The matrix (dim, dim)."""
    return np.diag(lower) if lower.ndim == 1 else lower


def composed(outer: Floats, inner: Floats) -> Floats:
    """The matrix of `inner` first, then `outer`."""
    if outer.ndim == inner.ndim:
        return outer * inner if outer.ndim == 1 else outer @ inner
    return outer[:, None] * inner if outer.ndim == 1 else outer * inner


def _product(lower: Floats, points: Floats, transposed: bool) -> Floats:
    if lower.ndim == 1:
        return lower * points
    if points.ndim != 2 or not points.size or not isinstance(points, np.ndarray):
        return points @ (lower if transposed else lower.T)
    # BLAS reads by columns: to it both arrays are their transposes, as they lie in memory.
    columns = blas.dtrmm(1.0, lower.T, points.T, lower=0, trans_a=not transposed)
    return np.asarray(columns.T)
