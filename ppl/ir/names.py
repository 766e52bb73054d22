"""Fresh names of variables that passes make."""

from collections.abc import Callable
from itertools import count


def fresh_names(suffix: str) -> Callable[[str], str]:
    """A function that makes a name of a hint; the suffix sets a pass's names apart from those of others."""
    numbers = count(1)
    return lambda hint: f"{hint.rstrip('_')}_{next(numbers)}_{suffix}__"
