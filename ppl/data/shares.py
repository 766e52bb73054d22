"""Rows of data shared out: which part of them each device has, in order."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from ppl.errors import InferenceError
from ppl.records import dataclass

Rows = NDArray[np.intp]
Numbers = NDArray[Any]


@dataclass(frozen=True)
class Partition:
    """Consecutive rows in `parts` parts of one size, and fewer than `parts` rows that are left over.

    Example:
        >>> partition = Partition(11, parts=4)
        >>> partition.part(1).tolist(), partition.left.tolist()
        ([2, 3], [8, 9, 10])
    """

    n_rows: int
    parts: int

    @property
    def size(self) -> int:
        """Rows in a part."""
        return self.n_rows // self.parts

    def part(self, k: int) -> Rows:
        """The rows of part 0, 1, ..."""
        return np.arange(k * self.size, (k + 1) * self.size)

    @property
    def left(self) -> Rows:
        """The rows in no part, the last ones."""
        return np.arange(self.parts * self.size, self.n_rows)

    def owner_of(self, rows: Rows) -> tuple[Rows, Rows]:
        """The part that looks after each row, and the row's place there; of those left over one a part."""
        left = rows >= self.parts * self.size
        excess = rows - self.parts * self.size
        part = np.where(left, excess, rows // max(1, self.size))
        return part, np.where(left, self.size + excess, rows - part * self.size)

    def own(self, parts: range) -> tuple[slice, slice]:
        """The rows of consecutive parts, and those left over, which everyone has."""
        left = slice(self.parts * self.size, self.n_rows)
        return slice(parts.start * self.size, parts.stop * self.size), left


@dataclass(frozen=True, eq=False)
class Share(NDArrayOperatorsMixin):
    """Some rows of an array of this `shape`: `values` are those whose numbers are `rows`, in order.

    Nothing can be computed from it as if it were the array; `identity` tells its files from others.
    """

    shape: tuple[int, ...]
    rows: Rows
    values: Numbers
    identity: str

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def taken(self, rows: Rows) -> Numbers:
        """Those rows: of consecutive ones no copy."""
        at = np.searchsorted(self.rows, rows)
        if not np.array_equal(self.rows[np.minimum(at, len(self.rows) - 1)], rows):
            raise InferenceError("These rows belong to another process.")
        return self.values[at[0] : at[-1] + 1] if len(at) and is_consecutive(at) else self.values[at]

    def _refuse(self, *args: Any, **more: Any) -> Any:
        raise InferenceError(NOT_ALL_ROWS)

    __array__ = __array_ufunc__ = __getitem__ = _refuse


NOT_ALL_ROWS = (
    "each process has read only its own rows, so it can be used only in sums over rows in the "
    "target.\nRemove the statement, or give the data as JSON, which every process holds whole."
)


def is_consecutive(rows: Rows) -> bool:
    """Whether rows, at least one, follow each other."""
    return int(rows[-1] - rows[0]) == len(rows) - 1 and bool((np.diff(rows) == 1).all())


def shared_names(values: Mapping[str, Any]) -> frozenset[str]:
    """The variables of which some rows are at hand."""
    return frozenset(name for name, value in values.items() if isinstance(value, Share))
