"""Latent variables that meet only a few others given the outer coordinates, as their graph tells."""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Indices
from ppl.methods.nested.adjacency import Graph
from ppl.methods.numerics.index_sets import all_but, distinct
from ppl.methods.numerics.quantiles import median
from ppl.records import dataclass

MayBeComplete = Callable[[Indices, int], bool]
"""Whether all coordinates may meet, by the outer ones and the number of the others."""


class FieldLimits(NamedTuple):
    """Which graphs are sparse."""

    hub: float = 0.55
    """A coordinate that meets this share of the others is outer."""

    lesser_hub: float = 0.2
    """So is one that meets this share of them, and many more than most do."""

    many: float = 5.0
    """Which is so many times the median."""

    most_colours: int = 40
    """Gradients of a Hessian."""

    colours_of_all: float = 0.6
    """So many of the latent coordinates the colours may be; with more the Hessian is nearly dense."""

    most_numbers_dense: int = 60_000
    """The numbers that the gradients of a nearly dense Hessian work through."""

    most_numbers_shared: int = 200_000
    """The same where what depends on the outer coordinates alone is computed once for all gradients."""

    most_normal: int = 512
    """Latent coordinates of a nearly dense Hessian where they are normal given the outer ones: one leads to
    their mode, and some tens of them to all others."""

    most_numbers_normal: int = 2**22
    """The numbers that the gradients of such a one work through."""

    most_evaluations: int = 4
    """The evaluations of the target that they are as much work as at most."""

    most_outer: int = 10
    """Outer coordinates: so many a mixture of Student's t is fitted to."""

    most_outer_of_narrow: int = 80
    """The same of bands no wider than `narrow`: so many one Student's t is fitted to."""

    narrow: int = 5
    """Such a bandwidth, as that of independent blocks of six."""

    most_work: float = 2e8
    """The number of latent coordinates times the square of the bandwidth, as a factor costs."""

    most_work_dense: float = 2e7
    """The same where coordinates that meet most others are among them."""


FIELD = FieldLimits()


def are_little_work(gradients: int, width: int) -> bool:
    """Whether the gradients of a dense Hessian work through few numbers, `width` each."""
    return gradients * width <= FIELD.most_numbers_dense


class Reading(NamedTuple):
    """Where entries of a precision matrix are read off: of a colour, at a row, of the coordinate moved there.

    `below` and `column` are the places in its lower bands.
    """

    colour: Indices
    row: Indices
    coordinate: Indices
    below: Indices
    column: Indices


@dataclass(frozen=True)
class Field:
    """`outer` (d,) are coordinates given which those of `latent` (k,), in this order, meet a few others.

    `pairs` (2, m) are places in this order that meet, the first not before the second, each with itself too.
    Those of a colour are moved at once: of colour 0 none meet, of others no two meet a third.
    """

    dim: int
    outer: Indices
    latent: Indices
    pairs: Indices
    colours: Indices
    couplings: tuple[NDArray[np.float64], ...] = ()
    """Weights w (k,) of sums by which coordinates meet as well: the precision has w w' of each."""
    is_normal: bool = False
    """Whether the log density is quadratic in the latent coordinates: normal given the outer ones."""

    @cached_property
    def bandwidth(self) -> int:
        return int((self.pairs[0] - self.pairs[1]).max())

    @cached_property
    def components(self) -> Indices:
        """Numbers (k,) of the sets of coordinates of which none meets one of another."""
        return Graph.of_pairs(len(self.latent), *self.pairs).components()

    @property
    def is_complete(self) -> bool:
        """Whether all coordinates meet."""
        return self.bandwidth + 1 == len(self.latent) == int(self.colours.max()) + 1

    @cached_property
    def reading(self) -> Reading:
        """Each entry by its column, or by its row where the column is of colour 0."""
        first, second = self.pairs
        by_column = (self.colours[second] > 0) | (first == second)
        coordinate, row = np.where(by_column, second, first), np.where(by_column, first, second)
        return Reading(self.colours[coordinate], row, coordinate, first - second, second)


