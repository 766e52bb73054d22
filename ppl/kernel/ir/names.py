"""Fresh names of variables that passes make."""

from collections.abc import Callable
from itertools import count

Fresh = Callable[[str], str]
"""Makes a name of a hint."""


def fresh_names(suffix: str = "") -> Fresh:
    """A function that makes names of hints; the suffix sets a pass's names apart from those of others."""
    numbers = count(1)
    return lambda hint: f"{hint.rstrip('_')}_{next(numbers)}{suffix}__"
