"""Data as arguments of compiled code: which numbers are passed to it, and which are part of it."""

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import compress
from typing import Any

import jax
import numpy as np

from ppl.jax_backend.not_traceable import NotTraceable
from ppl.kernel.density.layout import Data
from ppl.kernel.emit.runtime import ParameterPlace
from ppl.records import dataclass, field

BAKED = ("", "biu", "biuf")
"""Kinds of arrays that become part of the code, as few as will do: none, ints and truth values, all."""

MOST_BAKED = 100_000
"""How many numbers may become part of it."""


@dataclass(frozen=True)
class Static:
    """A value that is part of the code; `key` is what tells it from others."""

    value: Any = field(compare=False)
    key: Any

    @classmethod
    def of(cls, value: Any) -> "Static":
        if isinstance(value, np.ndarray):
            return cls(value, (value.shape, value.dtype.str, value.tobytes()))
        return cls(value, (type(value), repr(value)))


@dataclass(frozen=True)
class DataShape:
    """All of the data but the numbers in its arrays: data of equal shape share one compilation.

    `structure` is JAX's tree of the variables; `fixed` has one entry a leaf, None for an argument.
    """

    structure: Any
    fixed: tuple[Static | None, ...]
    places: tuple[tuple[str, ParameterPlace], ...]

    @cached_property
    def hash(self) -> int:
        """Computed once: every call of compiled code asks for it."""
        return hash((self.structure, self.fixed, self.places))

    def __hash__(self) -> int:
        return self.hash

    def with_arguments(self, arguments: list[Any]) -> Data:
        """The data as emitted code reads them."""
        remaining = iter(arguments)
        leaves = [next(remaining) if fixed is None else fixed.value for fixed in self.fixed]
        named = jax.tree_util.tree_unflatten(self.structure, leaves)
        return Data(**named, places=dict(self.places))


def split(d: Data, names: Collection[str], baked: str) -> tuple[DataShape, list[Any]]:
    """The data of these names as shape and arguments; arrays of the kinds `baked` belong to the shape.

    Raises:
        NotTraceable: they are too large for that.
    """
    named = {name: value for name, value in vars(d).items() if name in names}
    leaves, structure = jax.tree_util.tree_flatten(named)
    passed = [is_argument(leaf, baked) for leaf in leaves]
    return shape_of(d, structure, leaves, passed), [*map(np.asarray, compress(leaves, passed))]


def shape_of(d: Data, structure: Any, leaves: Sequence[Any], passed: Sequence[bool]) -> DataShape:
    """The shape of data of which some leaves are passed; NotTraceable where the others are too large."""
    inside = sum(np.size(leaf) for leaf, p in zip(leaves, passed, strict=True) if not p)
    if inside > MOST_BAKED:
        raise NotTraceable(f"control flow depends on data: {inside} numbers would be compiled into the code")
    fixed = tuple(None if p else Static.of(leaf) for leaf, p in zip(leaves, passed, strict=True))
    return DataShape(structure, fixed, tuple(d.places.items()))


def is_argument(leaf: Any, baked: str) -> bool:
    """Whether the value is passed to compiled code, where arrays of the kinds `baked` are not."""
    kind = np.asarray(leaf).dtype.kind
    return kind not in baked and (kind in "fc" or isinstance(leaf, np.ndarray)) and kind in "biufc"
