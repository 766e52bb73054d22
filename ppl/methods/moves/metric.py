"""The metric of Hamiltonian trajectories: coordinates in which chains are uncorrelated, of sd 1.

A metric that is learnt from where chains are biases them while they move in it. So chains are of two folds,
and each moves in that of the other: Hoffman and Sountsov (2022), "Tuning-free generalized Hamiltonian Monte
Carlo", AISTATS.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.triangular import cholesky, composed, solved, times, transposed_times

CORRELATED_DIMENSIONS = 200
"""Dimensions up to which the metric has correlations. Above only sds: so few draws know little of
correlations, and products with a matrix would cost more than the target.
"""


class Metric(NamedTuple):
    """The factors of `metric_of` in which chains of either fold move; the second begins at chain `second`."""

    factors: tuple[Floats, Floats]
    second: int

    def at(self, places: NDArray[np.intp]) -> "Metric":
        """That of chains at these places, in order."""
        return Metric(self.factors, int(np.searchsorted(places, self.second)))

    def velocity(self, momentum: Floats) -> Floats:
        """That of chains with a momentum (n, dim), which is standard normal."""
        return self._product(times, momentum)

    def force(self, slope: Floats) -> Floats:
        """The change of the momentum where the log density has that slope (n, dim)."""
        return self._product(transposed_times, slope)

    def _product(self, product: Callable[[Floats, Floats], Floats], x: Floats) -> Floats:
        products = np.empty_like(x)
        for factor, own in zip(self.factors, folds(self.second), strict=True):
            products[own] = product(factor, x[own])
        return products


def folds(second: int) -> tuple[slice, slice]:
    """Both folds of chains."""
    return slice(second), slice(second, None)


def second_of(chains: int) -> int:
    """The first chain of the second fold; of fewer than four there is no other. Pairs are of one fold."""
    return chains // 4 * 2


def metric_of(u: Floats) -> Floats:
    """A Cholesky factor of the covariance of u (n, dim), its correlations shrunk by dim / (dim + n).

    In more than `CORRELATED_DIMENSIONS` dimensions only the sds (dim,).

    Raises LinAlgError where there is none, as where a coordinate has no spread or is not finite.
    """
    n, dim = u.shape
    if dim > CORRELATED_DIMENSIONS:
        return positive(u.std(axis=0))
    covariance = np.atleast_2d(np.cov(u.T))
    shrink = dim / (dim + n)
    diagonal = np.diag(np.diag(covariance))
    if not np.isfinite(covariance).all():
        raise np.linalg.LinAlgError("a draw is not finite")
    return cholesky((1 - shrink) * covariance + shrink * diagonal)


def learnt(u: Floats, before: Floats) -> Floats:
    """The factor of u (n, dim) whose correlations are shrunk in coordinates of the one `before`.

    So a few stages of few positions learn a posterior that is a thousand times as wide in one direction as in
    another, of which one stage learns a part.
    """
    return composed(before, metric_of(solved(before, u)))


def positive(scales: Floats) -> Floats:
    """The scales (dim,). Raises LinAlgError where one is not positive and finite."""
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        raise np.linalg.LinAlgError("a coordinate has no spread, or is not finite")
    return np.asarray(scales)
