"""The runtime of emitted code beside the standard library: indexing, assignment, sums, checks.

Every function takes the namespace first; library.py binds it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Array, Namespace
from ppl.errors import DataError, Rejection, Stopped
from ppl.floats import Floats, Indices
from ppl.kernel.emit import entries
from ppl.kernel.emit.entries import length, require_sizes, same_sizes, with_entries
from ppl.memory import require_room
from ppl.printable import printable
from ppl.records import dataclass
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD, CONSTRAINTS
from ppl.stdlib.functions.complex_parts import made_complex
from ppl.stdlib.over_draws import spaced, sum_from

UNSET_INT = -(2**31)
"""Stan's value of an int that was never set."""
UNSET_COMPLEX = complex(math.nan, math.nan)
"""Stan's value of a complex number that was never set."""


Side = Callable[..., Any]
"""A function of the variables that a branch, or the step of a loop, reads."""


@dataclass(frozen=True)
class ParameterPlace:
    """Where a parameter lies in `u`: u[at] reshaped; `core` is the constrained shape of one value.

    It begins at `start`; only of an item in an array of tuples the elements lie at `positions`.
    Under a tape `u` is a list of blocks, already cut, and `order` says which.
    """

    order: int
    start: int
    shape: tuple[int, ...]
    dims: tuple[int, ...]
    core: tuple[int, ...]
    positions: tuple[int, ...] | None = None

    @cached_property
    def at(self) -> int | slice | NDArray[np.intp]:
        if self.positions is not None:
            return np.array(self.positions, dtype=np.intp).reshape(self.shape)
        return slice(self.start, self.start + math.prod(self.shape)) if self.shape else self.start


# --- Parameters ----------------------------------------------------------------------------------


def block(u: Any, place: ParameterPlace) -> Array:
    """A parameter's block of `u`, or of each of its rows; a list holds blocks that are cut already."""
    if isinstance(u, list):
        return u[place.order]
    is_flat = len(place.shape) > 1 and isinstance(place.at, slice)
    if u.ndim == 1:
        return u[place.at].reshape(place.shape) if is_flat else u[place.at]
    return u[:, place.at].reshape((len(u), *place.shape)) if is_flat else u[:, place.at]


def joined(places: Sequence[ParameterPlace], blocks: Iterable[Array], draws: tuple[int, ...] = ()) -> Floats:
    """The `u` that has these blocks at these places; with `draws` one for each entry of a leading axis."""
    u = np.zeros((*draws, sum(math.prod(place.shape) for place in places)))
    for place, part in zip(places, blocks, strict=True):
        is_flat = len(place.shape) > 1 and isinstance(place.at, slice)
        u[..., place.at] = np.reshape(part, (*draws, -1)) if is_flat else part
    return u


def take(xp: Namespace, u: Any, place: ParameterPlace) -> Array:
    """An unconstrained parameter."""
    return CONSTRAINT_BY_KEYWORD["identity"].constrain(xp, block(u, place), place.core)[0]


def constrain(
    xp: Namespace, constraint: Constraint, u: Any, place: ParameterPlace, *args: Array
) -> tuple[Array, Array]:
    """A parameter and its log-Jacobian; of many draws `args` have their axis too."""
    own = block(u, place)
    outer = np.ndim(own) - len(place.shape)
    if outer:
        rank = outer + len(place.dims) + len(place.core)
        args = tuple([spaced(xp, a, outer, rank - np.ndim(a)) for a in args])
    x, log_jacobian = constraint.constrain(xp, own, place.core, *args)
    return x, total(xp, log_jacobian, outer) if np.ndim(log_jacobian) > outer else log_jacobian


def free(constraint: Constraint, name: str, value: Array, place: ParameterPlace, *args: Array) -> Array:
    """The block of `u` that a constrained value comes from; DataError when it breaks its constraint."""
    complaint = constraint.check(np.asarray(value), place.core, *args)
    if complaint:
        raise DataError(complained(name, complaint), name)
    u = constraint.unconstrain(value, place.core, *args)
    return np.asarray(u, dtype=float)


