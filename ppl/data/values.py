"""Nested lists, arrays, series and frames of numbers made one ndarray, or refused where they are bad."""

import json
import numbers
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import as_pairs
from ppl.stdlib.constraints.sentences import position

Numbers = NDArray[Any]
MOST_AXES = 64
"""NumPy's limit."""
TO_MODEL = (
    "; --missing drop leaves out such rows of a table, --missing model makes missing values parameters (in "
    'Python missing="drop", "model")'
)
"""The advice on a missing value, by the command line and in Python."""
DATES = '; count days, as in frame["{name}"] = (frame["{name}"] - frame["{name}"].min()).dt.days'
"""The advice on dates."""
FIGURES = "; write it as 1234.5: no quotes, a decimal point, no sign of thousands or of per cent"
"""The advice on numbers as other countries and offices write them."""
FIGURE = re.compile(r"[+-]?[0-9.]*(,[0-9.]+)+ ?%?|[+-]?[0-9.]+ ?%")
PLAIN = re.compile(r"[+-]?[0-9]+([.][0-9]+)?")
UNIT = "; write the number alone, {figure}, and its unit in the name of the column"
"""The advice on numbers with a unit."""
WITH_UNIT = re.compile(r"(?:[$£€] ?)?([+-]?[0-9]+(?:[.][0-9]+)?) ?[^\d,:;/.]*")
BOUNDED = re.compile(r"[<>≤≥] ?([+-]?[0-9.]+)")
LIMIT = "; it is censored: keep such rows apart, and add `target += normal_lcdf(limit | mu, sigma);` for them"
"""The advice on values below a limit of detection."""
MISSING_WORDS = ("", "NA", "N/A", "NULL", "null", "None")
MISSING_TYPES = ("NAType", "NaTType")
"""Those of pandas beside None and nan."""
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


class Misfit(Exception):
    """A value does not fit: what was `found` in place of what the declaration `needs` ("" for all of it).

    `index` is that of the element that is to blame, counted from 0 through all of them; `hint` is what to do.
    """

    def __init__(self, what: str, needs: str = "", index: int | None = None, hint: str = ""):
        self.found, self.needs, self.index, self.hint = what, needs, index, hint
        super().__init__(what)


def compact(values: list[Any]) -> Numbers | list[Any]:
    """A rectangular nested list of plain numbers as an array, small integers in 4 bytes; others unchanged."""
    if str in map(type, values):  # NumPy would make all of them strings
        return values
    try:
        array = np.array(values)
    except ValueError:  # ragged
        return values
    if array.dtype.kind not in "iuf" or not _only_numbers(values, array.ndim):
        return values
    if array.dtype.kind == "i" and np.array_equal(small := array.astype(np.int32), array):
        return small
    return array


def _only_numbers(values: Iterable[Any], ndim: int) -> bool:
    """False for booleans, which NumPy takes for numbers where there is a number beside them, and for arrays
    and frames in the lists.
    """
    for _ in range(ndim - 1):
        values = list(values)
        if any(hasattr(kind, "__array__") for kind in set(map(type, values))):
            return False
        values = chain.from_iterable(values)
    return not any(issubclass(t, bool | np.bool_ | np.ndarray) for t in set(map(type, values)))


