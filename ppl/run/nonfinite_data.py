"""Data that are nan or infinite and leave no finite log density: named, with the first such entry."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ppl.data.blocks import blocks
from ppl.data.values import TO_MODEL, place
from ppl.errors import DataError, InferenceError
from ppl.kernel.advi.target import Target

NAN_LOOKED_FOR_AT = (0.0, 0.7, -0.9)
"""Where the log density is looked at, in every coordinate: a program may test for nan, and be finite."""
NO_START = "PPL971"


def refuse_nan_data(data: Mapping[str, Any], target: Target) -> None:
    """Refuse data whose missing values enter the target.

    Raises:
        DataError: data hold nan, and the log density is nan wherever it is looked at; names the first entry
            of each variable.
    """
    entries = entries_where(data, np.isnan)
    if entries and all(np.isnan(target.log_density(np.full(target.dim, x))) for x in NAN_LOOKED_FOR_AT):
        why = f"not a number (nan), and so is the log density, for any parameters{TO_MODEL}."
        raise DataError(f"data: {sentence(entries)}: {why}", next(iter(entries)), NO_START)


@contextmanager
def naming_infinite_data(data: Mapping[str, Any]) -> Iterator[None]:
    """A fit that finds no start names data that are infinite. They may be bounds, so a start comes first.

    Raises:
        DataError: there is no start, and data hold an infinity; names the first entry of each variable.
    """
    try:
        yield
    except InferenceError as error:
        entries = entries_where(data, np.isinf) if error.code == NO_START else {}
        if not entries:
            raise
        todo = "infinite. Give finite numbers, or leave out their rows."
        raise DataError(
            f"data: {sentence(entries)}: {todo}\n{error}", next(iter(entries)), NO_START
        ) from None


def entries_where(data: Mapping[str, Any], odd: Callable[[Any], Any]) -> dict[str, tuple[str, int]]:
    """By variable of the data block: its first odd entry, as the program counts, and how many there are."""
    entries = {}
    for name, value in data.items():
        if isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f":
            with np.errstate(all="ignore"):
                may_be = any(not np.isfinite(np.sum(block)) for block in blocks(np.asanyarray(value)))
            at = np.flatnonzero(odd(value) if may_be else False)
            if at.size:
                entries[name] = place(name, int(at[0]), np.shape(value)), at.size
    return entries


def sentence(entries: dict[str, tuple[str, int]]) -> str:
    return "; ".join(first + f" and {n - 1} more of {name}" * (n > 1) for name, (first, n) in entries.items())
