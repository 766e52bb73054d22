"""An undirected graph of coordinates as its pairs, and what is asked of it.

Of few coordinates NumPy answers; `scipy.sparse` takes longer to import than a small fit.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Indices
from ppl.late import LateModule
from ppl.methods.numerics.index_sets import distinct
from ppl.records import dataclass

csgraph = LateModule("scipy.sparse.csgraph")
sparse = LateModule("scipy.sparse")


LARGEST_BY_NUMPY = 1000
"""Coordinates up to which components are labelled by NumPy: by C it pays for itself in larger graphs only."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Which of `dim` coordinates meet: `first` and `second` (n,) of each pair, both ways, sorted; none meets
    itself.
    """

    dim: int
    first: Indices
    second: Indices

    @classmethod
    def of_pairs(cls, dim: int, first: Indices, second: Indices) -> "Graph":
        """That of pairs (k,) of which some may be twice or the other way round."""
        off = first != second
        first, second = first[off].astype(np.int64), second[off].astype(np.int64)
        return cls(dim, *np.divmod(distinct(np.append(first * dim + second, second * dim + first)), dim))

    @classmethod
    def of_matrix(cls, touched: NDArray[np.bool_]) -> "Graph":
        """That of pairs (dim, dim), either way."""
        either = touched | touched.T
        np.fill_diagonal(either, False)
        return cls(len(either), *either.nonzero())

    @property
    def size(self) -> int:
        """Pairs, both ways."""
        return len(self.first)

    def __or__(self, other: "Graph") -> "Graph":
        """That of the pairs of either."""
        return Graph.of_pairs(
            self.dim, np.append(self.first, other.first), np.append(self.second, other.second)
        )

    def among(self, some: Indices) -> "Graph":
        """That of some coordinates (k,), ascending, which are numbered from 0."""
        place = np.full(self.dim, -1, dtype=np.intp)
        place[some] = np.arange(len(some))
        first, second = place[self.first], place[self.second]
        inside = (first >= 0) & (second >= 0)
        return Graph(len(some), first[inside], second[inside])

    def degrees(self, among: NDArray[np.bool_]) -> Indices:
        """How many of the coordinates `among` (dim,) each one meets, (dim,)."""
        return np.bincount(self.first[among[self.second]], minlength=self.dim)

    def met_by(self, one: int) -> Indices:
        """Those that one coordinate meets, ascending."""
        return self.second[slice(*np.searchsorted(self.first, (one, one + 1)))]

    @cached_property
    def matrix(self) -> NDArray[np.bool_]:
        """The pairs (dim, dim)."""
        out = np.zeros((self.dim, self.dim), dtype=bool)
        out[self.first, self.second] = True
        return out

    @property
    def as_csr(self) -> Any:
        """The pairs as a `csr_array` of SciPy's."""
        ends = np.searchsorted(self.first, np.arange(self.dim + 1))
        return sparse.csr_array((np.ones(self.size, dtype=bool), self.second, ends), (self.dim, self.dim))

    @property
    def neighbours(self) -> list[Indices]:
        """Those that each coordinate meets, ascending."""
        return np.split(self.second, np.searchsorted(self.first, np.arange(1, self.dim)))

    def in_order(self, order: Indices) -> "Graph":
        """That of the coordinates (dim,) in another order."""
        place = np.argsort(order)
        return Graph.of_pairs(self.dim, place[self.first], place[self.second])

    def band_order(self) -> Indices:
        """An order (dim,) in which those that meet are near each other: reverse Cuthill-McKee (1969)."""
        neighbours = [each.tolist() for each in self.neighbours]
        degrees = [len(each) for each in neighbours]
        order, seen = list[int](), np.zeros(self.dim, dtype=bool).tolist()
        for seed in np.argsort(degrees, kind="stable").tolist():
            waiting = [] if seen[seed] else [seed]
            for k in waiting:
                seen[k] = True
                new = sorted((j for j in neighbours[k] if not seen[j]), key=degrees.__getitem__)
                for j in new:
                    seen[j] = True
                waiting += new
            order += waiting
        return np.array(order[::-1], dtype=np.intp)

    def components(self) -> Indices:
        """Which component each coordinate is in, (dim,): of the components the one with the first is 0."""
        if self.dim > LARGEST_BY_NUMPY:
            return np.asarray(csgraph.connected_components(self.as_csr, directed=False)[1], dtype=np.intp)
        least, before = np.arange(self.dim), None
        while (
            before is None or (least != before).any()
        ):  # in each a coordinate learns of twice as distant ones
            before = least.copy()
            np.minimum.at(least, before[self.first], before[self.second])
            np.minimum.at(least, self.first, before[self.second])
            least = least[least]
        return np.unique(least, return_inverse=True)[1]
