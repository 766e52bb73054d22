"""Missing values among data: `null`, NA and NaN."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.data.shares import Share
from ppl.data.values import Misfit, Numbers, is_masked, is_missing, layers
from ppl.records import dataclass


@dataclass(frozen=True)
class Holes:
    """`values` with nan where they are missing; `at` (missing, axes) are those places, counted from 0."""

    values: Numbers
    at: NDArray[np.intp]


def holes_in(value: Any) -> Holes | None:
    """Where values are missing; None where none is, or where they are no numbers in the first place."""
    kind = value.dtype.kind if isinstance(value, np.ndarray) else ""
    if isinstance(value, Share) or kind in ("i", "u", "b"):
        return None
    array = value if kind == "f" and not is_masked(value) else as_floats(value)
    if array is None or not (missing := np.isnan(array)).any():
        return None
    return Holes(np.array(array, dtype=float), np.argwhere(missing))


def as_floats(value: Any) -> Numbers | None:
    """The numbers of nested lists, nan where they are missing; None of anything else."""
    try:
        shape, leaves = layers("data", value)
        return np.array([np.nan if is_missing(leaf) else leaf for leaf in leaves], float).reshape(shape)
    except (Misfit, TypeError, ValueError, OverflowError):
        return None
