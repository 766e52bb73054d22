"""Checks of functions over containers, in the words of a bounds check."""

from ppl.arrays import Array
from ppl.errors import InferenceError


def require(holds: bool, name: str, problem: str) -> None:
    """Raise InferenceError naming the function unless the condition holds."""
    if not holds:
        raise InferenceError(f"{name}: {problem}")


def require_size(name: str, size: int) -> None:
    require(size >= 0, name, f"a size is {size}, but must be at least 0")


def require_some(name: str, x: Array) -> None:
    """The list `x` has an element."""
    require(x.shape[-1] > 0, name, "the container has no elements; expected at least one")


def require_index(name: str, index: int, size: int) -> None:
    """`index` counts from 1."""
    require(1 <= index <= size, name, f"index {index} is out of range; expected 1 to {size}")


def require_span(name: str, start: int, count: int, size: int) -> None:
    """`count` elements from `start`, which counts from 1, lie among `size`."""
    require_size(name, count)
    last = start + count - 1
    inside = count == 0 or (start >= 1 and last <= size)
    require(inside, name, f"elements {start} to {last} are out of range; expected 1 to {size}")
