"""Factors: columns of words as the codes that a program declares, and what each code stands for."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from ppl.data.inputs import Inputs
from ppl.data.values import DATES, Misfit, Numbers, is_missing, layers, place
from ppl.errors import DataError, first_few
from ppl.kernel.density.expected import ExpectedData
from ppl.records import dataclass, replace

Levels = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Factor:
    """The codes of a column, nan where it is missing: `first + k` stands for `levels[k]`.

    It is read as the array of its codes.
    """

    codes: Numbers
    levels: Levels
    first: int = 1

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Numbers:
        return np.array(self.codes, dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.codes.shape

    @property
    def sentence(self) -> str:
        """Which code stands for what."""
        each = [f"{code} is {level}" for code, level in enumerate(self.levels, self.first)]
        return first_few(each)


@dataclass(frozen=True)
class Bounds:
    """An int variable of the data: its declaration, and the bounds that are a number or the name of one."""

    declared: ExpectedData
    lower: int
    upper: int | str

    @property
    def first(self) -> int:
        """The code of the first level."""
        return 0 if self.is_binary else 1

    @property
    def is_binary(self) -> bool:
        return (self.lower, self.upper) == (0, 1)

    @property
    def shared(self) -> str:
        """The group of variables with the same levels: the size that bounds them, else the name."""
        return self.upper if isinstance(self.upper, str) else self.declared.name

    @property
    def are_of_levels(self) -> bool:
        """Whether the values between them can be numbers of levels."""
        return self.is_binary or self.lower == 1


@dataclass(frozen=True)
class WordColumn:
    """A column that is no numbers: its leaves, None where they are missing, and the order of its levels."""

    shape: tuple[int, ...]
    leaves: Sequence[Any]
    order: Levels | None

    @property
    def are_text(self) -> bool:
        return any(isinstance(leaf, str) for leaf in self.leaves)

    @property
    def levels(self) -> Levels:
        """In the column's own order, else sorted."""
        return self.order or tuple(sorted({leaf for leaf in self.leaves if leaf is not None}))

    def codes(self, levels: Sequence[Any], first: int) -> Numbers:
        code = {level: first + k for k, level in enumerate(levels)}
        codes = np.array([np.nan if leaf is None else code[leaf] for leaf in self.leaves], float)
        whole = codes if np.isnan(codes).any() else codes.astype(np.int64)
        return whole.reshape(self.shape)


def coded(inputs: Inputs, bounds: Sequence[Bounds]) -> Inputs:
    """The inputs with words of ints as codes: a Factor each, of booleans 0 and 1.

    Variables with the same size as their upper bound have levels in common. Levels that `inputs.levels`
    knows come first.

    Raises:
        DataError: there are more levels than the bounds allow, or nothing tells which is which.
    """
    values = dict(inputs.values)
    for b in bounds:
        if b.are_of_levels and (odd := number_among_words(b.declared.name, values.get(b.declared.name))):
            raise misfit(inputs, b, odd.found, odd.needs, odd.index)
    there = [(b, words) for b in bounds if (words := words_of(values.get(b.declared.name)))]
    for b, words in there:
        if b.is_binary and not words.are_text:
            values[b.declared.name] = words.codes((False, True), 0)
    texts = [(b, words) for b, words in there if b.are_of_levels and words.are_text]
    for size in dict.fromkeys(b.shared for b, _ in texts):
        group = [(b, words) for b, words in texts if b.shared == size]
        levels = levels_of(inputs, group)
        for b, words in group:
            values[b.declared.name] = Factor(words.codes(levels, b.first), levels, b.first)
    return replace(inputs, values=values)


def with_sizes(inputs: Inputs, bounds: Sequence[Bounds]) -> Inputs:
    """The inputs with sizes that they lack and that bound factors and numbered groups alone: their number.

    A note names a size that is that of numbered groups, of which the last may have no row.
    """
    values, notes = dict(inputs.values), [*inputs.notes]
    for size in dict.fromkeys(b.upper for b in bounds if isinstance(b.upper, str) and b.upper not in values):
        own = [b for b in bounds if b.upper == size]
        counts = {b.declared.name: number_of_groups(inputs, b) for b in own}
        if all(counts.values()):
            largest = max(counts, key=lambda name: counts[name])
            values[size] = counts[largest]
            if not isinstance(values[largest], Factor):
                where = inputs.label_of(largest)
                notes.append(f"{where}: `{size}` is {counts[largest]}, the largest `{largest}`.")
    return replace(inputs, values=values, notes=tuple(notes))


def number_of_groups(inputs: Inputs, b: Bounds) -> int:
    """The number of levels of a factor, or of groups 1, 2, 3, ... of a column; 0 if one is left out."""
    value = inputs.values.get(b.declared.name)
    if isinstance(value, Factor):
        return len(value.levels)
    numbers = np.asarray(value)
    if b.lower != 1 or b.declared.name not in inputs.columns or numbers.dtype.kind not in "iuf":
        return 0
    groups = np.unique(numbers)
    return len(groups) if np.array_equal(groups, np.arange(1, len(groups) + 1)) else 0


