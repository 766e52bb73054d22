"""The data of a posterior, as emitted code reads them."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.kernel.emit.runtime import Place, block
from ppl.kernel.emit.text import python_name

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Data(SimpleNamespace):
    """The variables of the data block, of transformed data, and what was computed from them, as attributes.

    `places` says where each parameter lies in `u`; `rows` (n,) which rows are at hand, in a minibatch;
    `seed__` is that of random numbers in transformed data; all points have the same values of parameters that
    are `shared__`.
    """

    places: Mapping[str, Place]
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