def as_array(name: str, value: Any) -> Numbers:
    """The numbers of `value` in its own shape.

    Raises:
        Misfit: it is ragged, or holds something that is no number; the sentence names the first place.
    """
    if isinstance(value, list | tuple | range):
        value = compact(list(value))
    elif hasattr(value, "__array__"):
        value = _as_numpy(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "Mm":  # whose leaves are nanoseconds
        raise Misfit(
            f"{name} holds {'dates' if value.dtype.kind == 'M' else 'durations'}",
            hint=DATES.format(name=name),
        )
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and not is_masked(value):
        return value
    shape, leaves = layers(name, value)
    try:
        numbers = [number(name, leaf, k, shape) for k, leaf in enumerate(leaves)]
    except Misfit:  # what is no number at all is named first: it would remain if the missing were modelled
        for k, leaf in enumerate(leaves):
            if not is_missing(leaf):
                number(name, leaf, k, shape)
        raise
    return np.array(numbers, dtype=None if numbers else float).reshape(shape)


def is_masked(value: Any) -> bool:
    """Whether an array is a masked one; asked of a plain one, `numpy.ma` would be imported."""
    return type(value) is not np.ndarray and bool(np.ma.isMaskedArray(value))


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array, or of nested lists by their first elements, unchecked; () of anything else."""
    if isinstance(value, list | tuple | range):
        return (len(value), *(shape_of(value[0]) if value else ()))
    length = (len(value),) if hasattr(value, "to_pylist") else ()  # a column of Arrow
    return tuple(getattr(value, "shape", length))


def pairs(value: Any) -> Any:
    """Python's and NumPy's complex numbers as lists of their real and imaginary parts; all else as it is."""
    if isinstance(value, complex):
        return [value.real, value.imag]
    if hasattr(value, "__array__"):
        array = np.asanyarray(value)
        return as_pairs(array) if array.dtype.kind == "c" else value
    if isinstance(value, list | tuple) and not all(isinstance(v, int | float) for v in value):
        return [pairs(v) for v in value]
    return value


def layers(name: str, value: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Shape and leaves of nested sequences, one level at a time."""
    shape: tuple[int, ...] = ()
    level = [_opened(value)]
    while level and any(isinstance(v, list) for v in level):
        if len(shape) == MOST_AXES:
            raise Misfit(f"{name} is nested more than {MOST_AXES} deep")
        _refuse_ragged(name, level, shape)
        shape = (*shape, len(level[0]))
        level = [_opened(v) for inner in level for v in inner]
    return shape, level


def _opened(value: Any) -> Any:
    """A list in place of any sequence or array; masked entries become None."""
    if isinstance(value, list | tuple | range):
        return list(value)
    return _as_numpy(value).tolist() if hasattr(value, "__array__") else value


def _as_numpy(value: Any) -> Numbers:
    """An array, or a value as one, NumPy's booleans as 0 and 1: a comparison of columns is data."""
    array: Numbers = np.asanyarray(value)
    return array.astype(np.int32) if array.dtype.kind == "b" else array


def _refuse_ragged(name: str, level: list[Any], shape: tuple[int, ...]) -> None:
    lengths = [len(v) if isinstance(v, list) else None for v in level]
    odd = next((k for k, n in enumerate(lengths) if n != lengths[0]), None)
    if odd is not None:
        raise Misfit(
            f"{place(name, odd, shape)} {_length(lengths[odd])} and "
            f"{place(name, 0, shape)} {_length(lengths[0])} (the array is ragged)"
        )


def _length(n: int | None) -> str:
    if n is None:
        return "is a single value"
    return f"has {n} element{'' if n == 1 else 's'}"


def place(name: str, k: int, shape: tuple[int, ...]) -> str:
    """The k-th element of an array of this shape, by its name in the program: "m[1,3]"."""
    return name + position(tuple(map(int, np.unravel_index(k, shape))) if shape else ())


def number(name: str, leaf: Any, k: int, shape: tuple[int, ...]) -> float:
    """A leaf as a number: an int where it fits in 64 bits, else a float."""
    if isinstance(leaf, str) and NOT_FINITE.fullmatch(leaf):
        return float(leaf)
    is_real = isinstance(leaf, numbers.Real) or type(leaf).__name__ == "Decimal"  # as SQL has them
    if isinstance(leaf, bool | np.bool_) or not is_real:
        hint = TO_MODEL if is_missing(leaf) else hint_for_text(leaf)
        raise Misfit(f"{place(name, k, shape)} is {described(leaf)}", index=k, hint=hint)
    if isinstance(leaf, int) and leaf.bit_length() < 64:
        return leaf
    try:
        return float(leaf)
    except OverflowError:
        raise Misfit(f"{place(name, k, shape)} is beyond double precision", index=k) from None


def hint_for_text(leaf: Any) -> str:
    """The advice on text that holds a number."""
    text = leaf.strip() if isinstance(leaf, str) else ""
    if PLAIN.fullmatch(text):
        return f"; write {text}, without quotes"
    if FIGURE.fullmatch(text):
        return FIGURES
    if BOUNDED.fullmatch(text):
        return LIMIT
    return UNIT.format(figure=unit[1]) if (unit := WITH_UNIT.fullmatch(text)) else ""


def is_missing(leaf: Any) -> bool:
    """Whether it stands for a missing value, as R, pandas and others write them."""
    if leaf is None or type(leaf).__name__ in MISSING_TYPES:
        return True
    return isinstance(leaf, str) and leaf.strip() in MISSING_WORDS


def described(leaf: Any) -> str:
    match leaf:
        case None:
            return "null"
        case bool():
            return f"{str(leaf).lower()} (a boolean; write 0 or 1)"
        case str() if not leaf.strip():
            return "empty"
        case str():
            return f"the string {json.dumps(leaf[:40], ensure_ascii=False)}"
        case Mapping():
            return "an object"
        case numbers.Real():
            return f"the number {leaf}"
        case _:
            return f"a {type(leaf).__name__}"
