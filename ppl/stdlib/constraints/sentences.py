"""The sentences of `check`: what is wrong with a value, and where, counted from 1."""

from collections.abc import Callable
from typing import Any

import numpy as np

TOLERANCE = 1e-8
"""How far a sum, a length or two mirrored entries may be off, as in Stan."""


def number(value: float) -> str:
    return f"{value:.8g}"


def position(index: tuple[int, ...]) -> str:
    """ "[2,3]" for (1, 2); nothing for a scalar."""
    return f"[{','.join(str(i + 1) for i in index)}]" if index else ""


def first_element(x: np.ndarray, good: np.ndarray, must_be: Callable[[tuple[int, ...]], str]) -> str | None:
    """The first element of `x` that is not `good`, as "[3] is -0.2, but must be " and what is wanted."""
    if np.all(good):
        return None
    index = tuple(int(i) for i in np.argwhere(~np.asarray(good))[0])
    return f"{position(index)} is {number(x[index])}, but must be {must_be(index)}".lstrip()


def each(
    x: np.ndarray,
    axes: int,
    fault: Callable[[np.ndarray], str | None],
    valid: Callable[[np.ndarray], Any] | None = None,
) -> str | None:
    """The first fault among the values, each with `axes` axes, that lie along the leading array axes.

    `valid` tells of all values at once which need no closer look.
    """
    x = np.asarray(x, dtype=float)
    everywhere = np.ndindex(x.shape[: x.ndim - axes])
    for index in everywhere if valid is None else map(tuple, np.argwhere(~valid(x))):
        if (sentence := fault(x[index])) is not None:
            return f"{position(index)} {sentence}".lstrip()
    return None


def not_lower_triangular(x: np.ndarray) -> str | None:
    above = np.argwhere(np.triu(x, 1) != 0)
    if len(above):
        i, j = above[0]
        return f"is not lower triangular: element [{i + 1},{j + 1}] is {number(x[i, j])}, but must be 0"
    return None


def not_positive_diagonal(x: np.ndarray) -> str | None:
    for i, value in enumerate(np.diagonal(x)):
        if not value > 0:
            return f"has {number(value)} at [{i + 1},{i + 1}], but its diagonal must be positive"
    return None


def not_symmetric(x: np.ndarray) -> str | None:
    unequal = np.argwhere(~(np.abs(x - x.T) <= TOLERANCE))
    if len(unequal):
        i, j = unequal[0]
        if i == j:
            return f"has {number(x[i, i])} at [{i + 1},{i + 1}], but must be finite"
        return (
            f"is not symmetric: element [{i + 1},{j + 1}] is {number(x[i, j])}, "
            f"but element [{j + 1},{i + 1}] is {number(x[j, i])}"
        )
    return None


def not_positive_definite(x: np.ndarray) -> str | None:
    try:
        np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        smallest = number(np.linalg.eigvalsh(x)[0])
        return f"is not positive definite: its smallest eigenvalue is {smallest}, but must be positive"
    return None
