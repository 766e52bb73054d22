"""What declarations ask of data and of parameter values: the callbacks of emitted code."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from ppl.backend.runtime import Place, checked_sizes
from ppl.data import Inputs, Wanted, check_value, read_value
from ppl.errors import Rejection
from ppl.ir import nodes as ir
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD


def leaves(declared: Sequence[ir.Declared]) -> Iterator[ir.Declared]:
    """Plain variables, and the items of tuples under their dotted names."""
    for d in declared:
        if d.items:
            yield from leaves(d.items)
        else:
            yield d


class DataReader:
    """Reads each variable of the data block, in order, as emitted code declares it."""

    def __init__(self, declared: Sequence[ir.Declared], inputs: Inputs):
        self.by_name = {d.name: d for d in leaves(declared)}
        self.inputs = inputs

    def read(self, name: str, dims: Sequence[int], sizes: Sequence[int], *args: Any) -> Any:
        d = self.by_name[name]
        wanted = Wanted(d.name, d.type, tuple(map(int, dims)), tuple(map(int, sizes)), d.span)
        value = read_value(self.inputs, wanted, self.by_name)
        check_value(value, wanted, CONSTRAINT_BY_KEYWORD[d.constraint], args, self.inputs.label)
        return value


def lay_out(layout: Callable[..., None], d: SimpleNamespace) -> dict[str, Place]:
    """Where each parameter lies in `u`, by name, in order of declaration."""
    places: dict[str, Place] = {}
    start = 0

    def place(name: str, constraint: str, dims: Sequence[int], sizes: Sequence[int]) -> None:
        nonlocal start
        core = tuple(map(int, sizes))
        checked_sizes((*dims, *core))
        kind = CONSTRAINT_BY_KEYWORD[constraint]
        if wrong := kind.bad_shape(core):
            raise Rejection(f"The {constraint} `{name}` has sizes [{', '.join(map(str, core))}]: {wrong}")
        shape = (*map(int, dims), *kind.free_shape(core))
        stop = start + math.prod(shape)
        places[name] = Place(len(places), start, stop, shape, tuple(map(int, dims)), core, constraint)
        start = stop

    layout(d, place)
    return places


def leaf_values(
    parameters: Sequence[ir.Declared], places: Mapping[str, Place], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Given values of parameters, checked against their shapes."""
    inputs = Inputs(values, "the given values")
    out = {}
    for d in leaves(parameters):
        place = places[d.name]
        out[d.name] = read_value(inputs, Wanted(d.name, d.type, place.dims, place.core, d.span))
    return out
