"""The metric of Hamiltonian trajectories: coordinates in which chains are uncorrelated, of sd 1.

In many dimensions they are so along a few directions only. Of a sample of as many draws as dimensions the
covariance is mostly noise, but the variance along a direction in which all coordinates move a little, as
where a mean is shared by hundreds, stands out of it. How far it must to be no noise, and how much of it is:
Donoho, Gavish and Johnstone (2018), "Optimal shrinkage of eigenvalues in the spiked covariance model",
Annals of Statistics 46, section 1.

A metric that is learnt from where chains are biases them while they move in it. So chains are of two folds,
and each moves in that of the other: Hoffman and Sountsov (2022), "Tuning-free generalized Hamiltonian Monte
Carlo", AISTATS.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.triangular import cholesky, composed, dense, solved, times, transposed_times

CORRELATED_DIMENSIONS = 200
"""Dimensions up to which the metric has all correlations: so few draws know little of more of them, and
products with a matrix would cost more than the target.
"""


class WideDirectionLimits(NamedTuple):
    """Which directions are wider."""

    most: int = 16
    """Directions that are looked at."""

    steps: int = 8
    """Of the power iteration that finds them."""

    clear_of_noise: float = 1.5
    """The variance along one beside the largest that noise has."""

    most_numbers: int = 2**20
    """Numbers in the points that they are found by, lest that takes longer than moves."""


WIDE_DIRECTIONS = WideDirectionLimits()


class Directions(NamedTuple):
    """The map D (I + V diag(gain) V') of standard coordinates: D of `scales` (dim,), V orthonormal `axes`
    (dim, k), and `gain` (k,) by how much more than 1 a step along one is."""

    scales: Floats
    axes: Floats
    gain: Floats

    def times(self, points: Floats) -> Floats:
        """The map of points (n, dim)."""
        return self.scales * self._along_axes(points)

    def transposed_times(self, points: Floats) -> Floats:
        """Its transpose of points (n, dim)."""
        return self._along_axes(self.scales * points)

    @property
    def variances(self) -> Floats:
        """The diagonal (dim,) of the map times its transpose."""
        return self.scales**2 * (1 + self.axes**2 @ ((1 + self.gain) ** 2 - 1))

    def _along_axes(self, points: Floats) -> Floats:
        return points + (points @ self.axes * self.gain) @ self.axes.T


Factor = Floats | Directions
"""A lower-triangular matrix (dim, dim), its diagonal (dim,), or sds and directions."""


def product(factor: Factor, x: Floats) -> Floats:
    """The factor times each row of x (n, dim)."""
    return factor.times(x) if isinstance(factor, Directions) else times(factor, x)


def transposed_product(factor: Factor, x: Floats) -> Floats:
    """Its transpose times each row of x (n, dim)."""
    return factor.transposed_times(x) if isinstance(factor, Directions) else transposed_times(factor, x)


def variances_of(factor: Factor) -> Floats:
    """The diagonal (dim,) of the factor times its transpose."""
    return factor.variances if isinstance(factor, Directions) else (dense(factor) ** 2).sum(axis=1)


class Metric(NamedTuple):
    """The factors in which chains of either fold move; the second begins at chain `second`."""

    factors: tuple[Factor, Factor]
    second: int

    def at(self, places: NDArray[np.intp]) -> "Metric":
        """That of chains at these places, in order."""
        return Metric(self.factors, int(np.searchsorted(places, self.second)))

    def velocity(self, momentum: Floats) -> Floats:
        """That of chains with a momentum (n, dim), which is standard normal."""
        return self._of_each(product, momentum)

    def force(self, slope: Floats) -> Floats:
        """The change of the momentum where the log density has that slope (n, dim)."""
        return self._of_each(transposed_product, slope)

    @property
    def variances(self) -> Floats:
        """The variances (dim,) that it takes coordinates to have, on average of both factors."""
        return np.mean([variances_of(factor) for factor in self.factors], axis=0)

    def _of_each(self, map_: Callable[[Factor, Floats], Floats], x: Floats) -> Floats:
        products = np.empty_like(x)
        for factor, own in zip(self.factors, folds(self.second), strict=True):
            products[own] = map_(factor, x[own])
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


def directions_of(u: Floats, scales: Floats) -> Directions | None:
    """Those in which points u (n, dim), of sds `scales` (dim,), are clearly wider, if there are any."""
    u = u[:: -(-u.size // WIDE_DIRECTIONS.most_numbers)]
    n, dim = u.shape
    k, ratio = min(WIDE_DIRECTIONS.most, n), dim / n
    z = (u - u.mean(axis=0)) / scales
    axes = z[:: max(1, n // k)][:k].T
    for _ in range(WIDE_DIRECTIONS.steps):
        axes = np.linalg.qr(z.T @ (z @ axes))[0]
    variances, turns = np.linalg.eigh(axes.T @ (z.T @ (z @ axes)) / n)
    clear = variances > WIDE_DIRECTIONS.clear_of_noise * (1 + np.sqrt(ratio)) ** 2
    if not clear.any():
        return None
    sample, axes = variances[clear], axes @ turns[:, clear]
    least = sample + 1 - ratio
    true = (least + np.sqrt(least**2 - 4 * sample)) / 2
    aligned = (1 - ratio / (true - 1) ** 2) / (1 + ratio / (true - 1))
    return Directions(scales, axes, np.sqrt(1 + (true - 1) * aligned) - 1)


def learnt(u: Floats, before: Factor) -> Factor:
    """The factor of u (n, dim) whose correlations are shrunk in coordinates of the one `before`.

    So a few stages of few positions learn a posterior that is a thousand times as wide in one direction as in
    another, of which one stage learns a part. In many dimensions only directions are correlated.

    Raises LinAlgError as `metric_of` does.
    """
    if u.shape[1] > CORRELATED_DIMENSIONS or isinstance(before, Directions):
        sds = metric_of(u)
        return directions_of(u, sds) or sds
    return composed(before, metric_of(solved(before, u)))


def positive(scales: Floats) -> Floats:
    """The scales (dim,). Raises LinAlgError where one is not positive and finite."""
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        raise np.linalg.LinAlgError("a coordinate has no spread, or is not finite")
    return np.asarray(scales)
