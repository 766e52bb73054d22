"""Arrays that no one can change any more, and that need not be copied to be safe."""

from typing import Any

import numpy as np


def settled(array: np.ndarray) -> np.ndarray:
    """The array, it and what it is a view of being closed to changes."""
    part: Any = array
    while isinstance(part, np.ndarray):
        part.setflags(write=False)
        part = part.base
    return array


def is_settled(array: np.ndarray) -> bool:
    part: Any = array
    while isinstance(part, np.ndarray) and not part.flags.writeable:
        part = part.base
    return part is None
