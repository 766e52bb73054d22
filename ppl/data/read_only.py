"""Arrays that no one can change any more, and that need not be copied to be safe, nor for JAX."""

import math
from typing import Any

import numpy as np

ALIGNMENT = 64
"""Bytes at a multiple of which an array must begin for XLA to read it where it lies."""


def aligned(array: np.ndarray, dtype: Any) -> np.ndarray:
    """A copy as this type, row by row, from a multiple of ALIGNMENT on."""
    copy = room_for(array.shape, dtype)
    copy[...] = array
    return copy


def room_for(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array to be filled, from a multiple of ALIGNMENT on."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    buffer = np.empty(size + ALIGNMENT, dtype=np.uint8)
    start = -buffer.ctypes.data % ALIGNMENT
    return buffer[start : start + size].view(dtype).reshape(shape)


def read_only(array: np.ndarray) -> np.ndarray:
    """The array, it and what it is a view of being closed to changes."""
    part: Any = array
    while isinstance(part, np.ndarray):
        part.setflags(write=False)
        part = part.base
    return array


def is_read_only(array: np.ndarray) -> bool:
    part: Any = array
    while isinstance(part, np.ndarray) and not part.flags.writeable:
        part = part.base
    return part is None
