"""What emitted code needs for many draws at once: every array that varies has their axis first.

Every function takes the namespace first; library.py binds it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Array, Namespace, is_traced, with_vjps
from ppl.backend import runtime
from ppl.errors import Rejection
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD
from ppl.stdlib.functions.complex_parts import to_complex
from ppl.stdlib.over_draws import spaced

Indices = NDArray[np.intp]


class DrawsRejected(Exception):
    """The program rejects some draws, at the positions `draws`; the others can go on without them."""

    def __init__(self, draws: Indices, complaint: str):
        super().__init__(complaint)
        self.draws = draws


# --- Entries -------------------------------------------------------------------------------------


def pick_each(xp: Namespace, x: Array, items: tuple[Any, ...]) -> Array:
    """x[items] of each draw; under autograd the adjoint of a single entry is sparse, as x[items] has it."""
    index = (slice(None), *items)
    return x[index] if is_traced(x) and is_basic(index) else pick(xp, x, index)


def gather_each(xp: Namespace, x: Array, base_lifted: bool, lifted: Sequence[bool], *items: Any) -> Array:
    """x[items] of each draw, for each entry of a batch, whose axis comes second."""
    shape = np.shape(x)[1:]
    if base_lifted:
        items, lifted = (np.arange(shape[0]), *items), (True, *lifted)
    return pick_each(xp, x, runtime.open_mesh(shape, items, lifted))


def entries_each(xp: Namespace, x: Array, lifted: Sequence[bool], *items: Any) -> tuple[Any, ...]:
    return runtime.open_mesh(np.shape(x)[1:], items, lifted)


def gather_by_draw(xp: Namespace, x: Array, draws: bool, *items: Any) -> Array:
    """One entry of x for each index, or a row or column; indices differ by draw, x itself with `draws`."""
    picked = [i for i in items if not isinstance(i, slice)]
    if not draws and len(picked) < len(items):
        x, draws = xp.np.broadcast_to(x, (len(max(picked, key=np.ndim)), *np.shape(x))), True
    return x[entries_by_draw(xp, x, *items)] if draws else x[items]


def entries_by_draw(xp: Namespace, x: Array, *items: Any) -> tuple[Any, ...]:
    """The indices, that of the draw before them."""
    axes = max(map(np.ndim, items))
    return (np.arange(np.shape(x)[0]).reshape(-1, *(1,) * (axes - 1)), *items)


def put_each(xp: Namespace, x: Array, where: tuple[Any, ...], value: Array, varies: bool) -> Array:
    """Entries of every draw set to its value, or to one that all share."""
    if varies:
        axes = 1 + axes_left(np.shape(x)[1:], where)
        value = spaced(xp, value, 1, axes - np.ndim(value)) if axes > np.ndim(value) else value
    return xp.put(x, (slice(None), *where), value)


def axes_left(shape: tuple[int, ...], where: tuple[Any, ...]) -> int:
    """How many axes the entries at these indices have."""
    if all(isinstance(i, int | np.integer) for i in where):
        return len(shape) - len(where)
    return int(np.broadcast_to(np.False_, shape)[where].ndim)


def _put_back(xp: Namespace, g: Array, ans: Array, x: Array, index: Any) -> Array:
    return put_back(xp, g, index, np.shape(x))


@with_vjps(_put_back, None)
def pick(xp: Namespace, x: Array, index: Any) -> Array:
    """x[index] as one entry of the tape; a number of each draw is a copy, as the number of one draw is."""
    match index:
        case (slice(start=None, stop=None, step=None), np.ndarray() as entries) if isinstance(x, np.ndarray):
            return np.take(x, entries, axis=1)  # in the order of memory that sums and products are fast in
    picked = x[index]
    return picked.copy() if np.ndim(picked) == 1 else picked


def is_basic(index: tuple[Any, ...]) -> bool:
    """Whether it picks one entry, or ranges, of each axis."""
    return all(isinstance(i, int | np.integer | slice) for i in index)


@with_vjps(lambda xp, g, ans, picked, index, shape: pick(xp, g, index), None, None)
def put_back(xp: Namespace, picked: Array, index: Any, shape: tuple[int, ...]) -> Array:
    """Zeros of the given shape with `picked` added at `index`: the transpose of `pick`."""
    if not isinstance(index, tuple) or is_basic(index):
        out = np.zeros(shape, np.result_type(picked))
        out[index] = picked
        return out
    if np.iscomplexobj(picked):
        parts = (put_back(xp, part, index, shape) for part in (picked.real, picked.imag))
        return to_complex(xp, *parts)
    draws, size = shape[0], int(np.prod(shape[1:]))
    place = np.arange(size).reshape(shape[1:])[index[1:]]  # each draw's entries go to places of its own
    places = np.add.outer(np.arange(draws) * size, place.ravel())
    added = np.bincount(places.ravel(), np.ravel(picked), draws * size)
    return added.astype(float, copy=False).reshape(shape)  # of no entries NumPy makes ints


# --- Checks --------------------------------------------------------------------------------------


def check_each(xp: Namespace, constraint: str, name: str, x: Array, shape: Any, *args: Array) -> None:
    """Raise DrawsRejected when a transformed quantity of some draws breaks its declared constraint."""
    x, bounds = xp.plain(x), [xp.plain(a) for a in args]
    wide = [spaced(NUMPY, a, 1, np.ndim(x) - np.ndim(a)) for a in bounds]
    if CONSTRAINT_BY_KEYWORD[constraint].check(x, shape, *wide) is None:
        return
    complaints = []
    for k in range(len(x)):
        try:
            runtime.check(NUMPY, constraint, name, x[k], shape, *(a[k] for a in bounds))
        except Rejection as complaint:
            complaints.append((k, complaint))
    if complaints:
        raise DrawsRejected(np.array([k for k, _ in complaints]), str(complaints[0][1]))
