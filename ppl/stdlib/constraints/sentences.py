"""Parts of the sentences on values: numbers, and places counted from 1."""

import numpy as np

TOLERANCE = 1e-8
"""How far a sum, a length or two mirrored entries may be off, as in Stan."""


def number(value: float) -> str:
    return f"{value:.8g}"


def position(index: tuple[int, ...]) -> str:
    """ "[2,3]" for (1, 2); nothing for a scalar."""
    return f"[{','.join(str(i + 1) for i in index)}]" if index else ""


def first_false(good: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(~np.asarray(good))[0])


def first_element(x: np.ndarray, good: np.ndarray, must_be: str) -> str | None:
    """The first element of `x` that is not `good`, as "[3] is -0.2, but must be " and what is wanted."""
    if np.all(good):
        return None
    index = first_false(good)
    return f"{position(index)} is {number(x[index])}, but must be {must_be}".lstrip()
