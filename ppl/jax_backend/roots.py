"""Roots of equations of the program in compiled code: Powell's dogleg, and the implicit function theorem.

As MINPACK's hybrj (More, Garbow and Hillstrom 1980, ANL-80-74), which plain NumPy runs, with its factors and
scales, but for the Jacobian, which is exact at every step.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ppl.arrays import Array
from ppl.jax_backend.arguments import Shared
from ppl.jax_backend.namespace import JAX
from ppl.stdlib.solvers.roots import ROOT_TOLERANCE

System = Callable[..., Array]
"""f(shared, x) of n numbers with n values."""


class RootLimits(NamedTuple):
    """When a search ends."""

    most_steps: int = 400
    """Steps that a search takes."""

    least_region: float = 1.5e-8
    """The radius of the trust region, of the length of x, at which the search has arrived."""

    first_region: float = 100.0
    """The first radius, of the length of x."""


SEARCH = RootLimits()


class Search(NamedTuple):
    """Where a search is: x (n,), f there, the scale of each x, the radius, steps, good ones in a row."""

    x: Array
    value: Array
    scale: Array
    radius: Array
    steps: Array
    good: Array


def root(f: System, guess: Array, shared: Shared) -> Array:
    """Where f(shared, x) = 0 near the guess, nan where no root was found; differentiated in `shared`."""

    def forward(guess: Array, shared: Shared) -> tuple[Array, Any]:
        x = _found(f, guess, shared)
        return x, (x, shared)

    def backward(saved: Any, g: Array) -> tuple[Array, Any]:
        """-df' (J')^-1 g."""
        x, (floats, others) = saved
        weights = -_solved(jnp.swapaxes(jax.jacrev(partial(f, (floats, others)))(x), 0, 1), g)
        (adjoints,) = jax.vjp(lambda floats: f((floats, others), x), floats)[1](weights)
        return jnp.zeros_like(g), (adjoints, None)

    function: Any = jax.custom_vjp(partial(_found, f))
    function.defvjp(forward, backward)
    return function(guess, shared)


def _found(f: System, guess: Array, shared: Shared) -> Array:
    value = partial(f, shared)
    jacobian = jax.jacrev(value)
    scale = _scale(jacobian(guess))
    length = jnp.linalg.norm(scale * guess)
    radius = SEARCH.first_region * jnp.where(length > 0, length, 1.0)
    start = Search(guess, value(guess), scale, radius, jnp.asarray(0), jnp.asarray(0))
    x = jax.lax.while_loop(_goes_on, lambda at: _step(value, jacobian(at.x), at), start).x
    near = jnp.max(jnp.abs(value(x)), initial=0.0) <= ROOT_TOLERANCE
    return jnp.where(near, x - _solved(jacobian(x), value(x)), jnp.nan)


def _goes_on(at: Search) -> Array:
    arrived = at.radius <= SEARCH.least_region * jnp.linalg.norm(at.scale * at.x)
    return (at.steps < SEARCH.most_steps) & jnp.any(at.value != 0) & ~arrived


def _scale(jacobian: Array) -> Array:
    lengths = jnp.linalg.norm(jacobian, axis=0)
    return jnp.where(lengths > 0, lengths, 1.0)


def _step(f: Callable[[Array], Array], jacobian: Array, at: Search) -> Search:
    """A step within the trust region, taken if it is good, and the region after it."""
    scale = jnp.maximum(at.scale, _scale(jacobian))
    move = _dogleg(jacobian, at.value, scale, at.radius)
    length, size = jnp.linalg.norm(scale * move), jnp.linalg.norm(at.value)
    radius = jnp.where(at.steps == 0, jnp.minimum(at.radius, length), at.radius)
    there = f(at.x + move)
    actual = 1.0 - (jnp.linalg.norm(there) / size) ** 2
    predicted = 1.0 - (jnp.linalg.norm(at.value + jacobian @ move) / size) ** 2
    ratio = jnp.where(predicted > 0, actual / predicted, 0.0)
    ratio = jnp.where(jnp.isfinite(ratio), ratio, 0.0)
    good = jnp.where(ratio < 0.1, 0, at.good + 1)
    wider = (ratio >= 0.5) | (good > 1)
    radius = jnp.where(wider, jnp.maximum(radius, 2.0 * length), radius)
    radius = jnp.where(jnp.abs(ratio - 1.0) <= 0.1, 2.0 * length, radius)
    radius = jnp.where(ratio < 0.1, 0.5 * radius, radius)
    taken = ratio >= 1e-4
    x, value = jnp.where(taken, at.x + move, at.x), jnp.where(taken, there, at.value)
    return Search(x, value, scale, radius, at.steps + 1, good)


def _dogleg(jacobian: Array, value: Array, scale: Array, radius: Array) -> Array:
    """Newton's step where it lies in the region, else the way to it by the steepest descent, so far."""
    newton = -_solved(jacobian, value)
    regular = jnp.all(jnp.isfinite(newton))
    newton = jnp.where(regular, newton, 0.0)
    inside = regular & (jnp.linalg.norm(scale * newton) <= radius)
    slope = -(value @ jacobian) / scale
    steep = jnp.linalg.norm(slope)
    direction = slope / jnp.where(steep > 0, steep, 1.0)
    bend = jnp.linalg.norm(jacobian @ (direction / scale))
    best = jnp.minimum(steep / jnp.where(bend > 0, bend, 1.0) ** 2, radius) * direction
    way = jnp.where(regular, scale * newton - best, 0.0)
    a, b, c = way @ way, best @ way, best @ best - radius**2
    far = jnp.where(a > 0, (-b + jnp.sqrt(jnp.maximum(b * b - a * c, 0.0))) / jnp.where(a > 0, a, 1.0), 0.0)
    return jnp.where(inside, newton, (best + jnp.clip(far, 0.0, 1.0) * way) / scale)


def _solved(matrix: Array, right: Array) -> Array:
    """Not finite where the matrix is singular."""
    return JAX.linalg.solve(matrix, right[:, None])[:, 0]
