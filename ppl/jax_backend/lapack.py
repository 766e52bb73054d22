"""LAPACK under JAX without its threads.

jaxlib spreads a batch of matrices over the threads of XLA and waits for them on one of these threads: where
as many batches wait at once as there are threads, none is left to do the work, and the program hangs.  A
batch that costs little is computed where it is; larger ones go through LAPACK in parts that cost little, one
after the other.  jaxlib's bound is 200,000 operations (lapack_kernels.cc).
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

from ppl.jax_backend.jit import largest_part

AnyFunction = Callable[..., Any]

MOST_OPERATIONS = 100_000
"""How many operations a part may cost."""


def in_turn(f: AnyFunction, products: int = 10) -> AnyFunction:
    """f of matrices, (..., n, m) each, which itself takes leading axes; `products` is what it costs."""

    def call(*matrices: Any, **settings: Any) -> Any:
        one = _in_batches(partial(f, **settings), products)
        lead = jnp.broadcast_shapes(*(jnp.shape(m)[:-2] for m in matrices))
        aligned = [jnp.broadcast_to(m, (*lead, *jnp.shape(m)[-2:])) for m in matrices]
        if not lead or products * _cost(aligned) <= MOST_OPERATIONS:
            return one(*aligned)
        rows = [jnp.reshape(m, (-1, *jnp.shape(m)[-2:])) for m in aligned]
        result = jax.vmap(one)(*rows)
        return jax.tree_util.tree_map(lambda x: jnp.reshape(x, (*lead, *jnp.shape(x)[1:])), result)

    return call


def _in_batches(f: AnyFunction, products: int) -> AnyFunction:
    """f, of which a batch is cut into parts of little cost when it is mapped over."""
    one: Any = custom_vmap(f)

    def mapped(size: int, batched: Sequence[bool], *args: Any) -> tuple[Any, Any]:
        if not batched[0]:  # one matrix for all right sides, which are then its columns
            result = jax.vmap(f, [0 if b else None for b in batched])(*args)
            return result, jax.tree_util.tree_map(lambda _: True, result)
        rows = [a if b else jnp.broadcast_to(a, (size, *a.shape)) for a, b in zip(args, batched, strict=True)]
        most = max(1, MOST_OPERATIONS * size // max(1, products * _cost(rows)))
        part = largest_part(size, most)

        def in_parts(*rows: Any) -> Any:
            return jax.lax.map(lambda row: one(*row), rows, batch_size=part)

        result = one(*rows) if part == size else jax.lax.platform_dependent(*rows, cpu=in_parts, default=one)
        return result, jax.tree_util.tree_map(lambda _: True, result)

    one.def_vmap(mapped)
    return one


def _cost(matrices: Sequence[Any]) -> int:
    """About how many operations: those of a product of each."""
    shapes: list[tuple[int, ...]] = [jnp.shape(m) for m in matrices]
    return max(math.prod(shape) * shape[-2] for shape in shapes)
