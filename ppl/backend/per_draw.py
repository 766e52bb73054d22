"""Values that differ from draw to draw, and look to emitted code like the value of one draw.

So the text that computes one log density computes many at once: every operation runs on an array that has
the draws along its first axis.  Where the program must decide something, a branch, a size or an index, all
draws must decide alike; BranchDivergence says which of them do.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import Array, Namespace, stack, with_vjps
from ppl.errors import Rejection

T = TypeVar("T")
Indices = NDArray[np.intp]


class BranchDivergence(Exception):
    """Draws that decide differently cannot go on together; `groups` are the positions of those that can."""

    def __init__(self, groups: Sequence[Indices]):
        super().__init__(f"the draws part into {len(groups)} groups")
        self.groups = groups


class DrawsRejected(Exception):
    """The program rejects some draws, at the positions `draws`; the others can go on without them."""

    def __init__(self, draws: Indices, complaint: str):
        super().__init__(complaint)
        self.draws = draws


class PerDraw:
    """One value a draw: `each` is (draws, *shape), plain or on a tape, and `shape` that of one value."""

    __slots__ = ("each", "xp")
    __array_ufunc__ = None  # an array on the left leaves the operation to this class

    def __init__(self, xp: Namespace, each: Array):
        self.xp, self.each = xp, each

    @property
    def shape(self) -> tuple[int, ...]:
        return self.each.shape[1:]  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return int(self.each.ndim) - 1

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator["PerDraw"]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> "PerDraw":
        return PerDraw(self.xp, pick(self.xp, self.each, for_each(index)))

    def __bool__(self) -> bool:
        return bool(agreed(self))

    def __index__(self) -> int:
        return int(agreed(self))

    __int__ = __index__

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Where NumPy needs plain numbers they are indices."""
        return np.asarray(agreed(self), dtype)

    def __neg__(self) -> "PerDraw":
        return PerDraw(self.xp, -self.each)