NEW_GROUPS = (
    "New groups need a bound that is data, `int J`, which new rows leave out, or give a larger one of"
)


def levels_of(inputs: Inputs, group: Sequence[tuple[Bounds, WordColumn]]) -> Levels:
    """The levels that the variables of a group have in common."""
    known = dict.fromkeys(level for b, _ in group for level in (inputs.levels or {}).get(b.declared.name, ()))
    if inputs.levels is not None and not known:
        name = group[0][0].declared.name
        raise misfit(inputs, group[0][0], f"{name} had numbers at the fit", "them; give the same numbers")
    new = [level for _, words in group for level in words.levels]
    levels = tuple(known | dict.fromkeys(new if any(words.order for _, words in group) else sorted(new)))
    for b, _ in group:
        most = b.upper if isinstance(b.upper, int) else inputs.values.get(b.upper, len(levels))
        if len(levels) > (most := int(most) + 1 - b.first):
            unknown = [level for level in levels if level not in known] if known else []
            count = f"{b.declared.name} has {len(levels)} levels ({first_few(levels)})"
            count += f", of which the fit did not have {first_few(unknown)}" if unknown else ""
            raise misfit(inputs, b, count, f"at most {most}" + (f". {NEW_GROUPS}" if unknown else ""))
        if b.is_binary and len(levels) == 1:
            needs = "0 or 1: give numbers, or a categorical with both levels"
            raise misfit(inputs, b, f"all of {b.declared.name} is {levels[0]}", needs)
    return levels


def misfit(inputs: Inputs, b: Bounds, what: str, needs: str, index: int | None = None) -> DataError:
    name = b.declared.name
    where = inputs.place_of(name, index)
    return DataError(f"{where}: {what}, but {b.declared.declaration} needs {needs}", name, "PPL902")


# --- Words ---------------------------------------------------------------------------------------


def words_of(value: Any) -> WordColumn | None:
    """The leaves of a value if all are strings, or all booleans, and of a categorical; else None."""
    if isinstance(value, Factor) or getattr(getattr(value, "dtype", None), "kind", "O") in "iufcb":
        return None
    order = categories(value)
    try:
        shape, leaves = layers("data", whole(value) if order else value)
    except Misfit:
        return None
    given = [None if is_missing(leaf) or leaf != leaf else leaf for leaf in leaves]
    words = [str(leaf) if order and leaf is not None else leaf for leaf in given]
    return WordColumn(shape, words, order) if {*map(type, words)} - {type(None)} in ({str}, {bool}) else None


def number_among_words(name: str, value: Any) -> Misfit | None:
    """The first number of a column that has more words; a code such as 7 beside A1 and B2."""
    if not isinstance(value, list) or str not in {*map(type, value)}:
        return None
    words = [leaf for leaf in value if isinstance(leaf, str) and not is_missing(leaf)]
    figures = [k for k, leaf in enumerate(value) if isinstance(leaf, float | int) and leaf == leaf]
    if not 0 < len(figures) < len(words):
        return None
    k = figures[0]
    where, others = place(name, k, (len(value),)), f"others are words such as {words[0]}"
    figure = f"{where} is the number {value[k]:g}, and {others}"
    return Misfit(figure, f"words alone or numbers alone; give it a letter, such as n{value[k]:g}", k)


def whole(column: Any) -> Any:
    """An Arrow column in one piece: in several, it gives missing entries of a dictionary as its last one."""
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def categories(value: Any) -> Levels | None:
    """The levels of a categorical of pandas, an Enum of polars, or a dictionary array of Arrow, in order.

    A Categorical of polars has none of its own: its categories are those of the whole process.
    """
    kind = getattr(value, "dtype", getattr(value, "type", None))
    if hasattr(kind, "value_type") and hasattr(kind, "index_type"):
        return tuple(map(str, whole(value).dictionary.to_pylist()))
    own = getattr(kind, "categories", None)
    if own is None or type(kind).__name__ == "Categorical":
        return None
    return tuple(map(str, own))


def column_of(series: Any) -> Any:
    """A column of a DataFrame as an array; a categorical as it is, for its levels."""
    return series if categories(series) else series.to_numpy()


# --- Words for what is no factor ----------------------------------------------------------------


def hint_for_words(value: Any, expected: ExpectedData) -> str:
    """The declaration for words in place of numbers without levels."""
    if not (words := words_of(value)) or not words.are_text:
        return ""
    name, n = expected.name, len(words.levels)
    if all(map(is_date, words.levels)):
        return DATES.format(name=name) + " after pandas.to_datetime"
    if not (size := SIZE.search(expected.span.text)):
        return ""
    declared = f"; for groups declare `array[{size[1]}] int<lower={{}}, upper={{}}> {name};`"
    if n == 2:
        return declared.format(0, 1) + ("" if expected.is_int else f", and read to_vector({name})")
    each = f"and index effects by it: b_{name}[{name}]"
    return f"{declared.format(1, f'K_{name}')} after `int K_{name};`, {each}"


SIZE = re.compile(r"\[([^]]*)\]")


def is_date(text: str) -> bool:
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False
