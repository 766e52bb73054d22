"""Arguments of functions of the program: what of them is traced, numbers that have derivatives apart."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ppl.arrays import Array
from ppl.jax_backend.namespace import is_float, is_traced

Shared = tuple[Sequence[Array], Sequence[Array]]
"""The arguments of a function of the program beside its point: floats and others."""


def as_array(x: Any) -> Array:
    """Reals and ints of the widest kind, which those of both sides are."""
    array = jnp.asarray(x)
    return array if jnp.iscomplexobj(array) else array.astype(float if is_float(array) else int)


class Arguments(NamedTuple):
    """The arguments of a function of the program: those traced, apart; the others are in the code."""

    structure: Any
    leaves: tuple[Any, ...]

    @classmethod
    def of(cls, args: Any) -> "Arguments":
        leaves, structure = jax.tree_util.tree_flatten(args)
        return cls(structure, tuple(leaves))

    @property
    def floats(self) -> list[Array]:
        return [x for x in self.leaves if is_traced(x) and is_float(x)]

    @property
    def others(self) -> list[Array]:
        return [x for x in self.leaves if is_traced(x) and not is_float(x)]

    def filled(self, floats: Sequence[Array], others: Sequence[Array]) -> Any:
        """The arguments with other traced ones."""
        traced = {True: iter(floats), False: iter(others)}
        leaves = [next(traced[is_float(x)]) if is_traced(x) else x for x in self.leaves]
        return jax.tree_util.tree_unflatten(self.structure, leaves)
