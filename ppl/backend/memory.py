"""Memory that large arrays gave back, kept for the next ones."""

from functools import cache

import numpy as np

# glibc learns from a freed block of at most 32 MB that blocks of its size come and go; see malloc_trim(3) and
# M_MMAP_THRESHOLD in mallopt(3).
LARGEST_LEARNT = 32 << 20
HEAD = 1 << 16


@cache
def keep_freed_memory() -> None:
    """Teach the C library, once, to keep freed memory for the arrays of the next evaluation.

    Left to itself it hands large blocks back to the system, whose clearing of fresh pages then takes most of
    the time that a gradient of ten thousand rows takes. Harmless where the C library is another.
    """
    np.empty(LARGEST_LEARNT - HEAD, dtype=np.uint8)
