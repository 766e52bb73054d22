"""Triangular systems of a matrix or a batch, by BLAS: np.linalg.solve takes 3 to 12 times as long."""

import numpy as np

from ppl.floats import Floats
from ppl.late import blas

FEW_ROWS = 8
"""Rows up to which a batch of matrices is quicker solved row by row."""


def solve_lower(lower: Floats, b: Floats, transposed: bool = False) -> Floats:
    """X with L X = B, or L' X = B, from the lower triangles L (..., n, n) alone; B is (..., n, m).

    Nan throughout where the diagonal has a 0.
    """
    lower, lead = with_nan_for_singular(lower), np.broadcast_shapes(lower.shape[:-2], b.shape[:-2])
    x = np.empty((*lead, *b.shape[-2:]))
    x[...] = b
    if not x.size:
        return x
    if lower.ndim > 2 and lower.shape[-1] <= FEW_ROWS:
        substitute(lower, x, transposed)
        return x
    each = np.broadcast_to(lower, (*lead, *lower.shape[-2:])) if lead else lower[None]
    for place, own in zip(np.ndindex(lead), each.reshape(-1, *lower.shape[-2:]), strict=True):
        # To BLAS, which reads by columns, these are L' and X': X' L' = B' is solved where B is.
        blas.dtrsm(1.0, own.T, x[place].T, side=1, trans_a=int(transposed), overwrite_b=1)
    return x


def substitute(lower: Floats, x: Floats, transposed: bool) -> None:
    """The same where B is, by substitution, a row of all matrices after the other.

    Pivots, as of a solver of any matrix, make a triangle singular whose diagonal is small beside the rest.
    """
    n = lower.shape[-1]
    with np.errstate(all="ignore"):
        for k in range(n)[:: -1 if transposed else 1]:
            known = slice(k + 1, n) if transposed else slice(0, k)
            row = lower[..., known, k] if transposed else lower[..., k, known]
            if row.size:
                x[..., k, :] -= np.einsum("...j,...jm->...m", row, x[..., known, :])
            x[..., k, :] /= lower[..., k, k, None]


def with_nan_for_singular(lower: Floats) -> Floats:
    """The matrices, all nan where the diagonal has a 0."""
    singular = (np.diagonal(lower, 0, -2, -1) == 0).any(axis=-1)
    return np.where(singular[..., None, None], np.nan, lower) if singular.any() else lower