# --- Values --------------------------------------------------------------------------------------


def real(xp: Namespace, x: Array) -> Array:
    return x * 1.0


def complex_(xp: Namespace, x: float, y: float) -> complex:
    return complex(x, y)


def as_complex(xp: Namespace, x: Array) -> Array:
    return made_complex(xp, x)


def array(xp: Namespace, *items: Array) -> Array:
    return xp.np.array(list(items))


def stack(xp: Namespace, axis: int, *items: Array) -> Array:
    """An array, row vector or matrix literal at every place along so many axes."""
    return xp.np.stack(items, axis=axis)


def int_array(xp: Namespace, *items: Array) -> Array:
    return np.array(items, dtype=int)


def empty(xp: Namespace, axes: int, dtype: str) -> Array:
    return np.zeros((0,) * axes, dtype)


def unset(xp: Namespace, *sizes: int) -> Array:
    return np.full(checked_sizes(sizes), np.nan) if sizes else np.nan


def unset_int(xp: Namespace, *sizes: int) -> Array:
    return np.full(checked_sizes(sizes), UNSET_INT) if sizes else UNSET_INT


def unset_complex(xp: Namespace, *sizes: int) -> Array:
    return np.full(checked_sizes(sizes), UNSET_COMPLEX) if sizes else UNSET_COMPLEX


def checked_sizes(sizes: Sequence[int], name: str = "") -> Sequence[int]:
    negative = next((s for s in sizes if s < 0), None)
    if negative is not None:
        of = f" of `{name}`" if name else ""
        raise ValueError(f"A size{of} is {negative}, but sizes must be at least 0.")
    require_room(sizes, f"`{name}`" if name else "a variable")
    return sizes


def sized(xp: Namespace, x: Array, *sizes: int) -> Array:
    """`x`, which must have the declared sizes."""
    if tuple(x.shape) != sizes:
        raise ValueError(
            f"The declared size is {sizes_text(sizes)}, but the value has {sizes_text(x.shape)}."
        )
    return x


def same_size(xp: Namespace, old: Array | None, x: Array) -> Array:
    """`x`, which must have the size of the variable it is assigned to, if that has one."""
    return x if old is None else sized(xp, x, *old.shape)


def alike(xp: Namespace, x: Array, other: Array, axes: int, inner: tuple[int, int]) -> Array:
    """`other`, whose last axes must have the sizes of those of x, before `inner` axes of each."""
    one, two = (
        np.shape(each)[np.ndim(each) - axes - after : np.ndim(each) - after]
        for each, after in zip((x, other), inner, strict=True)
    )
    require_sizes(one, two)
    return other


def sizes_text(sizes: Sequence[int]) -> str:
    return f"[{', '.join(map(str, sizes))}]"


def own(xp: Namespace, x: Any) -> Any:
    """A copy where a later change in place could show elsewhere."""
    if isinstance(x, list | tuple):
        return type(x)(own(xp, item) for item in x)
    return xp.own(x) if np.ndim(x) else x


def put(xp: Namespace, x: Any, where: Any, value: Any) -> Any:
    if isinstance(x, list):
        return with_entries(xp, x, where if isinstance(where, tuple) else (where,), value)
    return xp.put(x, where, value)


def put_sized(xp: Namespace, x: Any, where: Any, value: Any, axes: int) -> Any:
    """The same of a value; its last axes must have the sizes of the entries that are set."""
    if not isinstance(x, list):
        require_sizes(np.shape(value)[-axes:], picked_shape(np.shape(x), where)[-axes:])
    return put(xp, x, where, value)


def picked_shape(shape: tuple[int, ...], where: Any) -> tuple[int, ...]:
    """The shape of x[where] of an x of some shape; indices may be on a trace."""
    items = where if isinstance(where, tuple) else (where,)
    at = tuple(i if isinstance(i, slice) else np.zeros(np.shape(i), int)[()] for i in items)
    sizes = [n if isinstance(i, slice) else 1 for i, n in zip(at, shape, strict=False)]
    sizes += shape[len(at) :]
    return np.ndarray(sizes, bool, b"0", 0, (0,) * len(sizes))[at].shape


