"""Flat names of variables and the order of their elements, as in Stan's CSV.

Indices are dotted and count from 1; the first index runs fastest over all axes, array axes included; an
item of a tuple follows a colon: `L.2.1`, `pair:1`, `pairs.2:1.3`.  A complex number has two columns, `z.real`
and `z.imag`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import prod
from operator import getitem
from typing import Any

import numpy as np

from ppl.arrays import as_pairs
from ppl.errors import DataError
from ppl.printable import printable
from ppl.records import dataclass, field


@dataclass(frozen=True)
class Sized:
    """A variable with known sizes: array axes, own shape of one value, or the items of a tuple.

    Complex numbers have two columns each: `pairs`.
    """

    name: str
    dims: tuple[int, ...]
    sizes: tuple[int, ...]
    items: tuple["Sized", ...] = ()
    pairs: bool = False
    entries: tuple[str, ...] = ()
    """The name of its columns if they are entries of another variable."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.dims, *self.sizes)

    @property
    def count(self) -> int:
        """How many columns it has, counted without their names."""
        each = sum(item.count for item in self.items) if self.items else 1 + self.pairs
        return prod(self.shape) * each


def sized(
    name: str, dims: Sequence[int], sizes: Sequence[int], items: Sequence[Any] = (), pairs: bool = False
) -> Sized:
    """The record from nested plain tuples (name, dims, sizes, items, whether its numbers are complex)."""
    return Sized(name, tuple(map(int, dims)), tuple(map(int, sizes)), tuple(sized(*i) for i in items), pairs)


def indices(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every index, counted from 0, the first axis fastest."""
    for reverse in np.ndindex(*shape[::-1]):
        yield reverse[::-1]


def dotted(index: Sequence[int]) -> str:
    """ ".2.1" of the index (1, 0)."""
    return "".join(f".{k + 1}" for k in index)


def variable_of(column: str) -> str:
    """The variable a column belongs to: "theta" for "theta.1", "t.2:1" for "t.2:1.3", an item of a tuple."""
    tuples, item, last = column.rpartition(":")
    return tuples + item + last.partition(".")[0]


PARTS = ("real", "imag")
"""The columns of a complex number."""


def part_columns(name: str, pairs: bool) -> list[str]:
    """The columns of an element: itself, or its two parts."""
    return [f"{name}.{part}" for part in PARTS] if pairs else [name]


def column_names(v: Sized, prefix: str | None = None) -> list[str]:
    """The flat names of a variable's elements."""
    if v.entries:
        return list(v.entries)
    base = v.name if prefix is None else prefix
    elements = [base + dotted(index) for index in indices(v.shape)] if v.shape else [base]
    if not v.items:
        return [name for e in elements for name in part_columns(e, v.pairs)]
    return [name for e in elements for k, i in enumerate(v.items, 1) for name in column_names(i, f"{e}:{k}")]


def flat(variables: Sequence[Sized], values: Mapping[str, Any], draws: tuple[int, ...] = ()) -> np.ndarray:
    """All elements of several variables, one after the other, shape (*draws, n): the axis of the draws, where
    there is one, comes before those of a value, or of every part of a tuple.
    """
    return _joined((flat_value(v, values[v.name], draws) for v in variables), draws)


def flat_value(v: Sized, value: Any, draws: tuple[int, ...] = ()) -> np.ndarray:
    """The elements of a value in the order of `column_names`, shape (*draws, n)."""
    if v.items:
        entries = (reduce(getitem, index, value) for index in indices(v.dims))
        return _joined(
            (flat_value(i, x, draws) for e in entries for i, x in zip(v.items, e, strict=True)), draws
        )
    x, first = np.asarray(value, dtype=complex if v.pairs else float), len(draws)
    turned = x.transpose(*range(first), *reversed(range(first, x.ndim)))
    return (as_pairs(turned) if v.pairs else turned).reshape(*draws, -1)


def _joined(parts: Iterable[np.ndarray], draws: tuple[int, ...]) -> np.ndarray:
    arrays = [*parts]
    return np.concatenate(arrays, axis=-1) if arrays else np.zeros((*draws, 0))


def unflatten(variables: Sequence[Sized], row: np.ndarray) -> dict[str, Any]:
    """The values by name from their elements in `row` (columns,): the inverse of `flat`.

    A tuple becomes {"1": ..., "2": ...}, as in Stan's JSON.
    """
    ends = np.cumsum([len(column_names(v)) for v in variables])
    return {v.name: _value(v, part) for v, part in zip(variables, np.split(row, ends), strict=False)}


def _value(variable: Sized, row: np.ndarray) -> Any:
    if variable.pairs:
        return np.ascontiguousarray(row).view(complex).reshape(variable.shape, order="F")
    if not variable.items:
        return row.reshape(variable.shape, order="F")
    entries = row.reshape(prod(variable.dims), -1)
    tuples = np.empty(len(entries), dtype=object)
    for k, entry in enumerate(entries):
        values = unflatten(variable.items, entry).values()
        tuples[k] = {str(number): value for number, value in enumerate(values, 1)}
    return tuples.reshape(variable.dims, order="F").tolist()


# --- Labels --------------------------------------------------------------------------------------

LABELS = "fit_labels"
"""The entry of a file that has them."""


@dataclass(frozen=True)
class Labels:
    """The meaning of indices: `levels` by factor or axis, and the axes of variables, None for no factor.

    Example:
        >>> labels = Labels({"clinic": ("Bath", "Hull")}, {"u": ("clinic",), "x": (None, "clinic")})
        >>> labels.of("u.2"), labels.of("x.3.1"), labels.of("tau.1")
        ('u[Hull]', 'x[3,Bath]', 'tau.1')
    """

    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dims: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)

    def of(self, column: str) -> str:
        """The name of a column for people; its own name where no index stands for a level."""
        name, _, index = column.partition(".")
        axes, numbers = self.dims.get(name, ()), index.split(".")
        if len(axes) != len(numbers):
            return column
        levels = ",".join(self.level(axis, n) for axis, n in zip(axes, numbers, strict=True))
        return f"{name}[{printable(levels, kept='')}]"

    def level(self, axis: str | None, number: str) -> str:
        """The level with a number from 1, the number itself where it has none."""
        levels = self.levels.get(axis or "", ())
        return levels[int(number) - 1] if int(number) <= len(levels) else number

    def entries(self) -> dict[str, str]:
        """Name and text, as files have them; nothing where there are no levels."""
        return {LABELS: json.dumps({"levels": self.levels, "dims": self.dims})} if self.levels else {}


NO_LABELS = Labels()


def labels_in(entries: Mapping[str, str]) -> Labels:
    """The inverse of `Labels.entries`, among others.

    Raises:
        DataError: they are not what `entries` wrote.
    """
    text = entries.get(LABELS, "{}")
    try:
        labels = Labels(
            **{part: {k: tuple(v) for k, v in own.items()} for part, own in json.loads(text).items()}
        )
        "".join(level for own in labels.levels.values() for level in own)  # all are text
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise DataError(f"the entry {LABELS} of a file is damaged: {text:.60}") from None
    return labels