def field_of(
    graph: Graph,
    scalars: NDArray[np.bool_],
    free: NDArray[np.bool_],
    fewest: int,
    may_be_complete: MayBeComplete | None = None,
) -> Field | None:
    """The field of a graph; None where there is none.

    `scalars` (dim,) are coordinates of parameters that are one number: these are outer, and so are those that
    meet most others. Where these are too many, all `free` ones (dim,), which have no constraint, are in the
    field: coefficients as well as the effects that they are added to (Rue, Martino and Chopin 2009, section
    1.1). It has at least `fewest` coordinates for each outer one. Its Hessian may be nearly dense, as of a
    walk by its steps or a Gaussian process, if `may_be_complete` says so of the outer ones and the number of
    the others.
    """
    sparse_one = field_given(graph, outer_of(graph, scalars), fewest, FIELD.most_work)
    outer = np.nonzero(~free)[0]
    return sparse_one or field_given(graph, outer, fewest, FIELD.most_work_dense, may_be_complete)


def field_given(
    graph: Graph, outer: Indices, fewest: int, most_work: float, may_be_complete: MayBeComplete | None = None
) -> Field | None:
    """The field of all but the outer ones; None where a factor is more work, or colours are too many, and it
    may not be complete.
    """
    dim = graph.dim
    rest = all_but(dim, outer)
    if not 0 < len(outer) <= FIELD.most_outer_of_narrow or len(rest) < fewest * len(outer):
        return None
    inside = graph.among(rest)
    order = inside.band_order()
    ordered, each = inside.in_order(order), np.arange(len(rest))
    below = ordered.first > ordered.second
    pairs = np.array([np.append(ordered.first[below], each), np.append(ordered.second[below], each)])
    pairs = pairs[:, np.lexsort(pairs[::-1])]
    bandwidth = (pairs[0] - pairs[1]).max()
    if len(outer) > FIELD.most_outer and bandwidth > FIELD.narrow:
        return None
    if len(rest) * (bandwidth + 1.0) ** 2 <= most_work:
        most = min(FIELD.most_colours, int(FIELD.colours_of_all * len(rest)))
        if (colours := coloured(ordered, most)) is not None:
            return Field(dim, outer, rest[order], pairs, colours)
    if may_be_complete and may_be_complete(outer, len(rest)):
        # All meet: a few of them may hardly do so where the graph was seen.
        return Field(dim, outer, rest, np.array(np.tril_indices(len(rest))), each)
    return None


def outer_of(graph: Graph, scalars: NDArray[np.bool_]) -> Indices:
    """Those that meet most others, one by one, and those of scalar parameters."""
    outer = scalars.copy()
    meets = graph.degrees(~outer)
    while outer.sum() <= FIELD.most_outer_of_narrow and (left := int((~outer).sum())) > 1:
        degrees = meets * ~outer
        most = int(degrees.argmax())
        usual = median(degrees[~outer].astype(float))
        least = FIELD.lesser_hub if degrees[most] > FIELD.many * usual else FIELD.hub
        if degrees[most] < least * (left - 1):
            break
        outer[most] = True
        meets[graph.met_by(most)] -= 1
    return np.nonzero(outer)[0]


def coloured(graph: Graph, most: int) -> Indices | None:
    """Colours (k,): 0 for coordinates of which none meet; of the others no two of one colour meet a third.

    None for more than so many colours.
    """
    neighbours = [np.append(own, k) for k, own in enumerate(graph.neighbours)]
    colours = np.full(graph.dim, -1, dtype=np.intp)
    free = np.ones(graph.dim, dtype=bool)
    for k in np.argsort([len(own) for own in neighbours], kind="stable"):
        if free[k]:
            colours[k] = 0
            free[neighbours[k]] = False
    for k in np.nonzero(colours < 0)[0]:
        near = np.concatenate([neighbours[j] for j in neighbours[k]])
        taken = distinct(colours[near])
        taken = taken[taken > 0]
        gaps = np.nonzero(taken != np.arange(1, len(taken) + 1))[0]
        colours[k] = gaps[0] + 1 if len(gaps) else len(taken) + 1
        if colours[k] >= most:
            return None
    return colours
