"""Missing values among data, `null`, NA and NaN: where they are, and tables without such rows."""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.data.inputs import Inputs, RowCount
from ppl.data.levels import whole
from ppl.data.shares import Share
from ppl.data.values import Misfit, Numbers, is_masked, is_missing, layers
from ppl.errors import DataError
from ppl.records import dataclass, replace


@dataclass(frozen=True)
class Holes:
    """`values` with nan where they are missing; `at` (missing, axes) are those places, counted from 0."""

    values: Numbers
    at: NDArray[np.intp]


def holes_in(value: Any) -> Holes | None:
    """Where values are missing; None where none is, or where they are no numbers in the first place."""
    kind = value.dtype.kind if isinstance(value, np.ndarray) and not is_masked(value) else ""
    if isinstance(value, Share) or kind in ("i", "u", "b"):
        return None
    array = value if kind == "f" else as_floats(value)
    if array is None or not (missing := np.isnan(array)).any():
        return None
    return Holes(np.array(array, dtype=float), np.argwhere(missing))


def as_floats(value: Any) -> Numbers | None:
    """The numbers of nested lists, nan where they are missing; None of anything else."""
    try:
        shape, leaves = layers("data", value)
        return np.array([np.nan if is_missing(leaf) else leaf for leaf in leaves], float).reshape(shape)
    except (Misfit, TypeError, ValueError, OverflowError):
        return None


# --- Numbers in their place ----------------------------------------------------------------------

STAND_INS = (-99, -999, -9999, -99999, 999, 9999, 99999)
"""Numbers that stand for missing values in many tables."""
FEWEST_OTHERS = 3
"""Other values that tell such a number from one of them."""


class StandIn(NamedTuple):
    """A number that may stand for missing values, how often it is there, and the range of the others."""

    value: float
    times: int
    low: float
    high: float


def stand_in(values: Numbers) -> StandIn | None:
    """The least or the greatest value, if it is one of STAND_INS and the others are closer to each other."""
    if values.dtype.kind not in "if" or not values.size:
        return None
    for end in (values.min(), values.max()):
        if end in STAND_INS and len(others := values[values != end]) >= FEWEST_OTHERS:
            low, high = others.min(), others.max()
            if max(low - end, end - high) > high - low:
                return StandIn(float(end), values.size - len(others), float(low), float(high))
    return None


# --- Rows ----------------------------------------------------------------------------------------


def complete_rows(inputs: Inputs, declared: Collection[str]) -> Inputs:
    """The inputs without the rows of tables in which a declared column is missing; a note counts them.

    Raises:
        DataError: no row is complete.
    """
    for count in dict.fromkeys(rows.count for rows in inputs.columns.values()):
        table = [name for name, rows in inputs.columns.items() if rows.count == count]
        missing = {name: missing_rows(inputs.values[name]) for name in table if name in declared}
        incomplete = {name: rows for name, rows in missing.items() if rows.any()}
        if incomplete:
            inputs = with_rows(inputs, table, incomplete)
    return inputs


def missing_rows(column: Any) -> NDArray[np.bool_]:
    """Which entries of a column are missing."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iufb" and not is_masked(column):
        return np.asarray(column != column)
    _, leaves = layers("data", whole(column))
    return np.array([is_missing(leaf) or leaf != leaf for leaf in leaves])


def with_rows(inputs: Inputs, table: Collection[str], incomplete: dict[str, NDArray[np.bool_]]) -> Inputs:
    """The inputs without the rows of a table that are incomplete."""
    dropped = np.any([*incomplete.values()], axis=0)
    kept = np.flatnonzero(~dropped)
    each = ", ".join(f"{name} ({rows.sum()})" for name, rows in incomplete.items())
    where = inputs.label_of(next(iter(incomplete)))
    if not kept.size:
        raise DataError(f"{where}: no row is complete; values are missing in {each}", code="PPL905")
    note = f"{where}: {dropped.sum()} of {dropped.size} rows were left out, with missing values in {each}."
    values, columns = dict(inputs.values), dict(inputs.columns)
    for name in table:
        values[name] = taken(values[name], kept)
        lines = columns[name].lines
        columns[name] = RowCount(kept.size, [lines[k] for k in kept.tolist()] if len(lines) else ())
    return replace(inputs, values=values, columns=columns, notes=(*inputs.notes, note))


def taken(column: Any, rows: NDArray[np.intp]) -> Any:
    """Some entries of a list, of an array, or of a column of pandas, polars or Arrow."""
    if isinstance(column, list):
        return [column[k] for k in rows]
    return column.gather(rows) if hasattr(column, "gather") else column.take(rows)
