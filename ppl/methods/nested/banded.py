"""Cholesky factors of many banded matrices, each by LAPACK."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.late import lapack

FIRST_RIDGE = 1e-6
"""The first addition to the diagonal of a matrix that is not positive definite, beside its largest entry."""
RIDGE_FACTOR = 10.0
"""By how much more is added until it is."""
MOST_RIDGES = 10
"""How often."""


class Factors(NamedTuple):
    """Lower Cholesky factors L as bands (n, b + 1, k), of which row i holds the i-th diagonal below.

    `as_given` (n,) is whether the matrix was positive definite as it was.
    """

    bands: Floats
    as_given: NDArray[np.bool_]

    @property
    def half_log_dets(self) -> Floats:
        """The log determinants of L (n,)."""
        return np.asarray(np.log(self.bands[:, 0]).sum(axis=1))

    def solve(self, x: Floats) -> Floats:
        """The inverse of L L' times vectors (n, k)."""
        return self.each(x, lambda band, b: lapack.dpbtrs(band, b, lower=1)[0])

    def solve_transposed(self, x: Floats) -> Floats:
        """The inverse of L' times vectors (n, k)."""
        return self.each(x, lambda band, b: lapack.dtbtrs(band, b, uplo="L", trans="T")[0])

    def each(self, x: Floats, f: Callable[[Floats, Floats], Floats]) -> Floats:
        solutions = [f(band, b[:, None])[:, 0] for band, b in zip(self.bands, x, strict=True)]
        return np.asarray(solutions).reshape(x.shape)

    @property
    def inverses(self) -> Floats:
        """The inverses of L L' within the band (n, b + 1, k), by recursion from the last (Takahashi 1973)."""
        n, rows, size = self.bands.shape
        window, inverse_bands = np.zeros((n, rows - 1, rows - 1)), np.empty_like(self.bands)
        below = self.bands[:, 1:] / self.bands[:, :1]
        for k in reversed(range(size)):
            ahead = -(window @ below[:, :, k, None])[..., 0]
            inverse_bands[:, 0, k] = self.bands[:, 0, k] ** -2 - (below[:, :, k] * ahead).sum(axis=1)
            inverse_bands[:, 1:, k] = ahead
            if rows > 1:
                window[:, 1:, 1:] = window[:, :-1, :-1].copy()
                window[:, 0, 0] = inverse_bands[:, 0, k]
                window[:, 0, 1:] = window[:, 1:, 0] = ahead[:, :-1]
        return inverse_bands

    def lengths(self, x: Floats) -> Floats:
        """|L' x| (n,) of vectors (n, k)."""
        size = x.shape[1]
        product = self.bands[:, 0] * x
        for i in range(1, self.bands.shape[1]):
            product[:, : size - i] += self.bands[:, i, : size - i] * x[:, i:]
        return np.asarray(np.sqrt((product**2).sum(axis=1)))


def factors_of(matrices: Floats) -> Factors:
    """Those of symmetric matrices as lower bands (n, b + 1, k), made positive definite by a ridge."""
    bands, as_given = np.empty_like(matrices), np.ones(len(matrices), dtype=bool)
    for k, matrix in enumerate(matrices):
        bands[k], info = lapack.dpbtrf(matrix, lower=1)
        if info or not np.isfinite(bands[k, 0]).all():
            bands[k], as_given[k] = with_ridge(matrix), False
    return Factors(bands, as_given)


def with_ridge(matrix: Floats) -> Floats:
    """The factor of a matrix plus the least ridge that makes it positive definite; else of a ridge alone."""
    raised = np.where(np.isfinite(matrix), matrix, 0.0)
    largest = max(float(np.abs(raised[0]).max()), 1e-3)
    ridge = FIRST_RIDGE * largest
    for _ in range(MOST_RIDGES):
        raised[0] += ridge
        factor, info = lapack.dpbtrf(raised, lower=1)
        if not info and np.isfinite(factor[0]).all():
            return np.asarray(factor)
        ridge *= RIDGE_FACTOR
    alone = np.zeros_like(matrix)
    alone[0] = np.sqrt(largest)
    return alone
