"""Integrals of functions of the program in compiled code: the rule of stdlib.solvers.quadrature.

The nodes of a level are gone through some at a time, so that all levels are one piece of code.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ppl.jax_backend.arguments import Shared
from ppl.stdlib.solvers.quadrature import COARSEST, FINEST, RULE_CUTOFF, placed

Traced = Any
Function = Callable[..., Traced]
"""f(shared, x, distance to the nearer end), a number."""

NODES_A_ROUND = 25
"""Nodes that f is asked for at once: those of the coarsest level."""


class Level(NamedTuple):
    """The distance h of nodes, the integral by it and by the level before, and whether they agree."""

    h: Traced
    value: Traced
    before: Traced
    done: Traced


class Nodes(NamedTuple):
    x: Traced
    complement: Traced
    weights: Traced


def integral(f: Function, low: Traced, high: Traced, tolerance: float, shared: Shared) -> Traced:
    """The integral of f, nan where two levels never agreed; differentiated in all but the tolerance."""

    def forward(low: Traced, high: Traced, shared: Shared) -> Any:
        value, h = _refined(f, low, high, tolerance, shared)
        return value, (low, high, h, shared)

    def backward(saved: Any, g: Traced) -> Sequence[Any]:
        low, high, h, shared = saved
        to_low, to_high = (sign * g * _at_end(f, x, shared) for sign, x in ((-1.0, low), (1.0, high)))

        def add(sums: Sequence[Traced], nodes: Nodes) -> Any:
            pull = jax.vjp(lambda floats: _values(f, nodes, (floats, shared[1])), shared[0])[1]
            return jax.tree_util.tree_map(jnp.add, sums, pull(g * nodes.weights)[0])

        zeros = jax.tree_util.tree_map(jnp.zeros_like, shared[0])
        return to_low, to_high, (_over_nodes(f, low, high, h, shared, add, zeros), None)

    function: Any = jax.custom_vjp(lambda *args: forward(*args)[0])
    function.defvjp(forward, backward)
    return function(low, high, shared)


def _refined(
    f: Function, low: Traced, high: Traced, tolerance: float, shared: Shared
) -> tuple[Traced, Traced]:
    """The integral, and the distance of the nodes it came from."""
    forwards = (low < high) | ((low == high) & jnp.isfinite(low))
    end = jnp.where(forwards, high, low)

    def refine(level: Level) -> Level:
        h = level.h / 2

        def add(sums: tuple[Traced, Traced], nodes: Nodes) -> tuple[Traced, Traced]:
            terms = nodes.weights * _values(f, nodes, shared)
            return sums[0] + jnp.sum(terms), sums[1] + jnp.sum(jnp.abs(terms))

        total, size = _over_nodes(f, low, end, h, shared, add, (jnp.zeros(()), jnp.zeros(())))
        return Level(h, total, level.value, jnp.abs(total - level.value) <= tolerance * size)

    none = jnp.asarray(jnp.nan)
    start = Level(jnp.asarray(2 * COARSEST), none, none, jnp.asarray(False))
    last = jax.lax.while_loop(lambda level: ~level.done & (level.h > FINEST), refine, start)
    return jnp.where(forwards & last.done, last.value, jnp.nan), last.h


def _over_nodes(
    f: Function, low: Traced, high: Traced, h: Traced, shared: Shared, add: Any, start: Any
) -> Any:
    """`add` of the nodes at distance h, some at a time; those that do not count have no weight.

    No nodes at distance 0, which is what a branch not taken has kept for the way back.
    """
    most = jnp.where(h > 0, jnp.floor(RULE_CUTOFF / jnp.where(h > 0, h, 1.0)), -1.0)

    def some(at: tuple[Traced, Any]) -> tuple[Traced, Any]:
        first, sums = at
        k = first + np.arange(NODES_A_ROUND)
        x, complement, weights = (a[0] for a in placed(jnp, low[None], high[None], h, h * k))
        inside, counted = (x > low) & (x < high), (k <= most) & (weights > 0)
        middle = jnp.where(counted, x, x[jnp.argmax(counted)])
        found = _values(f, Nodes(middle, complement, weights), shared)
        # A node that is rounded to an end counts where f, by the distance, has a value there.
        counted = counted & (inside | jnp.isfinite(found))
        safe = jnp.argmax(counted)
        nodes = Nodes(
            jnp.where(counted, x, x[safe]),
            jnp.where(counted, complement, complement[safe]),
            jnp.where(counted, weights, 0.0),
        )
        return first + NODES_A_ROUND, add(sums, nodes)

    return jax.lax.while_loop(lambda at: at[0] <= most, some, (-most, start))[1]


def _values(f: Function, nodes: Nodes, shared: Shared) -> Traced:
    return jax.vmap(partial(f, shared))(nodes.x, nodes.complement)


def _at_end(f: Function, x: Traced, shared: Shared) -> Traced:
    """f at an end, 0 at an infinite one."""
    finite = jnp.isfinite(x)
    return jnp.where(finite, f(shared, jnp.where(finite, x, 0.0), jnp.zeros(())), 0.0)
