"""The value of a declared variable, read from the inputs and checked."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ppl.data.blocks import blocks, is_mapped, map_of
from ppl.data.inputs import Inputs, find
from ppl.data.levels import hint_for_words
from ppl.data.missing import stand_in
from ppl.data.read_only import aligned, is_read_only
from ppl.data.shares import Share
from ppl.data.values import TO_MODEL, Misfit, Numbers, as_array, pairs, place
from ppl.errors import DataError
from ppl.kernel.density.expected import ExpectedData, Shape, written
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.constraints.table import ELEMENTWISE
from ppl.stdlib.functions.operators import LARGEST_INT, LOWEST_INT

FIRST_INDEX = re.compile(r"^\[(\d+)")
"""The row of an element that a constraint's sentence begins with."""
WORD_ALONE = re.compile(r' is the string "[^"0-9]*"$')
"""A sentence on text without a number."""


def read_value(inputs: Inputs, expected: ExpectedData, known: Iterable[str] = ()) -> Any:
    """The value of one variable: int, float or complex for a scalar, else an ndarray of int64, float64 or
    complex128.

    The array has shape (*expected.dims, *expected.sizes) and is a copy, unless it lies on disk, and stays
    there, or holds doubles that no one can change.  `known` are the names of all variables of the
    data block: with them the message about a missing variable names every other missing one too.

    Raises:
        DataError: the variable is missing, ragged, of another shape or type, or holds what is no number.
    """
    if expected.is_complex:
        return joined(read_value(inputs, expected.parts, known), expected)
    if any(size < 0 for size in expected.shape):
        where = f"{inputs.label_of(expected.name)}: {expected.declaration}"
        sentence = f"{where} has shape {written(expected.shape)}, but no size may be negative"
        raise DataError(sentence, expected.name, "PPL903")
    value = find(inputs, expected, known)
    try:
        if isinstance(value, Share):
            return read_share(value, expected)
        value = pairs(value) if expected.pairs else value
        array = converted(shaped(as_array(expected.name, value), expected), expected)
    except Misfit as misfit:
        hint = misfit.hint or hint_for_words(value, expected) or hint_for_row(inputs, expected, misfit)
        needs = (misfit.needs or expected.needs) + column_hint(inputs, expected) + hint
        where = inputs.place_of(expected.name, misfit.index)
        what = renumbered(value.rows, misfit.found) if isinstance(value, Share) else misfit.found
        sentence = f"{where}: {what}, but {expected.declaration} needs {needs}"
        raise DataError(sentence, expected.name, "PPL902") from None
    return array if expected.shape else array.item()


def joined(parts: Any, expected: ExpectedData) -> Any:
    """Complex numbers from their real and imaginary parts, which lie along the last axis."""
    if isinstance(parts, Share):
        return replace(parts, shape=expected.shape, values=joined(parts.values, expected))
    numbers = np.ascontiguousarray(parts).view(complex)[..., 0]
    return numbers if expected.shape else numbers.item()


def read_share(share: Share, expected: ExpectedData) -> Share:
    """The same of a variable of which some rows are at hand."""
    if share.shape != expected.shape:
        raise Misfit(f"{expected.name} has shape {written(share.shape)}")
    return replace(share, values=converted(share.values, expected))


def converted(array: Numbers, expected: ExpectedData) -> Numbers:
    """The numbers as int64 or doubles, as they are declared."""
    return integers(array, expected) if expected.is_int else doubles(array)


def renumbered(rows: Numbers | range, sentence: str) -> str:
    """The sentence, in which an index counts from 1 what is at hand, with the number of the row."""
    return re.sub(r"\[(\d+)", lambda index: f"[{int(rows[int(index[1]) - 1]) + 1}", sentence, count=1)


def hint_for_row(inputs: Inputs, expected: ExpectedData, misfit: Misfit) -> str:
    """The advice on text among the numbers of a column, such as a total or a footnote."""
    is_word = WORD_ALONE.search(misfit.found) and expected.name in inputs.columns
    return "; remove the row if it holds no data, or write NA for a missing value" if is_word else ""


def column_hint(inputs: Inputs, expected: ExpectedData) -> str:
    """The advice on a column that is declared as a single number."""
    if expected.shape or expected.name not in inputs.columns:
        return ""
    return "; a column has one for each row: remove it, and give the number in its own file"


def check_value(
    value: Any,
    expected: ExpectedData,
    constraint: Constraint,
    args: Sequence[Any],
    inputs: Inputs | None = None,
) -> None:
    """Hold a value against its declared constraint; `inputs` say where it is from, for the message.

    Raises:
        DataError: an element breaks the constraint, or a bound's shape is neither scalar nor the variable's.
    """
    where = f"{inputs.label_of(expected.name)}: " if inputs else ""
    for word, bound in zip(constraint.arguments, args, strict=True):
        if np.shape(bound) not in ((), expected.sizes, expected.shape):
            odd = f"{expected.declaration} has {written(np.shape(bound))} as the shape of `{word}`"
            sentence = f"{where}{odd}, but the variable has shape {written(expected.shape)}"
            raise DataError(sentence, expected.name, "PPL907")
    fault = fault_in_blocks(value, expected, constraint, args)
    if fault is not None:
        gap = "" if fault.startswith("[") else " "
        if inputs and (index := FIRST_INDEX.match(fault)):
            where = f"{inputs.place_of(expected.name, int(index[1]) - 1)}: "
        hint = hint_for_bounds(value, expected, constraint, args)
        text = f"{where}{expected.name}{gap}{fault}: {expected.declaration}{hint}"
        raise DataError(text, expected.name, "PPL904")


