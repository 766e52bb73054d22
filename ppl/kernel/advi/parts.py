"""Draws some at a time, so that what is computed of them never doubles their memory."""

from collections.abc import Callable, Iterator

import numpy as np

from ppl.floats import Floats

MOST_NUMBERS_DRAWN = 1 << 24
"""Numbers in draws that are made to weigh q alone, and not to be written: 128 MB."""
NUMBERS_A_PART = 1 << 21
"""Numbers in a part."""


def draws_within(n: int, dim: int, fewest: int) -> int:
    """n draws of so many dimensions, or fewer where they would have more than MOST_NUMBERS_DRAWN."""
    return min(n, max(fewest, MOST_NUMBERS_DRAWN // max(1, dim)))


def row_parts(n: int, dim: int) -> Iterator[slice]:
    """Slices of the rows of an array (n, dim), each of about NUMBERS_A_PART numbers."""
    return _slices(n, max(1, NUMBERS_A_PART // max(1, dim)))


def column_parts(n: int, dim: int) -> Iterator[slice]:
    """The same of the columns."""
    return _slices(dim, max(1, NUMBERS_A_PART // max(1, n)))


def by_columns(f: Callable[[Floats], Floats], u: Floats) -> Floats:
    """f(u) (dim,) of each column of u (n, dim), so many columns at a time."""
    parts = [f(u[:, part]) for part in column_parts(*u.shape)]
    return np.concatenate(parts) if parts else f(u)


def by_rows(f: Callable[[Floats], Floats], u: Floats) -> Floats:
    """f(u) (n,) of each row of u (n, dim), so many rows at a time."""
    parts = [f(u[part]) for part in row_parts(*u.shape)]
    return np.concatenate(parts) if parts else f(u)


def _slices(n: int, size: int) -> Iterator[slice]:
    return (slice(first, min(first + size, n)) for first in range(0, n, size))
