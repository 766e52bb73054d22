"""Which coordinates of a target are independent given a few others, as its gradient tells.

If the log density is a sum of terms of which none has both x and y, the gradient in y does not change with
x. So a point is moved in one coordinate, and the gradient looked at for what changed. What is found is never
taken on trust: the draws made by it are weighted by the density of the whole (see `draws`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ppl.inference.nested.sparse import Field, field_of
from ppl.inference.numerics.parts import row_parts
from ppl.inference.objective.target import (
    Array,
    Target,
    kinds_of,
    log_density_gradients,
)
from ppl.late import LateModule

sparse, csgraph = LateModule("scipy.sparse"), LateModule("scipy.sparse.csgraph")

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class StructureLimits:
    """What is looked for."""

    most_outer: int = 25
    """Coordinates that others may be independent given: so many a Student's t is fitted to."""

    few_outer: int = 10
    """So many of these may be any: a chain falls apart without every fourth coordinate, and is a field."""

    hub: float = 0.2
    """The others meet at least this share of all coordinates."""

    widest_block: int = 3
    """Coordinates of a block: with more, a polynomial over it has too many terms."""

    fewest_blocks: int = 4
    """Blocks that are worth it."""

    fewest_latent: int = 2
    """Coordinates in blocks for each outer one: of coefficients and their scales, neither is the other's."""

    most_dimensions: int = 4000
    """Coordinates that are moved one by one."""

    smallest_change: float = 1e-9
    """The change of a gradient, beside its size, that is no rounding."""

    nearest: float = 0.1
    """How far a coordinate is moved at least, and at most eight times as far."""


STRUCTURE = StructureLimits()


@dataclass(frozen=True)
class Structure:
    """`outer` (d,) are coordinates given which those of different rows of `blocks` (g, w) are independent.

    A block of fewer than w has `dim` in the places that are left over.
    """

    dim: int
    outer: Indices
    blocks: Indices

    @property
    def width(self) -> int:
        return int(self.blocks.shape[1])

    @cached_property
    def filled(self) -> NDArray[np.bool_]:
        """Which places of the blocks (g, w) have a coordinate."""
        return np.asarray(self.blocks < self.dim)


def structure_of(target: Target, u: Array, rng: np.random.Generator) -> Structure | Field | None:
    """That of a target, seen from a point u (dim,) with a finite gradient; None where it has none."""
    if not STRUCTURE.fewest_blocks < target.dim <= STRUCTURE.most_dimensions:
        return None
    touched = meets(target, u, rng)
    return blocks_of(touched) or field_of(touched, *kinds_of(target), STRUCTURE.fewest_latent)


def blocks_of(touched: NDArray[np.bool_]) -> Structure | None:
    """The blocks of a graph (dim, dim); None where it has none."""
    limits = STRUCTURE
    outer = separators(touched)
    if outer is None or not len(outer):  # of independent coordinates a mean-field q is enough
        return None
    dim = len(touched)
    latent = np.setdiff1d(np.arange(dim), outer)
    if len(latent) < limits.fewest_latent * len(outer):
        return None
    labels = components(touched, latent)
    count = int(labels.max()) + 1
    if count < limits.fewest_blocks:
        return None
    blocks = np.full((count, int(np.bincount(labels).max())), dim)
    for label in range(count):
        own = latent[labels == label]
        blocks[label, : len(own)] = own
    return Structure(dim, outer, blocks)


def meets(target: Target, u: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which pairs of coordinates (dim, dim) have a term in common."""
    dim, least = target.dim, STRUCTURE.nearest
    steps = rng.uniform(least, 8 * least, dim) * rng.choice([-1.0, 1.0], dim)
    _, here = log_density_gradients(target, np.array([u, u]))  # at two points, as the others are
    touched = np.zeros((dim, dim), dtype=bool)
    for part in row_parts(dim, dim):
        moved = np.repeat(u[None], part.stop - part.start, axis=0)
        rows = np.arange(part.start, part.stop)
        moved[np.arange(len(rows)), rows] += steps[rows]
        _, there = log_density_gradients(target, moved)
        size = np.abs(here[0]) + np.abs(there)
        # what is not finite may depend on anything
        touched[rows] = ~(np.abs(there - here[0]) <= STRUCTURE.smallest_change * np.maximum(size, 1e-6))
    return np.asarray(touched | touched.T)


def separators(touched: NDArray[np.bool_]) -> Indices | None:
    """Few coordinates without which the rest falls into blocks: those that meet most others, one by one."""
    outer = list[int]()
    graph = touched.copy()
    np.fill_diagonal(graph, False)
    while len(outer) <= min(STRUCTURE.most_outer, len(touched) - 1):
        if widest(graph) <= STRUCTURE.widest_block:
            return needed(touched, outer)
        most = int(graph.sum(axis=0).argmax())
        if len(outer) >= STRUCTURE.few_outer and graph[most].mean() < STRUCTURE.hub:
            return None
        outer.append(most)
        graph[most] = graph[:, most] = False
    return None


def needed(touched: NDArray[np.bool_], outer: list[int]) -> Indices:
    """Those of the separators without which blocks would be too wide."""
    kept = list(outer)
    for each in outer:
        rest = np.setdiff1d(np.arange(len(touched)), [k for k in kept if k != each])
        if np.bincount(components(touched, rest)).max() <= STRUCTURE.widest_block:
            kept.remove(each)
    return np.array(sorted(kept), dtype=np.intp)


def widest(graph: NDArray[np.bool_]) -> int:
    """How many coordinates the largest component has."""
    _, labels = csgraph.connected_components(sparse.csr_array(graph), directed=False)
    return int(np.bincount(labels).max(initial=0))


def components(touched: NDArray[np.bool_], some: Indices) -> Indices:
    """Of each of some coordinates, which component of the graph among them it is in."""
    _, labels = csgraph.connected_components(sparse.csr_array(touched[np.ix_(some, some)]), directed=False)
    return np.asarray(labels, dtype=np.intp)
