"""Long arrays a few rows at a time. Those mapped from disk leave no pages behind in memory."""

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.data.shares import Share, is_consecutive
from ppl.late import tempfile

BLOCK_BYTES = 1 << 24
"""Bytes of an array that are looked at together."""
ROWS_TAKEN = 1 << 8
"""Rows of a mapped array that are copied before its pages are given back; each may map 2 MiB around it."""


class OnDisk(np.memmap):
    """A map of a file that goes through matrix products a block of rows at a time."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **more: Any) -> Any:
        if ufunc is np.matmul and method == "__call__" and not more:
            return product(*inputs)
        return getattr(ufunc, method)(*map(plain, inputs), **more)


def plain(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, OnDisk) else x


def product(a: Any, b: Any) -> Any:
    """a @ b, of which one is a matrix on disk or its transpose; all of it at once where it is neither."""
    mapped, left = (a, True) if isinstance(a, OnDisk) else (b, False)
    turned = mapped.flags.f_contiguous and not mapped.flags.c_contiguous
    rows_first = mapped.T if turned else mapped
    if mapped.ndim != 2 or not rows_first.flags.c_contiguous or not rows_first.size:
        return np.matmul(plain(a), plain(b))
    parts = []
    for rows in row_blocks(len(rows_first), rows_first[:1].nbytes):
        block = plain(rows_first[rows].T if turned else rows_first[rows])
        if left:
            parts.append(np.matmul(block, plain(b)[rows] if turned else plain(b)))
        else:
            parts.append(np.matmul(plain(a) if turned else plain(a)[..., rows], block))
        release(mapped)
    if left == turned:  # the rows are summed over
        return sum(parts[1:], parts[0])
    return np.concatenate(parts, axis=0 if left else -1)


def is_mapped(array: Any) -> bool:
    """Whether the array lies in a file."""
    return isinstance(array, np.memmap)


def map_of(array: NDArray[Any], dtype: Any) -> OnDisk:
    """An array on disk as one of this type, row by row; one of another type is copied to a temporary file."""
    if array.dtype == dtype and array.flags.c_contiguous:
        return array.view(OnDisk)
    copy, first = room_on_disk(array.shape, dtype), 0
    for block in blocks(array):
        copy[first : (first := first + len(block))] = block
        release(copy)
    return copy.view(OnDisk)


def room_on_disk(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array to be filled, in a temporary file that goes with it."""
    file = tempfile.TemporaryFile()
    return np.memmap(file, dtype, "w+", shape=shape)


def row_blocks(n_rows: int, row_bytes: int) -> Iterator[slice]:
    """Slices of consecutive rows, each of about `BLOCK_BYTES` bytes."""
    size = max(1, BLOCK_BYTES // max(1, row_bytes))
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
    """Some rows, which lie along the axis: a copy, but of a share of consecutive ones."""
    if isinstance(array, Share):
        return array.taken(rows)
    if not is_mapped(array) or not len(rows):
        return np.asarray(np.take(array, rows, axis=axis))
    if is_consecutive(rows):
        at = (*(slice(None),) * axis, slice(rows[0], rows[-1] + 1))
        block = np.array(array[at], subok=False)
        release(array)
        return block
    parts = []
    for first in range(0, len(rows), ROWS_TAKEN):
        parts.append(np.asarray(np.take(array, rows[first : first + ROWS_TAKEN], axis=axis)))
        release(array)
    return np.concatenate(parts, axis=axis) if len(parts) > 1 else parts[0]


def release(array: NDArray[Any]) -> None:
    """Give the pages that were read back: a map of a file counts as memory of the process page by page."""
    mapped = getattr(array, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
