"""Rows of data shared out: which part of them each device has, in order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


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

    def whose(self, rows: Rows) -> tuple[Rows, Rows]:
        """The part that looks after each row, and the row's place there; of those left over one a part."""
        left = rows >= self.parts * self.size
        beyond = rows - self.parts * self.size
        part = np.where(left, beyond, rows // max(1, self.size))
        return part, np.where(left, self.size + beyond, rows - part * self.size)