def put_item(xp: Namespace, x: tuple[Any, ...], where: int, value: Any) -> tuple[Any, ...]:
    return (*x[:where], same_sizes(xp, x[where], value), *x[where + 1 :])


# --- Sums ----------------------------------------------------------------------------------------


def terms(xp: Namespace) -> list[Array]:
    """The terms of the target, summed at the end."""
    return []


def sum_terms(xp: Namespace, collected: Sequence[Array]) -> Array:
    return xp.add_all(*collected) if collected else 0.0


def target_so_far(xp: Namespace, collected: list[Array]) -> Array:
    """The sum of the terms, which takes their place: it is not added up anew when it is asked for again.

    A list that explains its terms (optimise/watch.py) keeps them.
    """
    total = sum_terms(xp, collected)
    if type(collected) is list:
        collected[:] = [total]
    return total


def total(xp: Namespace, x: Array, outer: int = 0) -> Array:
    """The sum over all axes but the first ones."""
    return sum_from(xp, x, outer) if outer else xp.np.sum(x)


def zeros_like(xp: Namespace, x: Array) -> Array:
    """The value of densities that drop all their terms."""
    return np.zeros(x.shape)


# --- Indexing ------------------------------------------------------------------------------------


def axis(xp: Namespace, x: Array, k: int) -> int:
    return length(x, k) if isinstance(x, list) else int(x.shape[k])


def span(xp: Namespace, lower: int, upper: int, size: int) -> slice:
    """`lower:upper` as Stan means it: both included, empty when they cross."""
    if upper < lower:
        return slice(0, 0)
    if lower < 1 or upper > size:
        raise IndexError(f"The range {lower}:{upper} lies outside 1:{size}.")
    return slice(int(lower) - 1, int(upper))


def widen(xp: Namespace, x: Array, batch: int, axes: int) -> Array:
    """Axes of length one after those of the batch, so that entries of different rank line up."""
    return xp.np.reshape(x, tuple(x.shape[:batch]) + (1,) * axes + tuple(x.shape[batch:]))


def each(xp: Namespace, f: Callable[..., Array], lifted: Sequence[bool], *args: Any) -> Array:
    """f once for each entry of the batch."""
    return xp.np.array(results(f, lifted, args))


def join(xp: Namespace, f: Callable[..., Array], lifted: Sequence[bool], *args: Any) -> Array:
    """The vectors that f gives for the entries of the batch, one after the other."""
    return xp.np.concatenate(results(f, lifted, args))


def results(f: Callable[..., Array], lifted: Sequence[bool], args: Sequence[Any]) -> list[Array]:
    """The value of f for each entry; arguments that are not lifted are shared by all."""
    count = next(len(a) for a, m in zip(args, lifted, strict=True) if m)
    return [f(*(a[i] if m else a for a, m in zip(args, lifted, strict=True))) for i in range(count)]


def branch(xp: Namespace, test: Any, then: Side, otherwise: Side, *args: Any) -> Any:
    """One side of a branch; only a trace must take both."""
    return (then if test else otherwise)(*args)


def loop(xp: Namespace, goes_on: Side, step: Side, state: tuple[Any, ...], fixed: tuple[Any, ...]) -> Any:
    """The state when the loop ends."""
    while goes_on(*state, *fixed):
        state = step(*state, *fixed)
    return state


def and_then(xp: Namespace, left: Any, right: Callable[[], Any]) -> Any:
    """`&&`: the right side is evaluated only if needed."""
    return left and right()


def or_then(xp: Namespace, left: Any, right: Callable[[], Any]) -> Any:
    """`||`, likewise."""
    return left or right()


def readable(xp: Namespace, fixed: Sequence[Array]) -> Sequence[Array]:
    """The values that the steps of a scan read, for an index that only a trace does not know."""
    return fixed


# --- Words to the user ---------------------------------------------------------------------------


def message_text(xp: Namespace, args: Sequence[Any]) -> str:
    return "".join(printable(a) if isinstance(a, str) else stan_text(xp, a) for a in args)


