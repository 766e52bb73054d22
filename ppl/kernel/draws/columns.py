"""Flat names and the variables behind them: `L.2.1` is element (2, 1) of `L` (CmdStan's CSV)."""

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from ppl.errors import DataError, UnknownName
from ppl.floats import Floats
from ppl.kernel.draws.names import NO_LABELS, PARTS, Labels, variable_of


def missing_of(columns: Iterable[str], data: Collection[str]) -> Literal["model", "drop"]:
    """The policy on missing data of a fit with these columns: a column of data is a missing value."""
    return "model" if {*map(variable_of, columns)} & {*data} else "drop"


def split_part(column: str) -> tuple[str, str]:
    """The element and which part of a complex number the column has: "z.1" and "real" of "z.1.real"."""
    element, _, part = column.rpartition(".")
    return (element, part) if part in PARTS else (column, "")


def bracketed(column: str) -> str:
    """The name as CmdStanPy writes it: `L[2,1]` for "L.2.1", `t.2[3]` for "t:2.3"."""
    parts = (part.partition(".") for part in column.split(":"))
    return ".".join(f"{name}[{index.replace('.', ',')}]" if index else name for name, _, index in parts)


def in_columns(columns: Sequence[str], name: str, labels: Labels = NO_LABELS) -> str:
    """The column that `name` spells, as `theta.1`, `theta[1]` or `u[Hull]`; itself where there is none."""
    if name in columns or not name.endswith("]"):
        return name
    spelt = (c for c in columns if name == labels.of(c) or name.replace(" ", "") == bracketed(c))
    return next(spelt, name)


def labelled(column: str, labels: Labels) -> str:
    """The name with levels, `u[Hull]`, else as CmdStanPy writes it."""
    label = labels.of(column)
    return bracketed(column) if label == column else label


def variables(columns: Sequence[str]) -> dict[str, list[int]]:
    """Positions of each variable's columns, in order of appearance."""
    positions: dict[str, list[int]] = {}
    for position, column in enumerate(columns):
        positions.setdefault(variable_of(column), []).append(position)
    return positions


FEW_ENTRIES = 20
"""Entries of a variable that a table shows one by one where nobody asked for them."""


def folded(columns: Sequence[str], always: Collection[str] = ()) -> tuple[tuple[str, ...], dict[str, int]]:
    """The columns of small variables, and how many the others have, by name.

    A variable with more than `FEW_ENTRIES` is not small, nor is one of several that is named in `always`.
    """
    sizes = {name: len(positions) for name, positions in variables(columns).items()}
    large = {name: n for name, n in sizes.items() if n > (1 if name in always else FEW_ENTRIES)}
    return tuple(name for name in columns if variable_of(name) not in large), large


def chosen(
    columns: Sequence[str], names: Sequence[str], usual: Sequence[str], labels: Labels = NO_LABELS
) -> tuple[str, ...]:
    """The columns of the variables of these names, else the `usual` ones; a column's name will do too.

    Raises:
        DataError: one of them has no column; the message lists the variables there are.
    """
    there, every, default = variables(columns), {*columns}, {*usual}
    named = dict.fromkeys(name if name in every else in_columns(columns, name, labels) for name in names)
    for name in named:
        if name not in there and name not in every:
            raise DataError(f"no variable {name} among the draws; there are {', '.join(there)}.", name)
    if named:
        return tuple(name for name in columns if variable_of(name) in named or name in named)
    return tuple(name for name in columns if name in default) or tuple(columns)


def reshape(rows: Floats, columns: Sequence[str], name: str, view: bool = False) -> Floats:
    """The draws of one variable, shape (draws, *its own shape), complex where the variable is.

    Columns run column-major as in Stan, so the shape is read off the last column's index; of a variable that
    only some entries of have columns, as missing data, it is (draws, entries). With `view` reals
    share the memory of `rows`, which must have the columns of a variable beside each other.

    Raises:
        UnknownName: no column belongs to `name`; the message lists the variables there are.
    """
    positions = variables(columns)
    if name not in positions:
        raise UnknownName("no variable", name, positions)
    own = positions[name]
    last, part = split_part(columns[own[-1]])
    shape = tuple(map(int, last.rpartition(":")[2].split(".")[1:]))
    if math.prod(shape) != len(own) and not part:
        shape = (len(own),)
    values = rows[:, own[0] : own[-1] + 1] if view else rows[:, own]
    if part:
        values = np.ascontiguousarray(values).view(complex)
    return values.reshape(len(rows), *shape[::-1]).transpose(0, *range(len(shape), 0, -1))


def whole_numbers(draws: Floats) -> Any:
    """Draws of ints as integers; as they are where some could not be computed and are nan."""
    return draws.astype(np.int64) if np.isfinite(draws).all() else draws
