"""Memory that large arrays gave back, kept for the next ones, in few heaps."""

import ctypes
from contextlib import suppress
from functools import cache

import numpy as np

from ppl.records import dataclass
from ppl.system.threads import cores_of


@dataclass(frozen=True)
class MallocLimits:
    """The settings of glibc's freed blocks; see malloc_trim(3) and M_MMAP_THRESHOLD in mallopt(3)."""

    largest_learnt: int = 32 << 20
    """Bytes of the largest freed block from which it learns that blocks of its size come and go: 32 MB."""

    head: int = 1 << 16
    """Bytes by which the block asked for is smaller, for its head."""

    arena_max: int = -8
    """The parameter of mallopt(3) that limits the number of heaps, M_ARENA_MAX."""


MALLOC = MallocLimits()


@cache
def keep_freed_memory() -> None:
    """Teach the C library, once, to keep freed memory for the arrays of the next evaluation.

    Left to itself it hands large blocks back to the system, whose clearing of fresh pages then takes most of
    the time that a gradient of ten thousand rows takes. It also makes eight heaps a core, one for each thread
    while there are fewer, and each keeps what its thread freed; one heap a core is enough. Harmless where the
    C library is another.
    """
    np.empty(MALLOC.largest_learnt - MALLOC.head, dtype=np.uint8)
    with suppress(AttributeError, OSError, TypeError):  # mallopt is not in every C library
        ctypes.CDLL(None).mallopt(MALLOC.arena_max, cores_of(None))