def stan_text(xp: Namespace, x: Any) -> str:
    """A value as Stan prints it: arrays [1,2], nested by rows, tuples (1,2)."""
    if isinstance(x, tuple):
        return f"({','.join(stan_text(xp, item) for item in x)})"
    x = x if isinstance(x, list) else xp.plain(x)
    if isinstance(x, list) or np.ndim(x):
        return f"[{','.join(stan_text(xp, item) for item in x)}]"
    if isinstance(x, complex | np.complexfloating):
        return f"({x.real:.6g},{x.imag:.6g})"
    return f"{x:.6g}" if isinstance(x, float | np.floating) else str(x)


def print_(xp: Namespace, *args: Any) -> None:
    print(message_text(xp, args))


def reject(xp: Namespace, *args: Any) -> None:
    raise Rejection(message_text(xp, args))


def fatal_error(xp: Namespace, *args: Any) -> None:
    raise Stopped(f"The program stopped: {message_text(xp, args)}")


def profile(xp: Namespace, name: str) -> AbstractContextManager[None]:
    """Do nothing; ppl/cmdstan/profile.py replaces it with a clock."""
    return nullcontext()


def check(xp: Namespace, constraint: str, name: str, x: Any, shape: tuple[int, ...], *args: Any) -> None:
    """Raise Rejection when a transformed quantity breaks its declared constraint."""
    plain = [xp.plain(a) for a in args]
    complaint = CONSTRAINT_BY_KEYWORD[constraint].check(values(xp, x), shape, *plain)
    if complaint:
        raise Rejection(complained(name, complaint))


def complained(name: str, complaint: str) -> str:
    return f"`{name}`{'' if complaint.startswith('[') else ' '}{complaint}."


def values(xp: Namespace, x: Any) -> Array:
    """The plain numbers of an array, or of nested lists of arrays."""
    return np.array([values(xp, item) for item in x]) if isinstance(x, list) else np.asarray(xp.plain(x))


# --- Constraints of many draws -------------------------------------------------------------------


class DrawsRejected(Exception):
    """The program rejects some draws, at the positions `draws`; the others can go on without them."""

    def __init__(self, draws: Indices, complaint: str):
        super().__init__(complaint)
        self.draws = draws


def check_each(xp: Namespace, constraint: str, name: str, x: Array, shape: Any, *args: Array) -> None:
    """Raise DrawsRejected when a transformed quantity of some draws breaks its declared constraint."""
    x, bounds = xp.plain(x), [xp.plain(a) for a in args]
    wide = [spaced(NUMPY, a, 1, np.ndim(x) - np.ndim(a)) for a in bounds]
    if CONSTRAINT_BY_KEYWORD[constraint].check(x, shape, *wide) is None:
        return
    complaints = []
    for k in range(len(x)):
        try:
            check(NUMPY, constraint, name, x[k], shape, *(a[k] for a in bounds))
        except Rejection as complaint:
            complaints.append((k, complaint))
    if complaints:
        raise DrawsRejected(np.array([k for k, _ in complaints]), str(complaints[0][1]))


# --- The table -----------------------------------------------------------------------------------


RUNTIME: tuple[Callable[..., Any], ...] = (
    *(take, real, as_complex, complex_, array, int_array, empty, stack, unset, unset_int, unset_complex, own),
    *(put, put_sized, put_item, entries.tuples, entries.items, entries.entries, entries.same_sizes),
    *(terms, sum_terms, target_so_far, total, zeros_like, axis, span, widen),
    *(entries.cross_index, entries.index_of, entries.pick, each, join, branch, loop, and_then, or_then),
    *(readable, sized, same_size, alike, print_, reject, fatal_error, profile, check, check_each),
)
"""The functions that emitted code calls beside those of the language, by name."""
OWN_NAMES = frozenset(
    {
        *(f.__name__.rstrip("_") for f in RUNTIME),
        *(f"{verb}_{c.keyword}" for c in CONSTRAINTS for verb in ("constrain", "free")),
        *("scan", "solve"),
    }
)
"""Attributes of `lib` that no function of a program's library may hide."""
