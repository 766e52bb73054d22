"""Data as JSON has them, made the numbers and arrays that a program declares; `ppl.data` reads all others."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ppl.errors import DataError
from ppl.kernel.density.expected import ExpectedData, written
from ppl.kernel.ir import nodes as ir
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD


def leaves(declared: Sequence[ir.Declared]) -> Iterator[ir.Declared]:
    """Plain variables, and the items of tuples under their dotted names."""
    for d in declared:
        if d.items:
            yield from leaves(d.items)
        else:
            yield d


Checked = Callable[[ExpectedData, Constraint, Sequence[Any]], Any]
"""The value of a variable, held against its constraint with the arguments of that."""


def reader_of(declared: Sequence[ir.Declared], value: Checked) -> Callable[..., Any]:
    """A reader of each variable of the data block by `value`, in order, as emitted code declares it."""
    by_name = {d.name: d for d in leaves(declared)}

    def read(name: str, dims: Sequence[int], sizes: Sequence[int], *args: Any) -> Any:
        d = by_name[name]
        expected = ExpectedData(d.name, d.type, tuple(map(int, dims)), tuple(map(int, sizes)), d.span)
        return value(expected, CONSTRAINT_BY_KEYWORD[d.constraint], args)

    return read


def checked_value(
    values: Mapping[str, Any], expected: ExpectedData, constraint: Constraint, args: Sequence[Any]
) -> Any:
    """The value of a variable among data by name.

    Raises:
        DataError: it is missing, or does not fit its declaration.
    """
    value = value_of(values, expected)
    fault = constraint.check(value, expected.sizes, *args)
    if fault is not None:
        raise DataError(f"{expected.name} {fault}: {expected.declaration}", expected.name, "PPL904")
    return value


def value_of(values: Mapping[str, Any], expected: ExpectedData) -> Any:
    """The value of one variable, or of an item of a tuple: int, float or complex, or an array of these."""
    name, *items = expected.name.split(".")
    if name not in values:
        raise DataError(f"`{name}` is missing: {expected.declaration} declares it", name, "PPL901")
    value = values[name]
    for item in items:
        value = item_of(value, item)
    asked = expected.parts if expected.is_complex else expected
    array = numbers(value, asked)
    if array.shape != asked.shape and not (array.size == 0 and 0 in asked.shape):
        raise misfit(asked, f"{name} has shape {written(array.shape)}")
    array = array.reshape(asked.shape)
    if expected.is_complex:
        array = np.ascontiguousarray(array).view(complex)[..., 0]
    return array if expected.shape else array.item()


def item_of(value: Any, item: str) -> Any:
    """An item of a tuple {"1": ..., "2": ...}; of an array of tuples all such items."""
    return [item_of(each, item) for each in value] if isinstance(value, list) else value[item]


def numbers(value: Any, expected: ExpectedData) -> Any:
    """An array of int64 or doubles."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise misfit(expected, f"{expected.name} is ragged, or has an element that is not a number") from None
    if not expected.is_int:
        return array
    if not np.array_equal(array, np.trunc(array)):
        raise misfit(expected, f"{expected.name} has an element that is not an integer")
    return array.astype(np.int64)


def misfit(expected: ExpectedData, what: str) -> DataError:
    """The error of a value that does not fit its declaration."""
    return DataError(f"{what}, but {expected.declaration} needs {expected.needs}", expected.name, "PPL902")
