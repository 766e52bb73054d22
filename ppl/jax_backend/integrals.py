"""Integrals of functions of the program in compiled code: the rules of stdlib.solvers.quadrature and kronrod.

The nodes of a level, and the panels of an interval, are gone through some at a time, so that all of them are
one piece of code.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ppl.arrays import Array
from ppl.jax_backend.arguments import Shared
from ppl.stdlib.solvers import kronrod
from ppl.stdlib.solvers.quadrature import COARSEST, FINEST, RULE_CUTOFF, Precision, placed

Integrand = Callable[..., Array]
"""f(shared, x, distance to the nearer end), a number."""

NODES_A_ROUND = 25
"""Nodes that f is asked for at once: those of the coarsest level."""
MOST_PASSES = 4
"""Over the panels, each with the size of the integral by the pass before."""


class QuadratureRule(NamedTuple):
    """How an integral is found, and how its nodes are gone through again.

    refined     (f, low, high, precision, shared) -> the integral, nan without one, and what says which nodes
    over_nodes  (f, low, high, which, shared, add, start) -> `start` after `add(sums, nodes)` of all of them
    at_end      the distance that f gets at an end itself
    """

    refined: Callable[..., tuple[Array, Array]]
    over_nodes: Callable[..., Any]
    at_end: float


class QuadratureLevel(NamedTuple):
    """The distance h of nodes, the integral by it and by the level before, and whether they agree."""

    h: Array
    value: Array
    before: Array
    done: Array


class Nodes(NamedTuple):
    x: Array
    complement: Array
    weights: Array


def integral(
    rule: QuadratureRule, f: Integrand, low: Array, high: Array, precision: Precision, shared: Shared
) -> Array:
    """The integral of f, nan where it did not converge; differentiated in all but the precision."""

    def forward(low: Array, high: Array, shared: Shared) -> Any:
        value, which = rule.refined(f, low, high, precision, shared)
        return value, (low, high, which, shared)

    def backward(saved: Any, g: Array) -> Sequence[Any]:
        low, high, which, shared = saved
        to_low, to_high = (sign * g * _at_end(rule, f, x, shared) for sign, x in ((-1.0, low), (1.0, high)))

        def add(sums: Sequence[Array], nodes: Nodes) -> Any:
            pull = jax.vjp(lambda floats: _values(f, nodes, (floats, shared[1])), shared[0])[1]
            return jax.tree_util.tree_map(jnp.add, sums, pull(g * nodes.weights)[0])

        zeros = jax.tree_util.tree_map(jnp.zeros_like, shared[0])
        return to_low, to_high, (rule.over_nodes(f, low, high, which, shared, add, zeros), None)

    function: Any = jax.custom_vjp(lambda *args: forward(*args)[0])
    function.defvjp(forward, backward)
    return function(low, high, shared)


def _forwards(low: Array, high: Array, precision: Precision) -> Array:
    in_order = (low < high) | ((low == high) & jnp.isfinite(low))
    return in_order & (precision.absolute >= 0) & (precision.refinements >= 0)


def _refined(
    f: Integrand, low: Array, high: Array, precision: Precision, shared: Shared
) -> tuple[Array, Array]:
    """The integral, and the distance of the nodes it came from."""
    forwards = _forwards(low, high, precision)
    finest = jnp.maximum(COARSEST / 2.0 ** jnp.maximum(precision.refinements, 1), FINEST)
    end = jnp.where(forwards, high, low)

    def refine(level: QuadratureLevel) -> QuadratureLevel:
        h = level.h / 2

        def add(sums: tuple[Array, Array], nodes: Nodes) -> tuple[Array, Array]:
            terms = nodes.weights * _values(f, nodes, shared)
            return sums[0] + jnp.sum(terms), sums[1] + jnp.sum(jnp.abs(terms))

        total, size = _over_nodes(f, low, end, h, shared, add, (jnp.zeros(()), jnp.zeros(())))
        allowed = jnp.maximum(precision.relative * size, precision.absolute)
        return QuadratureLevel(h, total, level.value, jnp.abs(total - level.value) <= allowed)

    none = jnp.asarray(jnp.nan)
    start = QuadratureLevel(jnp.asarray(2 * COARSEST), none, none, jnp.asarray(False))
    last = jax.lax.while_loop(lambda level: ~level.done & (level.h > finest), refine, start)
    return jnp.where(forwards & last.done, last.value, jnp.nan), last.h


def _over_nodes(f: Integrand, low: Array, high: Array, h: Array, shared: Shared, add: Any, start: Any) -> Any:
    """`add` of the nodes at distance h, some at a time; those that do not count have no weight.

    No nodes at distance 0, which is what a branch not taken has kept for the way back.
    """
    most = jnp.where(h > 0, jnp.floor(RULE_CUTOFF / jnp.where(h > 0, h, 1.0)), -1.0)

    def some(at: tuple[Array, Any]) -> tuple[Array, Any]:
        first, sums = at
        k = first + np.arange(NODES_A_ROUND)
        x, complement, weights = (a[0] for a in placed(jnp, low[None], high[None], h, h * k))
        inside, counted = (x > low) & (x < high), (k <= most) & (weights > 0)
        middle = jnp.where(counted, x, x[jnp.argmax(counted)])
        values = _values(f, Nodes(middle, complement, weights), shared)
        # A node that is rounded to an end counts where f, by the distance, has a value there.
        counted = counted & (inside | jnp.isfinite(values))
        safe = jnp.argmax(counted)
        nodes = Nodes(
            jnp.where(counted, x, x[safe]),
            jnp.where(counted, complement, complement[safe]),
            jnp.where(counted, weights, 0.0),
        )
        return first + NODES_A_ROUND, add(sums, nodes)

    return jax.lax.while_loop(lambda at: at[0] <= most, some, (-most, start))[1]


def _values(f: Integrand, nodes: Nodes, shared: Shared) -> Array:
    return jax.vmap(partial(f, shared))(nodes.x, nodes.complement)


def _at_end(rule: QuadratureRule, f: Integrand, x: Array, shared: Shared) -> Array:
    """f at an end, 0 at an infinite one."""
    finite = jnp.isfinite(x)
    return jnp.where(finite, f(shared, jnp.where(finite, x, 0.0), jnp.asarray(rule.at_end)), 0.0)


# --- Gauss-Kronrod rules on panels -----------------------------------------------------------------


class PanelChoice(NamedTuple):
    """Which panels: those whose error is below `allowed` times their share, or that may not be halved.

    No panels where `allowed` is negative, which is what a branch not taken has kept for the way back.
    """

    allowed: Array
    most: Array


class Sums(NamedTuple):
    value: Array
    error: Array
    size: Array


def _bisected(
    f: Integrand, low: Array, high: Array, precision: Precision, shared: Shared
) -> tuple[Array, Array]:
    """The integral, and the panels it came from: each pass allows an error by the size of the pass before."""
    forwards = _forwards(low, high, precision)
    end = jnp.where(forwards, high, low)
    none = jnp.zeros(())

    def some(sums: Sums, nodes: Nodes) -> Sums:
        terms = nodes.weights * _values(f, nodes, shared)
        error = jnp.abs(jnp.sum(terms * (kronrod.ERROR_WEIGHTS / kronrod.PANEL_WEIGHTS)))
        return Sums(sums.value + jnp.sum(terms), sums.error + error, sums.size + jnp.sum(jnp.abs(terms)))

    def again(at: tuple[Array, PanelChoice, Sums, Array]) -> tuple[Array, PanelChoice, Sums, Array]:
        k, panels, sums, _ = at
        allowed = jnp.maximum(precision.relative * sums.size, precision.absolute)
        panels = PanelChoice(allowed, panels.most)
        total = _over_panels(f, low, end, panels, shared, some, Sums(none, none, none))
        done = total.error <= jnp.maximum(precision.relative * total.size, precision.absolute)
        return k + 1, panels, total, done

    whole = PanelChoice(jnp.asarray(jnp.inf), jnp.asarray(precision.refinements, dtype=float))
    first = _over_panels(f, low, end, whole, shared, some, Sums(none, none, none))
    start = (jnp.asarray(0), whole, first, jnp.asarray(False))
    _, panels, total, done = jax.lax.while_loop(lambda at: ~at[3] & (at[0] < MOST_PASSES), again, start)
    return jnp.where(forwards & done, total.value, jnp.nan), panels


class PanelPlace(NamedTuple):
    """Panel number `at` of those that 2^halvings make of the interval."""

    at: Array
    halvings: Array


def _over_panels(
    f: Integrand, low: Array, high: Array, panels: PanelChoice, shared: Shared, add: Any, start: Any
) -> Any:
    """`add` of the nodes of each panel, from the left: one that is halved is followed by its left half."""

    def nodes_at(place: PanelPlace) -> Nodes:
        width = 2.0 / 2.0**place.halvings
        t = width * (place.at + 0.5 * (1.0 + kronrod.PANEL_NODES)) - 1.0
        x, speed = (a[0] for a in kronrod.placed(jnp, low[None], high[None], t[None]))
        return Nodes(x, jnp.full(x.shape, jnp.nan), 0.5 * width * kronrod.PANEL_WEIGHTS * speed)

    def one(at: tuple[PanelPlace, Any]) -> tuple[PanelPlace, Any]:
        place, sums = at
        nodes = nodes_at(place)
        terms = nodes.weights * _values(f, nodes, shared)
        error = jnp.abs(jnp.sum(terms * (kronrod.ERROR_WEIGHTS / kronrod.PANEL_WEIGHTS)))
        coarse = (error > panels.allowed / 2.0**place.halvings) & (place.halvings < panels.most)
        added = add(sums, nodes)
        sums = jax.tree_util.tree_map(lambda old, new: jnp.where(coarse, old, new), sums, added)
        return _next(place, coarse), sums

    first = PanelPlace(jnp.zeros(()), jnp.where(panels.allowed < 0, -1.0, 0.0))
    return jax.lax.while_loop(lambda at: at[0].halvings >= 0, one, (first, start))[1]


def _next(place: PanelPlace, halved: Array) -> PanelPlace:
    """The left half, or what lies right of the panel and is as wide as it may be; -1 halvings at the end."""

    def up(place: PanelPlace) -> PanelPlace:
        return PanelPlace((place.at - 1) / 2, place.halvings - 1)

    done = jax.lax.while_loop(lambda p: (p.halvings > 0) & (p.at % 2 == 1), up, place)
    after = PanelPlace(done.at + 1, jnp.where(done.halvings > 0, done.halvings, -1.0))
    half = PanelPlace(2 * place.at, place.halvings + 1)
    return PanelPlace(*(jnp.where(halved, left, right) for left, right in zip(half, after, strict=True)))


DOUBLE_EXPONENTIAL = QuadratureRule(_refined, _over_nodes, 0.0)
GAUSS_KRONROD = QuadratureRule(_bisected, _over_panels, float("nan"))
