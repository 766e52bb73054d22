"""Sets of indices, sorted; functions of NumPy for these import all of numpy.ma, a fiftieth of a small fit."""

from collections.abc import Sequence

import numpy as np

from ppl.floats import Indices


def distinct(values: Indices) -> Indices:
    """The different ones (k,) of integers, in order."""
    ordered = np.sort(values, axis=None)
    return ordered[np.diff(ordered, prepend=ordered[:1] - 1) > 0]


def all_but(dim: int, some: Indices | Sequence[int]) -> Indices:
    """Those below `dim` that are not among some."""
    others = np.ones(dim, dtype=bool)
    others[np.asarray(some, dtype=np.intp)] = False
    return np.flatnonzero(others)