def hint_for_bounds(value: Any, expected: ExpectedData, constraint: Constraint, args: Sequence[Any]) -> str:
    """The advice on groups that are numbered from 0, and on a number that stands for missing values."""
    if isinstance(value, Share) or not np.size(value):
        return ""
    if own := stand_in(np.asarray(value)):
        return f"; if {own.value:g} stands for missing values, write NA"
    lower = dict(zip(constraint.arguments, args, strict=True)).get("lower")
    if expected.is_int and isinstance(lower, int) and lower == 1 and np.min(value) == 0:
        return f"; groups are numbered from 1: add 1, as in {expected.name} + 1, or give their names"
    return ""


def fault_in_blocks(
    value: Any, expected: ExpectedData, constraint: Constraint, args: Sequence[Any]
) -> str | None:
    """The answer of `constraint.check`, without an array on disk being in memory as a whole."""
    if isinstance(value, Share):
        own = [bound.values if isinstance(bound, Share) else bound for bound in args]
        own = [bound[value.rows] if np.shape(bound) == value.shape else bound for bound in own]
        sizes = expected.sizes if expected.dims else value.values.shape
        sentence = constraint.check(value.values, sizes, *own)
        return sentence and renumbered(value.rows, sentence)
    by_element = constraint.keyword in ELEMENTWISE
    if not is_mapped(value) or not (expected.dims or by_element):
        return constraint.check(value, expected.sizes, *args)
    first = 0
    for block in blocks(value):
        rows = slice(first, first + len(block))
        sizes = expected.sizes if expected.dims else (len(block), *expected.sizes[1:])
        bounds = [bound[rows] if np.shape(bound) == value.shape else bound for bound in args]
        if sentence := constraint.check(block, sizes, *bounds):
            return renumbered(range(first, rows.stop), sentence)
        first = rows.stop
    return None


def doubles(array: Numbers) -> Numbers:
    """The array as doubles, row by row: a copy, unless it is just that and no one can change it."""
    if is_mapped(array):
        return map_of(array, np.float64)
    if array.dtype == np.float64 and array.flags.c_contiguous and is_read_only(array):
        return array
    return aligned(array, np.float64)


def shaped(array: Numbers, expected: ExpectedData) -> Numbers:
    """The array in the expected shape; where that has no elements, an empty list will do."""
    own, shape = array.shape, expected.shape
    if own == shape:
        return array
    if 0 in shape and array.size == 0 and own in ((0,), shape[: len(own)]):
        return np.zeros(shape, dtype=array.dtype)
    has = f"has shape {written(own)}" if own else "is a single number"
    raise Misfit(f"{expected.name} {has}", expected.needs + shape_hint(array, shape))


def shape_hint(array: Numbers, shape: Shape) -> str:
    own = array.shape
    if len(shape) == 2 and own == shape[::-1]:
        return "; it looks transposed: write one list for each row"
    if len(shape) > 1 and own == (math.prod(shape),):
        return "; it is flat: write one list for each row"
    if not shape and own == (1,):
        return f"; write {array.item()}, not [{array.item()}]"
    if len(shape) == 1 and own in ((*shape, 1), (1, *shape)):
        return "; write one list of numbers, in Python array.ravel()"
    if shape == (1,) and not own:
        return f"; write [{array.item()}], not {array.item()}"
    return ""


def integers(array: Numbers, expected: ExpectedData) -> Numbers:
    """Whole numbers of 32 bits, as int64; 10.0 is one."""
    first = 0
    for block in blocks(array) if is_mapped(array) else (array,):
        if fault := fault_of_integers(block):
            k, needs = fault
            what = f"{place(expected.name, first + k, array.shape)} is {block.flat[k].item()}"
            raise Misfit(what, needs, first + k)
        first += block.size
    return map_of(array, np.int64) if is_mapped(array) else aligned(array, np.int64)


def fault_of_integers(block: Numbers) -> tuple[int, str] | None:
    """The first element that is no integer of 32 bits, and what is needed in its place; None if all are."""
    whole = block == np.trunc(block)
    if not np.all(whole):
        k = int(np.argmin(whole))
        return k, f"integers{nearest_integer(block.flat[k].item())}"
    in_range = (block >= LOWEST_INT) & (block <= LARGEST_INT)
    if not np.all(in_range):
        return int(np.argmin(in_range)), f"integers of 32 bits, {LOWEST_INT} to {LARGEST_INT}"
    return None


def nearest_integer(value: float) -> str:
    if math.isnan(value):
        return TO_MODEL
    return f"; {math.trunc(value)}.0 would be accepted" if math.isfinite(value) else ""
