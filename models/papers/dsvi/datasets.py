"""The files of data, as arrays."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Labelled(NamedTuple):
    """Inputs `x` (n, d) and labels or targets `y` (n,)."""

    x: Array
    y: Array

    def rows(self, chosen: NDArray[np.intp]) -> "Labelled":
        return Labelled(self.x[chosen], self.y[chosen])


def regression(path: Path) -> Labelled:
    """A CSV whose last column is the target."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return Labelled(table[:, :-1], table[:, -1])


def classes(path: Path) -> Labelled:
    """A CSV whose last column is the label, above zero for 1; a column of ones is put first."""
    found = regression(path)
    return Labelled(with_ones(found.x), (found.y > 0).astype(float))


def with_ones(x: Array) -> Array:
    return np.column_stack([np.ones(len(x)), x])


def split(data: Labelled, first: int, seed: int) -> tuple[Labelled, Labelled]:
    """`first` rows drawn at random, and the others."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    return data.rows(order[:first]), data.rows(order[first:])
