"""Sums by which many coordinates meet that otherwise meet few, as those of a soft sum-to-zero constraint.

A normal density of a weighted sum adds a matrix of rank one to the precision, the same everywhere. Entries
of the precision that are products of two weights and nothing else are no term of their two coordinates.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats


class CouplingLimits(NamedTuple):
    """Which sums are looked for."""

    most: int = 4
    """How many."""

    fewest: int = 20
    """The coordinates of one at least: fewer may as well meet each other."""

    alone: float = 0.5
    """At least this share of the pairs of these meet by the sum alone."""

    noise: float = 1e-10
    """The rounding of a gradient beside its size."""


COUPLINGS = CouplingLimits()


class MinusHessian(NamedTuple):
    """Minus the Hessian (dim, dim) by differences of gradients, and what may be rounding in it."""

    values: Floats
    noise: Floats


def couplings(
    curvature: MinusHessian, touched: NDArray[np.bool_], free: NDArray[np.bool_]
) -> tuple[list[Floats], NDArray[np.bool_]]:
    """The weights (dim,) of sums of `free` coordinates (dim,), and which meet (dim, dim) without these."""
    values, graph, directions = curvature.values.copy(), touched.copy(), list[Floats]()
    while len(directions) < COUPLINGS.most:
        degrees = (graph[free] & free).sum(axis=0)
        members = np.nonzero(graph[int(degrees.argmax())] & free)[0]
        if len(members) < COUPLINGS.fewest:
            break
        within = np.ix_(members, members)
        weights = weights_of(values[within])
        if weights is None:
            break
        left = values[within] - np.outer(weights, weights)
        meet = ~(np.abs(left) <= curvature.noise[within])  # nan may be anything
        if meet.mean() > 1 - COUPLINGS.alone:
            break
        values[within], graph[within] = left, meet | meet.T
        directions.append(np.zeros(len(graph)))
        directions[-1][members] = weights
    return directions, graph


def are_constant(sums: Sequence[Floats], rest: NDArray[np.bool_], elsewhere: MinusHessian) -> bool:
    """Whether elsewhere too those sums are all by which coordinates meet that do not in `rest` (dim, dim)."""
    weights = np.array(sums)
    members = (weights != 0).any(axis=0)
    alone = members[:, None] & members & ~rest & ~np.eye(len(rest), dtype=bool)
    return bool((np.abs(elsewhere.values - weights.T @ weights) <= elsewhere.noise)[alone].all())


def weights_of(curvature: Floats) -> Floats | None:
    """w (k,) where most entries (k, k) of a curvature are w w'; None where no w is.

    Ratios of entries in two columns are those of their weights, but for few.
    """
    off = curvature.copy()
    np.fill_diagonal(off, np.nan)
    with np.errstate(all="ignore"):
        largest = int(np.nanmedian(np.abs(off), axis=0).argmax())
        ratios = np.nanmedian(off / off[:, largest, None], axis=0)
        ratios[largest] = 1.0
        square = float(np.nanmedian(off / np.outer(ratios, ratios)))
    return np.sqrt(square) * ratios if square > 0 and np.isfinite(ratios).all() else None
