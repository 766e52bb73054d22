"""Which coordinates of a target meet: if one is moved, the gradient of the other changes.

Few coordinates are moved one by one. Of many that meet few others each, random sets are moved at once (group
testing; Dorfman 1943, "The detection of defective members"): two coordinates do not meet if the gradient of
one stays as it is when the other is moved.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats, Indices
from ppl.kernel.advi.parts import row_parts
from ppl.kernel.advi.target import Target
from ppl.methods.nested.adjacency import Graph
from ppl.methods.numerics.index_sets import all_but


class GraphLimits(NamedTuple):
    """How graphs are found."""

    few: int = 1000
    """Coordinates that are moved one by one without a look at whether sets of them would do."""

    most_alone: int = 4000
    """Coordinates that are moved one by one at most."""

    probes: int = 64
    """Coordinates that are moved alone to see how many others one meets."""

    most_met: int = 100
    """A probe that meets at most so many may be latent."""

    hub: int = 3
    """Such probes that a coordinate meets at most, unless it is a hub."""

    spare: int = 2
    """Coordinates that one may meet beyond what was seen of the probes."""

    false: float = 1e-3
    """Pairs that seem to meet and do not, on average."""

    crowded: int = 4
    """A coordinate that seems to meet so many times as many as the probes do is moved alone, too."""

    most_crowded: int = 256
    """Hubs and such coordinates at most."""

    most_pairing: int = 40_000
    """Coordinates of which each pair may meet: so many take half a minute."""

    smallest_change: float = 1e-9
    """The change of a gradient, beside its size, that is no rounding."""

    grows: float = 1.1
    """How many times as many pairs as at one point meet at distant ones, too, where all may."""

    distant_points: int = 2
    """Pairs of distant points that are looked at for that."""

    distance: float = 2.0
    """How far these are, in units."""

    nearest: float = 0.1
    """How far a coordinate is moved at least, and at most eight times as far."""


GRAPH = GraphLimits()
SETS_IN_A_WORD = 64
"""Sets whose responses are in one integer."""


def graph_of(target: Target, u: Floats, rng: np.random.Generator) -> Graph | None:
    """The graph of a target, seen from a point u (dim,); None for many coordinates that meet many others."""
    dim = target.dim
    if dim > GRAPH.few and (by_colours := by_sets(target, u, rng)) is not None:
        return by_colours
    if dim > GRAPH.most_alone:
        return None
    return Graph.of_matrix(responses_alone(target, u, np.arange(dim), rng))


def with_graphs_beside(
    graph: Graph, target: Target, u: Floats, rng: np.random.Generator, distance: float = 1.0
) -> Graph | None:
    """A graph with what meets at two distant points as well, if their gradients are finite; None for many."""
    shift = distance * rng.normal(size=u.shape)
    for there in (u + shift, u - shift):
        if np.isfinite(target.gradients_alone(np.array([there, there]))).all():
            beside = graph_of(target, there, rng)
            if beside is None:
                return None
            graph = graph | beside
    return graph


def by_sets(target: Target, u: Floats, rng: np.random.Generator) -> Graph | None:
    """By sets of coordinates; None if these would have to be as many as half of the coordinates."""
    hubs, most = hubs_of(target, u, rng)
    rest = all_but(target.dim, hubs)
    share = 1 / (most + GRAPH.spare + 1)
    tells = 2 * share * (1 - share) ** (most + GRAPH.spare)  # the chance that a set tells two apart
    count = int(np.log(0.5 * len(rest) ** 2 / GRAPH.false) / -np.log1p(-tells)) + 1
    if count + len(hubs) > 0.5 * target.dim:
        return None
    sets = np.zeros((count, target.dim), dtype=bool)
    sets[:, rest] = rng.random((count, len(rest))) < share
    responded = responses(target, u, sets, rng)
    some = np.flatnonzero((sets != responded)[:, rest].any(axis=0))  # the others meet none but hubs
    if len(some) > GRAPH.most_pairing:
        return None
    many = GRAPH.crowded * (most + GRAPH.spare)
    among = sets[:, rest[some]], responded[:, rest[some]]
    seeming = seeming_pairs(*among, many, GRAPH.most_crowded - len(hubs))
    if seeming is None:
        return None
    first, second = (some[each] for each in seeming)
    met = np.bincount(first, minlength=len(rest))
    alone = np.concatenate([hubs, rest[met > many]])
    rows, columns = responses_alone(target, u, alone, rng).nonzero()
    first, second = rest[first], rest[second]
    others = ~(np.isin(first, alone) | np.isin(second, alone))
    known = np.concatenate([alone[rows], first[others]]), np.concatenate([columns, second[others]])
    return Graph.of_pairs(target.dim, *known)


def hubs_of(target: Target, u: Floats, rng: np.random.Generator) -> tuple[Indices, int]:
    """Coordinates that many others meet, and how many one meets at most beside these, itself included.

    As seen of some that are moved alone and meet so few that they may be latent.
    """
    dim = target.dim
    probes = rng.choice(dim, min(GRAPH.probes, dim), replace=False)
    met = responses_alone(target, u, probes, rng)
    few = met[met.sum(axis=1) <= GRAPH.most_met]
    hubs = few.sum(axis=0) > GRAPH.hub
    return np.flatnonzero(hubs), int(few[:, ~hubs].sum(axis=1).max(initial=1))


def seeming_pairs(
    sets: NDArray[np.bool_], responded: NDArray[np.bool_], many: float, most: int
) -> tuple[Indices, Indices] | None:
    """Pairs of coordinates that no set tells apart, both ways: which are in it, which respond, (sets, n).

    None once more than `most` of them are in more than so many pairs.
    """
    moved, silent = words(sets), words(~responded)
    pairs, crowded = [np.zeros((2, 0), dtype=np.intp)], 0
    for part in row_parts(len(moved), len(moved)):
        apart = (moved[part, :1] & silent[:, 0]) | (silent[part, :1] & moved[:, 0])
        here, there = (apart == 0).nonzero()
        here += part.start
        alike = here != there
        for k in range(1, moved.shape[1]):  # each word leaves a tenth or so
            here, there = here[alike], there[alike]
            alike = (moved[here, k] & silent[there, k]) | (silent[here, k] & moved[there, k]) == 0
        pairs.append(np.array([here[alike], there[alike]]))
        crowded += int((np.bincount(pairs[-1][0]) > many).sum())
        if crowded > most:
            return None
    first, second = np.concatenate(pairs, axis=1)
    return first, second


def words(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The bits (k, n) of n coordinates in integers (n, k / 64)."""
    padded = np.zeros((bits.shape[1], -(-len(bits) // SETS_IN_A_WORD) * SETS_IN_A_WORD), dtype=bool)
    padded[:, : len(bits)] = bits.T
    return np.packbits(padded, axis=1).view(np.uint64)


def responses(
    target: Target, u: Floats, perturbed: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Which entries of the gradient (n, dim) change where the coordinates `perturbed` (n, dim) are moved."""
    moved = np.zeros(perturbed.shape, dtype=bool)
    for part, change, size in changes(target, u, steps_of(target.dim, rng), perturbed):
        moved[part] = ~(np.abs(change) <= GRAPH.smallest_change * size)  # nan may depend on anything
    return moved


def responses_alone(
    target: Target, u: Floats, coordinates: Indices, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """The same (k, dim) where each of the coordinates (k,) is moved alone."""
    perturbed = np.zeros((len(coordinates), target.dim), dtype=bool)
    perturbed[np.arange(len(coordinates)), coordinates] = True
    return responses(target, u, perturbed, rng)


def steps_of(dim: int, rng: np.random.Generator) -> Floats:
    """How far coordinates are moved, (dim,), to either side."""
    return np.asarray(rng.uniform(GRAPH.nearest, 8 * GRAPH.nearest, dim) * rng.choice([-1.0, 1.0], dim))


def changes(
    target: Target, u: Floats, steps: Floats, perturbed: NDArray[np.bool_]
) -> Iterator[tuple[slice, Floats, Floats]]:
    """Changes of the gradient, and its size (m, dim), for some rows of moved coordinates (n, dim) at once."""
    here = target.gradients_alone(np.array([u, u]))  # at two points, as the others are
    for part in row_parts(*perturbed.shape):
        there = target.gradients_alone(u + steps * perturbed[part])
        yield part, there - here[0], np.maximum(np.abs(here[0]) + np.abs(there), 1e-6)
