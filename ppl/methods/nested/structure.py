"""Which coordinates of a target are independent given a few others, as its gradient tells.

If the log density is a sum of terms of which none has both x and y, the gradient in y does not change with
x. So a point is moved in one coordinate, and the gradient looked at for what changed. What is found is never
taken on trust: the draws made by it are weighted by the density of the whole (see `draws`).
"""

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats, Indices
from ppl.kernel.advi.target import Shared, Target
from ppl.methods.nested.adjacency import Graph
from ppl.methods.nested.couplings import COUPLINGS, MinusHessian, are_constant, couplings
from ppl.methods.nested.graph import (
    GRAPH,
    changes,
    graph_of,
    hubs_of,
    responses,
    steps_of,
    with_graphs_beside,
)
from ppl.methods.nested.sparse import FIELD, Field, are_little_work, field_of
from ppl.methods.numerics.index_sets import all_but
from ppl.records import dataclass, replace


class StructureLimits(NamedTuple):
    """The structure to be looked for."""

    most_outer: int = 80
    """Coordinates that others may be independent given: so many a Student's t is fitted to."""

    narrow: int = 3
    """Coordinates of a block for which outer ones that meet few others are worth it."""

    widest: int = 6
    """Coordinates of a block at most."""

    dense: float = 0.8
    """The share of the pairs in wider blocks that meet."""

    few_outer: int = 10
    """So many outer coordinates may be any, where blocks are narrow: a chain falls apart without every fourth
    coordinate, and is a field.
    """

    hub: float = 0.2
    """The others meet at least this share of all coordinates."""

    hub_of_wide: float = 0.1
    """This share all of them meet where blocks are wider."""

    most_spare: int = 2
    """Coordinates of wide blocks that are outer instead, where all others are narrower."""

    fewest_blocks: int = 4
    """Blocks that are worth it."""

    fewest_latent: int = 2
    """Coordinates in blocks for each outer one: of coefficients and their scales, neither is the other's."""

    most_in_groups: int = 200_000
    """Coordinates that are moved many at once; draws of more take more than a quarter of an hour."""


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

    @property
    def narrowed(self) -> "Structure":
        """The same with few more outer coordinates, if the blocks are narrower then: what all take goes by
        the widest.
        """
        for width in range(1, self.width):
            spare = self.blocks[:, width:][self.filled[:, width:]]
            if len(spare) <= STRUCTURE.most_spare:
                outer = np.sort(np.concatenate([self.outer, spare]))
                return Structure(self.dim, outer, self.blocks[:, :width])
        return self


def structure_of(target: Target, u: Floats, rng: np.random.Generator) -> Structure | Field | None:
    """That of a target, seen from a point u (dim,) with a finite gradient; None where it has none."""
    if not STRUCTURE.fewest_blocks < target.dim <= STRUCTURE.most_in_groups:
        return None
    if GRAPH.probes + 2 * code_length(target.dim) < target.dim and (
        structure := small_blocks(target, u, rng)
    ):
        return structure.narrowed
    graph = graph_of(target, u, rng)
    if graph is None:
        return None
    blocks = [blocks_of(graph, widest) for widest in (STRUCTURE.narrow, STRUCTURE.widest)]
    structure = min((each for each in blocks if each), key=lambda each: len(each.outer), default=None)
    if structure and (structure.width <= STRUCTURE.narrow or is_dense(graph, structure)):
        return structure.narrowed
    return sparse_field(target, u, rng, graph) or structure


def sparse_field(target: Target, u: Floats, rng: np.random.Generator, graph: Graph) -> Field | None:
    """The field of a graph, if need be without sums by which many coordinates meet.

    Coordinates that hardly meet at u may do so elsewhere, as those of a Gaussian process by its length scale.
    """
    scalars, free, _ = target.kinds
    complete, fewest = partial(may_be_complete, target), STRUCTURE.fewest_latent
    if field := field_of(graph, scalars, free, fewest):
        everywhere = with_graphs_beside(graph, target, u, rng)
        if everywhere is None:
            return None
        return (
            field if everywhere.size == graph.size else field_of(everywhere, scalars, free, fewest, complete)
        )
    if target.dim > GRAPH.most_alone or not (~scalars).any():
        return None
    touched = graph.matrix | np.eye(target.dim, dtype=bool)
    sums, rest = couplings(curvature(target, u, rng), touched, ~scalars)
    if sums and are_constant(sums, rest, curvature(target, u + rng.normal(size=u.shape), rng)):
        field = field_of(Graph.of_matrix(rest), scalars, free, fewest)
        return field and replace(field, couplings=tuple(each[field.latent] for each in sums))
    return field_of(graph, scalars, free, fewest, complete)


def may_be_complete(target: Target, outer: Indices, size: int) -> bool:
    """Whether the gradients of a Hessian of so many coordinates, one for each, are not too much work."""
    whole = target.width
    if are_little_work(size, whole):
        return True
    most = min(FIELD.most_numbers_shared, FIELD.most_evaluations * whole)
    if size**2 > most:
        return False
    shared = target.view(Shared(outer))
    return shared is not None and size * shared.width <= most


