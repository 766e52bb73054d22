"""The axes of parameters, along which entries may be exchanged, by their unconstrained elements."""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from ppl.arrays import NUMPY
from ppl.floats import Indices
from ppl.kernel.advi.target import Axis
from ppl.kernel.emit.runtime import ParameterPlace
from ppl.stdlib.constraints.bounds import LOWER_UPPER
from ppl.stdlib.constraints.record import Constraint, Shape
from ppl.stdlib.constraints.sum_to_zero import expand

HALVES = np.array([[1.0], [-1.0]]) / np.sqrt(2)
"""The basis of a share and one less that, as two labels have them."""


def axes(u: Indices, declared: Sequence[tuple[ParameterPlace, Constraint]], most: int) -> Iterator[Axis]:
    """Those of two entries or more, at most so many: of each parameter, and of parameters of one kind.

    Unconstrained elements are those of `u`. A number between two bounds has two entries: shares of labels.
    """
    alike = dict[tuple[str, Shape, Shape], list[Indices]]()
    for place, constraint in declared:
        own = np.asarray(u[place.at])
        if own.size:
            yield from axes_within(own, place, constraint, most)
            alike.setdefault((constraint.keyword, place.dims, place.core), []).append(own.ravel())
            if constraint is LOWER_UPPER:
                yield Axis(own.reshape(1, -1), HALVES)
    for each in alike.values():
        if 1 < len(each) <= most:
            yield Axis(np.array(each), np.eye(len(each)))


def axes_within(u: Indices, place: ParameterPlace, constraint: Constraint, most: int) -> Iterator[Axis]:
    """Those of a parameter whose elements are `u`; where a value has other elements than its entries, as a
    covariance has, array axes alone.
    """
    fewer = fewer_elements(place, constraint)
    core = () if fewer is None else place.core
    sizes = (*place.dims, *reversed(core))  # the elements of a matrix stand column by column
    widths = np.subtract(sizes, (*(0 for _ in place.dims), *reversed(fewer or core)))
    for axis, (size, width) in enumerate(zip(sizes, widths, strict=True)):
        if 1 < size <= most:
            basis = np.eye(size) if size == width else expand(NUMPY, np.eye(width)).T
            yield Axis(np.moveaxis(u.reshape(*widths, -1), axis, 0).reshape(width, -1), basis)


def fewer_elements(place: ParameterPlace, constraint: Constraint) -> Shape | None:
    """By how much the axes of a value are longer than those of its elements; None where it has others."""
    count, axes = prod(place.shape[len(place.dims) :]), len(place.core)
    for fewer in ((0,) * axes, constraint.fewer or (1,) * axes):
        if count == prod(np.subtract(place.core, fewer)):
            return fewer
    return None
