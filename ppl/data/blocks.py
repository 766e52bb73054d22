"""Long arrays a few rows at a time. Those mapped from disk leave no pages behind in memory."""

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 24  # bytes of an array that are looked at together


def is_mapped(array: Any) -> bool:
    """Whether the array lies in a file."""
    return isinstance(array, np.memmap)


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
        release(array)


def taken(array: NDArray[Any], rows: NDArray[np.intp], axis: int) -> NDArray[Any]:
    """A copy of some rows, which lie along the axis."""
    copy = np.asarray(np.take(array, rows, axis=axis))
    release(array)
    return copy


def release(array: NDArray[Any]) -> None:
    """Give the pages that were read back: a map of a file counts as memory of the process page by page."""
    mapped = getattr(array, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
