"""A long array a few rows at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 24  # bytes of an array that are looked at together


def row_blocks(n_rows: int, row_bytes: int) -> Iterator[slice]:
    """Slices of consecutive rows, each of about `BLOCK` bytes."""
    size = max(1, BLOCK // max(1, row_bytes))
    for first in range(0, n_rows, size):
        yield slice(first, min(first + size, n_rows))


def blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The array in pieces along its first axis; a scalar as it is."""
    if array.ndim == 0 or array.size == 0:
        yield array
        return
    for rows in row_blocks(len(array), array[:1].nbytes):
        yield np.asarray(array[rows])