def blocks_of(graph: Graph, widest: int) -> Structure | None:
    """The blocks of a graph, of so many coordinates at most; None where it has none."""
    limits = STRUCTURE
    outer = separators(graph, widest)
    if outer is None or not len(outer):  # of independent coordinates a mean-field q is enough
        return None
    dim = graph.dim
    latent = all_but(dim, outer)
    if len(latent) < limits.fewest_latent * len(outer):
        return None
    labels = graph.among(latent).components()
    sizes = np.bincount(labels)
    if len(sizes) < limits.fewest_blocks:
        return None
    order = np.argsort(labels, kind="stable")
    place = np.arange(len(latent)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    blocks = np.full((len(sizes), int(sizes.max())), dim)
    blocks[labels[order], place] = latent[order]
    return Structure(dim, outer, blocks)


def is_dense(graph: Graph, structure: Structure) -> bool:
    """Whether most coordinates of a block meet each other: others are a field at less cost."""
    latent = np.sort(structure.blocks[structure.filled])
    inside = graph.among(latent).size + len(latent)
    return bool(inside >= STRUCTURE.dense * (structure.filled.sum(axis=1) ** 2).sum())


def curvature(target: Target, u: Floats, rng: np.random.Generator) -> MinusHessian:
    """That between all pairs of coordinates, at distant points if the target is not quadratic."""
    steps, (values, noise) = steps_of(target.dim, rng), np.zeros((2, target.dim, target.dim))
    for part, change, size in changes(target, u, steps, np.eye(target.dim, dtype=bool)):
        values[part] = -change / steps[part, None]
        noise[part] = COUPLINGS.noise * size / np.abs(steps[part, None])
    return MinusHessian(values, noise)


def small_blocks(target: Target, u: Floats, rng: np.random.Generator) -> Structure | None:
    """Blocks of at most two coordinates by some 2 log2(dim) gradients, not one for each; None for others.

    Those that are no hubs have random codes in binary, and all with a bit of 1, or of 0, are moved at once: a
    gradient that responds to those whose bit it has not tells that its partner's code differs there.
    """
    dim, (outer, _) = target.dim, hubs_of(target, u, rng)
    latent = all_but(dim, outer)
    if not 0 < len(outer) <= STRUCTURE.most_outer or len(latent) < STRUCTURE.fewest_latent * len(outer):
        return None
    length = code_length(len(latent))
    codes = np.sort(rng.choice(1 << length, len(latent), replace=False))
    latent = rng.permutation(latent)
    bits = (codes >> np.arange(length)[:, None] & 1).astype(bool)
    perturbed = np.zeros((2, length, dim), dtype=bool)
    perturbed[:, :, latent] = bits, ~bits
    ones, zeros = responses(target, u, perturbed.reshape(-1, dim), rng)[:, latent].reshape(2, length, -1)
    partners = codes ^ (1 << np.arange(length)) @ np.where(bits, zeros, ones)
    at = np.minimum(np.searchsorted(codes, partners), len(codes) - 1)
    if (codes[at] != partners).any() or (at[at] != np.arange(len(at))).any():
        return None
    pairs = np.unique(np.sort(np.stack([latent, latent[at]], axis=1), axis=1), axis=0)
    single = pairs[:, 0] == pairs[:, 1]
    blocks = np.where(single[:, None] & [False, True], dim, pairs)
    return Structure(dim, outer, blocks[:, :1] if single.all() else blocks)


def code_length(n: int) -> int:
    """Bits of codes of which at most half are taken: the complement of one is mostly none's."""
    return n.bit_length() + 1


def separators(graph: Graph, widest: int) -> Indices | None:
    """Few coordinates without which the rest falls into blocks: those that meet most others, one by one."""
    dim = graph.dim
    outer, left = list[int](), np.ones(dim, dtype=bool)
    narrow = widest <= STRUCTURE.narrow
    any_of, hub = (STRUCTURE.few_outer, STRUCTURE.hub) if narrow else (0, STRUCTURE.hub_of_wide)
    while len(outer) <= min(STRUCTURE.most_outer, dim - 1):
        if widest_of(graph.among(np.flatnonzero(left))) <= widest:
            return needed(graph, outer, widest)
        degrees = graph.degrees(left) * left
        most = int(degrees.argmax())
        if len(outer) >= any_of and degrees[most] < hub * dim:
            return None
        outer.append(most)
        left[most] = False
    return None


def needed(graph: Graph, outer: list[int], widest: int) -> Indices:
    """Those of the separators without which blocks would be too wide."""
    chosen = list(outer)
    for each in outer:
        rest = all_but(graph.dim, [k for k in chosen if k != each])
        if widest_of(graph.among(rest)) <= widest:
            chosen.remove(each)
    return np.array(sorted(chosen), dtype=np.intp)


def widest_of(graph: Graph) -> int:
    """How many coordinates the largest component has."""
    return int(np.bincount(graph.components()).max(initial=0))
