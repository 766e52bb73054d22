"""Slices and concatenation of containers.

Stan Functions Reference, "Slicing and blocking functions", "Matrix concatenation" and "Array concatenation".
Vectors and matrices are cut along their last axes, arrays along the first; every part is a value of its own.
"""

from collections.abc import Callable

import numpy as np

from ppl.arrays import Array, Namespace, flip
from ppl.stdlib.functions.checks import require, require_index, require_size, require_span
from ppl.stdlib.functions.sums import SIDES
from ppl.stdlib.record import Function, Impl, Overload, function, leading

ARRAY = "array[..] E"


def _cut(name: str, span: Callable[..., tuple[int, int]]) -> Impl:
    """The elements from a start, which counts from 1: `span(size, *ints)` gives it and how many they are."""

    def cut(xp: Namespace, x: Array, axis: int, *ints: int) -> Array:
        start, count = span(x.shape[axis], *ints)
        require_span(name, start, count, x.shape[axis])
        at = slice(start - 1, start - 1 + count)
        return xp.own(x[at] if axis == 0 else x[..., at])

    return cut


def length_of_tail(xp: Namespace, n: Array) -> Array:
    """How many elements each tail has; InferenceError if that is negative."""
    require_size("tail", int(np.min(n, initial=0)))
    return n


def block(xp: Namespace, x: Array, i: int, j: int, rows: int, cols: int) -> Array:
    require_span("block, rows", i, rows, x.shape[-2])
    require_span("block, columns", j, cols, x.shape[-1])
    return xp.own(x[..., i - 1 : i - 1 + rows, j - 1 : j - 1 + cols])


def sub_row(xp: Namespace, x: Array, i: int, j: int, cols: int) -> Array:
    return block(xp, x, i, j, 1, cols)[..., 0, :]


def row(xp: Namespace, x: Array, m: int) -> Array:
    require_index("row", m, x.shape[-2])
    return xp.own(x[..., m - 1, :])


def col(xp: Namespace, x: Array, n: int) -> Array:
    require_index("col", n, x.shape[-1])
    return xp.own(x[..., n - 1])


def diagonal(xp: Namespace, x: Array) -> Array:
    k = np.arange(min(x.shape[-2:]))
    return x[..., k, k]


def _join(xp: Namespace, a: Array, b: Array, axis: int, rank: int) -> Array:
    """Concatenation along one of the last `rank` axes, either side taking part in the other's batch."""
    across = [i for i in range(-rank, 0) if i != axis]
    require(
        all(a.shape[i] == b.shape[i] for i in across),
        "append_row" if axis == -2 else "append_col",
        f"the sides do not fit: their sizes are {a.shape[-rank:]} and {b.shape[-rank:]}",
    )
    lead = np.broadcast_shapes(a.shape[:-rank], b.shape[:-rank])
    copies = np.ones((*lead, *[1] * rank))
    sides = [x if x.shape[:-rank] == lead else x * copies for x in (a, b)]
    return xp.np.concatenate(sides, axis=axis)


def _appending(axis: int, rank: int, left: int | None = None, right: int | None = None) -> Impl:
    """Join along `axis` after giving the smaller side the axis it lacks."""

    def append(xp: Namespace, a: Array, b: Array) -> Array:
        a = a if left is None else xp.np.expand_dims(a, left)
        b = b if right is None else xp.np.expand_dims(b, right)
        return _join(xp, a, b, axis, rank)

    return append


def append_array(xp: Namespace, a: Array, b: Array) -> Array:
    """An empty side has no element whose sizes could disagree."""
    if len(a) == 0 or len(b) == 0:
        return xp.own(b if len(a) == 0 else a)
    return xp.np.concatenate((a, b))


def _parts(name: str, meaning: str, ints: str, impl: Impl) -> Function:
    """A part of the last axis of a list, of the first of an array."""
    of_array = Overload(f"({ARRAY}{ints}) => {ARRAY}", lambda xp, x, *ints: impl(xp, x, 0, *ints))
    lists = [
        Overload(f"({k}{ints}) => {k}", lambda xp, x, *ints: impl(xp, x, -1, *ints), "leading") for k in SIDES
    ]
    return Function(name, meaning, (*lists, of_array))


APPEND_ROW = leading(
    "append_row",
    "the second container below the first",
    ("(real, vector) => vector", _appending(-1, 1, left=-1)),
    ("(vector, real) => vector", _appending(-1, 1, right=-1)),
    ("(vector, vector) => vector", _appending(-1, 1)),
    ("(row_vector, row_vector) => matrix", _appending(-2, 2, left=-2, right=-2)),
    ("(row_vector, matrix) => matrix", _appending(-2, 2, left=-2)),
    ("(matrix, row_vector) => matrix", _appending(-2, 2, right=-2)),
    ("(matrix, matrix) => matrix", _appending(-2, 2)),
)

APPEND_COL = leading(
    "append_col",
    "the second container to the right of the first",
    ("(real, row_vector) => row_vector", _appending(-1, 1, left=-1)),
    ("(row_vector, real) => row_vector", _appending(-1, 1, right=-1)),
    ("(row_vector, row_vector) => row_vector", _appending(-1, 1)),
    ("(vector, vector) => matrix", _appending(-1, 2, left=-1, right=-1)),
    ("(vector, matrix) => matrix", _appending(-1, 2, left=-1)),
    ("(matrix, vector) => matrix", _appending(-1, 2, right=-1)),
    ("(matrix, matrix) => matrix", _appending(-1, 2)),
)

FUNCTIONS = (
    _parts("head", "the first n elements", ", int", _cut("head", lambda size, n: (1, n))),
    _parts("tail", "the last n elements", ", int", _cut("tail", lambda size, n: (size - n + 1, n))),
    _parts(
        "segment", "n elements from the i-th on", ", int, int", _cut("segment", lambda size, i, n: (i, n))
    ),
    _parts("reverse", "the elements in reverse order", "", lambda xp, x, axis: xp.own(flip(xp, x, axis))),
    APPEND_ROW,
    APPEND_COL,
    function(
        "append_array", "the second array after the first", (f"({ARRAY}, {ARRAY}) => {ARRAY}", append_array)
    ),
    leading("row", "row m of a matrix", ("(matrix, int) => row_vector", row)),
    leading("col", "column n of a matrix", ("(matrix, int) => vector", col)),
    leading(
        "sub_row", "n elements of row i from column j on", ("(matrix, int, int, int) => row_vector", sub_row)
    ),
    leading(
        "sub_col",
        "n elements of column j from row i on",
        ("(matrix, int, int, int) => vector", lambda xp, x, i, j, rows: block(xp, x, i, j, rows, 1)[..., 0]),
    ),
    leading(
        "block",
        "the m by n block whose corner is row i, column j",
        ("(matrix, int, int, int, int) => matrix", block),
    ),
    leading("diagonal", "the diagonal of a matrix", ("(matrix) => vector", diagonal)),
)
