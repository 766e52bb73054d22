"""`lib.solve` under JAX: differential equations, roots and integrals in compiled code."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from ppl.backend.solve import INTEGRAL_TOLERANCE, MOST_TRIES, MOST_TRIES_EACH, ODES, ROOTS, tighter
from ppl.jax_backend import integrals, roots
from ppl.jax_backend.initial_value import Problem, Solver, over_draws
from ppl.jax_backend.namespace import is_traced
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.jax_backend.runge_kutta import DormandPrince, Radau
from ppl.stdlib.solvers.runge_kutta import Scales

Traced = Any


def solve(solver: str, f: Callable[..., Any], args: Sequence[Any], settings: Sequence[Any]) -> Traced:
    """As backend.solve.solve, nan where there is no solution."""
    if solver not in SOLVERS:
        raise NotTraceable(f"`{solver}` is not compiled")
    return SOLVERS[solver](f, args, settings)


@jax.tree_util.register_static
@dataclass(frozen=True)
class Perturbed:
    """Which arrays of a problem derivatives are wanted in, among what is kept for the way back."""

    of: Problem


@dataclass(frozen=True)
class Equation:
    """The function of the program, given what of its arguments is traced; the others are in the code."""

    f: Callable[..., Any]
    structure: Any
    fixed: tuple[Any, ...]

    def __call__(self, t: Traced, y: Traced, shared: Sequence[Traced]) -> Traced:
        traced = iter(shared)
        leaves = [next(traced) if leaf is None else leaf for leaf in self.fixed]
        found = self.f(t, y, *jax.tree_util.tree_unflatten(self.structure, leaves))
        return jnp.asarray(found, dtype=float).reshape(y.shape)


def ode(
    defaults: tuple[float, float, float], f: Callable[..., Any], args: Sequence[Any], settings: Sequence[Any]
) -> Traced:
    t0, y0, *shared = args
    ts, *tolerances = settings
    start, times = jnp.asarray(y0, dtype=float), jnp.asarray(ts, dtype=float)
    relative, absolute, most_steps = tolerances or defaults
    equation, traced = equation_of(f, shared)
    outputs = times.shape[0]
    if not outputs:
        return jnp.zeros((0, *start.shape))
    tries = MOST_TRIES + MOST_TRIES_EACH * outputs
    solver = Solver(equation, DormandPrince(), Radau(), partial(tighter, jnp), tries)
    first = jnp.asarray(t0, dtype=float)
    in_order = (times[0] > first) & jnp.all(jnp.diff(times) >= 0)
    problem = Problem(
        jnp.where(in_order, start, jnp.nan),
        first,
        times,
        Scales(
            jnp.asarray(relative, dtype=float),
            jnp.broadcast_to(jnp.asarray(absolute, dtype=float), start.shape),
        ),
        jnp.minimum(jnp.asarray(most_steps, dtype=float) * outputs, tries),
        tuple(traced),
    )
    return solved(solver, problem)


def root(f: Callable[..., Any], args: Sequence[Any], settings: Sequence[Any]) -> Traced:
    guess, *shared = args
    equation, traced = equation_of(lambda t, y, *shared: f(y, *shared), shared)
    return roots.root(lambda x, *leaves: equation(0.0, x, leaves), jnp.asarray(guess, dtype=float), traced)


def integral(f: Callable[..., Any], args: Sequence[Any], settings: Sequence[Any]) -> Traced:
    low, high, *shared = args
    (tolerance,) = settings or (INTEGRAL_TOLERANCE,)
    integrand, traced = equation_of(f, shared)
    low, high = jnp.asarray(low, dtype=float), jnp.asarray(high, dtype=float)

    def of_point(x: Traced, complement: Traced, *leaves: Traced) -> Traced:
        return integrand(x, complement, leaves)

    return integrals.integral(of_point, low, high, tolerance, traced)


def equation_of(f: Callable[..., Any], shared: Sequence[Any]) -> tuple[Equation, list[Traced]]:
    """f as one, and what of its arguments is traced."""
    leaves, structure = jax.tree_util.tree_flatten(tuple(shared))
    fixed = tuple(None if is_traced(leaf) else leaf for leaf in leaves)
    return Equation(f, structure, fixed), [jnp.asarray(leaf) for leaf in leaves if is_traced(leaf)]


def solved(solver: Solver, problem: Problem) -> Traced:
    """The states at the times of one draw, with the adjoints of the steps."""

    def value(problem: Problem) -> Traced:
        return one_draw(solver.forward, problem)[0]

    def recorded(each: Problem) -> tuple[Traced, Any]:
        problem = jax.tree_util.tree_map(lambda a: a.value, each)
        states, implicit, steps = one_draw(solver.forward, problem)
        perturbed = Perturbed(jax.tree_util.tree_map(lambda a: a.perturbed, each))
        return states, (perturbed, problem, states, implicit, steps)

    def adjoints(saved: Any, g: Traced) -> tuple[Problem]:
        perturbed, problem, states, implicit, steps = saved
        start, first, times, *_, shared = problem
        moved = zip(shared, perturbed.of.shared, strict=True)
        chosen = [i for i, (x, moves) in enumerate(moved) if moves and jnp.issubdtype(x.dtype, jnp.inexact)]
        to_start, found = one_draw(partial(solver.backward, chosen), problem, implicit, steps, jnp.asarray(g))
        to_first, to_times, to_shared = None, None, dict(zip(chosen, found, strict=True))
        if perturbed.of.t0:
            to_first = -jnp.dot(to_start, solver.rate(first, start, shared))
        if perturbed.of.times:
            rates = jax.vmap(lambda t, y: solver.rate(t, y, shared))(times, states)
            to_times = jnp.sum(g * rates, axis=1)
        every = tuple(to_shared.get(i) for i in range(len(shared)))
        return (Problem(to_start, to_first, to_times, Scales(None, None), None, every),)

    function: Any = jax.custom_vjp(value)
    function.defvjp(recorded, adjoints, symbolic_zeros=True)
    return function(problem)


def one_draw(f: Callable[..., Any], *args: Any) -> Any:
    """f, whose arrays have the draws along their first axis, of the arrays of one."""
    found = over_draws(f)(*jax.tree_util.tree_map(lambda a: a[None], args))
    return jax.tree_util.tree_map(lambda x: x[0], found)


SOLVERS: Mapping[str, Callable[..., Traced]] = {
    **{name: partial(ode, defaults) for name, defaults in ODES.items()},
    **dict.fromkeys(ROOTS, root),
    "integrate_1d": integral,
}