def _operation(op: Callable[[Any, Any], Any], swapped: bool = False) -> Callable[[Any, Any], PerDraw]:
    def apply(self: PerDraw, other: Any) -> PerDraw:
        a, b = aligned(self.xp, (other, self) if swapped else (self, other))
        return PerDraw(self.xp, op(a, b))

    return apply


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(PerDraw, f"__{_name}__", _operation(getattr(operator, _name)))
    setattr(PerDraw, f"__r{_name}__", _operation(getattr(operator, _name), swapped=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "and_", "or_"):
    setattr(PerDraw, f"__{_name.rstrip('_')}__", _operation(getattr(operator, _name)))


def for_each(index: Any) -> tuple[Any, ...]:
    """The index into one value as an index into those of all draws."""
    items = index if isinstance(index, tuple) else (index,)
    return (slice(None), *(agreed(i) if isinstance(i, PerDraw) else i for i in items))


def agreed(x: Any) -> Any:
    """The decision that all draws share; anything else as it is.

    Raises:
        BranchDivergence: they do not share it.
    """
    if not isinstance(x, PerDraw):
        return x
    values = np.asarray(x.xp.plain(x.each))
    if values.dtype.kind not in "bi":
        raise TypeError("a real that differs from draw to draw decides nothing by itself")
    if (values == values[0]).all():
        return values[0]
    _, group = np.unique(values.reshape(len(values), -1), axis=0, return_inverse=True)
    raise BranchDivergence([np.flatnonzero(group.ravel() == k) for k in range(group.max() + 1)])


def in_groups(at: Indices, run: Callable[[Indices], T]) -> list[tuple[Indices, T]]:
    """What `run` finds at the points, all at once or in the groups into which they part.

    Raises:
        Rejection: the program rejects some of them, which need not be draws.
    """
    waiting, found = [at], []
    while waiting:
        group, *waiting = waiting
        try:
            found.append((group, run(group)))
        except BranchDivergence as parting:
            waiting = [*(group[part] for part in parting.groups), *waiting]
        except DrawsRejected as some:
            raise Rejection(str(some)) from None
    return found


# --- Layout --------------------------------------------------------------------------------------


@with_vjps(lambda xp, g, ans, x, at, count: xp.np.reshape(g, np.shape(x)), None, None)
def spaced(xp: Namespace, x: Array, at: int, count: int) -> Array:
    """`count` axes of length one before axis `at`."""
    shape = np.shape(x)
    return xp.np.reshape(x, (*shape[:at], *(1,) * count, *shape[at:]))


def for_entries(xp: Namespace, each: Array, count: int) -> Array:
    """The value of each draw (draws, *shape) for each of `count` entries, (draws, count, *shape)."""
    draws, *shape = np.shape(each)
    return xp.np.broadcast_to(spaced(xp, each, 1, 1), (draws, count, *shape))


def aligned(xp: Namespace, args: Sequence[Any]) -> list[Array]:
    """Arrays that broadcast against one another as the values of one draw do."""
    widest = max(np.ndim(a) for a in args)
    return [widened(xp, a, widest - np.ndim(a)) for a in args]


def widened(xp: Namespace, a: Any, axes: int) -> Array:
    """The array behind a value, with axes of length one after that of the draws."""
    if not isinstance(a, PerDraw):
        return a
    return spaced(xp, a.each, 1, axes) if axes else a.each


def number_of_draws(args: Any) -> int:
    """How many draws the values among the arguments have; 0 when none differs from draw to draw."""
    for a in args:
        if isinstance(a, PerDraw):
            return len(a.each)
        if isinstance(a, list | tuple) and (inside := number_of_draws(a)):
            return inside
    return 0


def laid_out(x: Any, draws: int) -> Array:
    """The array behind a value; one that is the same for all draws is repeated."""
    return x.each if isinstance(x, PerDraw) else np.repeat(np.asarray(x)[None], draws, axis=0)


def of_draw(x: Any, draw: int) -> Any:
    """The value of one draw."""
    if isinstance(x, PerDraw):
        return pick(x.xp, x.each, draw)
    return type(x)(of_draw(item, draw) for item in x) if isinstance(x, list | tuple) else x


def of_draws(xp: Namespace, values: Sequence[Any]) -> Any:
    """One value from those of all draws; an int that is the same for all is plain."""
    first = values[0]
    if isinstance(first, tuple):
        return tuple(of_draws(xp, items) for items in zip(*values, strict=True))
    if isinstance(first, int) and all(v == first for v in values):
        return first
    return PerDraw(xp, stack(0, *values))


def beside(xp: Namespace, items: Sequence[Any]) -> Any:
    """An array of values, some of which differ from draw to draw."""
    draws = number_of_draws(items)
    return PerDraw(xp, stack(1, *(laid_out(i, draws) for i in items)))


def one_by_one(xp: Namespace, f: Callable[..., Any], *args: Any) -> Any:
    """One call a draw."""
    return of_draws(xp, [f(*(of_draw(a, k) for a in args)) for k in range(number_of_draws(args))])


def flat_each(xp: Namespace, x: Array) -> Array:
    """The values of each draw in a row."""
    return xp.np.reshape(x, (x.shape[0], -1))


def sum_each(xp: Namespace, x: Array) -> Array:
    """One sum for each draw."""
    return x if np.ndim(x) == 1 else xp.np.sum(x, axis=tuple(range(1, np.ndim(x))))


# --- Entries -------------------------------------------------------------------------------------


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


@with_vjps(lambda xp, g, ans, picked, index, shape: pick(xp, g, index), None, None)
def put_back(xp: Namespace, picked: Array, index: Any, shape: tuple[int, ...]) -> Array:
    """Zeros of the given shape with `picked` added at `index`: the transpose of `pick`."""
    if not isinstance(index, tuple) or all(isinstance(i, int | np.integer | slice) for i in index):
        out = np.zeros(shape, np.result_type(picked))
        out[index] = picked
        return out
    if np.iscomplexobj(picked):
        return put_back(xp, picked.real, index, shape) + 1j * put_back(xp, picked.imag, index, shape)
    draws, size = shape[0], int(np.prod(shape[1:]))
    place = np.arange(size).reshape(shape[1:])[index[1:]]  # each draw's entries go to places of its own
    places = np.add.outer(np.arange(draws) * size, place.ravel())
    added = np.bincount(places.ravel(), np.ravel(picked), draws * size)
    return added.astype(float, copy=False).reshape(shape)  # of no entries NumPy makes ints
