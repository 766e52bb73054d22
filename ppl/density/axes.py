"""The axes of a parameter, along which its entries may be exchanged, by its unconstrained elements."""

from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY
from ppl.kernel.advi.target import Axis
from ppl.kernel.emit.runtime import ParameterPlace
from ppl.stdlib.constraints.record import Constraint, Shape
from ppl.stdlib.constraints.sum_to_zero import expand


def axes_of(u: NDArray[np.intp], place: ParameterPlace, constraint: Constraint, size: int) -> Iterator[Axis]:
    """Those so long of a parameter whose elements are `u`; where a value has other elements than its entries,
    as a covariance has, array axes alone.
    """
    fewer = fewer_elements(place, constraint)
    core = () if fewer is None else place.core
    sizes = (*place.dims, *reversed(core))  # the elements of a matrix stand column by column
    if size not in sizes or not u.size:
        return
    widths = np.subtract(sizes, (*(0 for _ in place.dims), *reversed(fewer or core)))
    for axis, width in enumerate(widths):
        if sizes[axis] == size:
            basis = np.eye(size) if size == width else expand(NUMPY, np.eye(width)).T
            yield Axis(np.moveaxis(u.reshape(*widths, -1), axis, 0).reshape(width, -1), basis)


def fewer_elements(place: ParameterPlace, constraint: Constraint) -> Shape | None:
    """By how much the axes of a value are longer than those of its elements; None where it has others."""
    count, axes = prod(place.shape[len(place.dims) :]), len(place.core)
    for fewer in ((0,) * axes, constraint.fewer or (1,) * axes):
        if count == prod(np.subtract(place.core, fewer)):
            return fewer
    return None
