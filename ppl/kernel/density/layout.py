"""The values of the data, and where each parameter lies in the unconstrained vector `u`, with its names."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.draws.names import Sized, dotted, indices, part_columns
from ppl.kernel.emit.runtime import ParameterPlace, block, checked_sizes
from ppl.kernel.emit.text import python_name
from ppl.records import dataclass, replace
from ppl.stdlib.constraints.complex_numbers import COMPLEX
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD, ELEMENTWISE

Rows = NDArray[np.intp]


class Data(SimpleNamespace):
    """The variables of the data block, of transformed data, and what was computed from them, as attributes.

    `own_places` says where each parameter lies in `u`, `places` where what the log joint reads as a whole:
    parameters, and packs of scalars in their stead. `rows` (n,) are the rows at hand, in a minibatch;
    `seed__` is that of random numbers in transformed data; all points have the same values of parameters that
    are `shared__`.
    """

    places: Mapping[str, ParameterPlace]
    own_places: Mapping[str, ParameterPlace]
    rows: Rows
    seed__: int
    shared__: tuple[str, ...] = ()

    def blocks(self, u: Floats) -> list[Floats]:
        """The elements of `u` (dim,), or (n, dim), by parameter, one array each, in the order of `places`.

        Those of parameters that are shared have no axis of the points.
        """
        return [
            block(u[0] if u.ndim > 1 and name in self.shared__ else u, place)
            for name, place in self.places.items()
        ]

    def of(self, name: str) -> Any:
        """The value of a variable of the program."""
        return getattr(self, python_name(name))

    def with_values(self, values: Mapping[str, Any], **others: Any) -> "Data":
        """The same with other values of some variables of the program, and other attributes."""
        named = {python_name(name): value for name, value in values.items()}
        return Data(**{**vars(self), **named, **others})


Positions = NDArray[np.intp]


@dataclass(frozen=True)
class ParameterLayout:
    """A parameter with known sizes: array axes, shape of one value, or the items of a tuple."""

    name: str
    constraint: str
    dims: tuple[int, ...]
    core: tuple[int, ...]
    items: tuple["ParameterLayout", ...] = ()

    @property
    def free(self) -> tuple[int, ...]:
        """The shape of one value's unconstrained elements."""
        return CONSTRAINT_BY_KEYWORD[self.constraint].free_shape(self.core)

    @property
    def width(self) -> int:
        """How many elements of `u` it takes."""
        each = sum(item.width for item in self.items) if self.items else math.prod(self.free)
        return math.prod(self.dims) * each


def parameters_of(layout: Callable[..., None], d: Data) -> list[ParameterLayout]:
    """The parameters as the emitted function `layout` declares them, given the data."""
    parameters: list[ParameterLayout] = []
    layout(d, lambda *declared: parameters.append(parameter_layout(*declared)))
    return parameters


def parameter_layout(
    name: str, constraint: str, dims: Sequence[int], sizes: Sequence[int], *items: Any
) -> ParameterLayout:
    """The record from nested plain tuples.

    Raises:
        ValueError: a size is negative, or no value of this constraint has such a shape.
    """
    core = tuple(map(int, sizes))
    checked_sizes((*dims, *core), name)
    if wrong := CONSTRAINT_BY_KEYWORD[constraint].bad_shape(core):
        raise ValueError(f"The {constraint} `{name}` has sizes [{', '.join(map(str, core))}]: {wrong}")
    own = tuple(parameter_layout(*item) for item in items)
    return ParameterLayout(name, constraint, tuple(map(int, dims)), core, own)


def check_sizes(v: Sized) -> None:
    """ValueError where a size of a variable, or of an item of it, is negative."""
    checked_sizes(v.shape, v.name)
    for item in v.items:
        check_sizes(item)


def parameter_places(parameters: Iterable[ParameterLayout]) -> dict[str, ParameterPlace]:
    """Where each parameter lies in `u`, by name, in order of declaration."""
    places: dict[str, ParameterPlace] = {}
    start = 0
    for parameter in parameters:
        for leaf, dims, every in positions(parameter, np.array(start), ()):
            first = int(every[0]) if every.size else start
            scattered = None if dims == leaf.dims else tuple(map(int, every))
            places[leaf.name] = ParameterPlace(
                len(places), first, (*dims, *leaf.free), dims, leaf.core, scattered
            )
        start += parameter.width
    return places


def packed_places(
    places: Mapping[str, ParameterPlace], packs: Iterable[tuple[str, Sequence[str]]]
) -> dict[str, ParameterPlace]:
    """The places with each pack, a name and its scalar parameters, in place of the first of these."""
    pack_of = {d: (name, members) for name, members in packs for d in members}
    out: dict[str, ParameterPlace] = {}
    for own, place in places.items():
        name, members = pack_of.get(own, (own, ()))
        if members and name not in out:
            at, size = tuple(places[d].start for d in members), (len(members),)
            together = at == tuple(range(at[0], at[0] + len(at)))
            place = ParameterPlace(0, at[0], size, size, (), None if together else at)
        out.setdefault(name, replace(place, order=len(out)))
    return out


def positions(
    p: ParameterLayout, starts: Positions, outer: tuple[int, ...]
) -> Iterator[tuple[ParameterLayout, tuple[int, ...], Positions]]:
    """Each plain variable in `p`, its array axes, its positions in `u`; `starts` has the shape `outer`.

    Stan lays an array of tuples out tuple by tuple, its first index fastest, and other arrays row by row.
    """
    dims = (*outer, *p.dims)
    if not p.items:
        yield p, dims, np.add.outer(starts, np.arange(p.width)).ravel()
        return
    width = sum(item.width for item in p.items)
    steps = width * np.arange(math.prod(p.dims)).reshape(p.dims, order="F")
    starts = np.add.outer(starts, steps)
    for item in p.items:
        yield from positions(item, starts, dims)
        starts = starts + item.width


def free_names(p: ParameterLayout, prefix: str) -> Iterator[str]:
    """The names of the elements of `u` that `p` takes, in their order."""
    if p.items:
        for index in indices(p.dims):
            for k, item in enumerate(p.items, 1):
                yield from free_names(item, f"{prefix}{dotted(index)}:{k}")
        return
    pairs = p.constraint == COMPLEX.keyword
    shape = p.core if pairs or p.constraint in ELEMENTWISE else p.free
    for array in np.ndindex(*p.dims):
        for own in indices(shape):
            yield from part_columns(f"{prefix}{dotted((*array, *own))}", pairs)
