"""`lib.solve` under JAX: differential equations, roots and integrals in compiled code."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from ppl.arrays import Array
from ppl.jax_backend import integrals, roots
from ppl.jax_backend.arguments import Arguments, Shared
from ppl.jax_backend.initial_value import InitialValue, Rate, backward, forward, over_draws
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.optimise.solve import INTEGRALS, ODES, ROOTS
from ppl.stdlib.solvers import kronrod, quadrature
from ppl.stdlib.solvers.quadrature import Precision
from ppl.stdlib.solvers.runge_kutta import Scales


def solve(solver: str, f: Callable[..., Any], args: Sequence[Any], settings: Sequence[Any]) -> Array:
    """As backend.solve.solve, nan where there is no solution."""
    if solver not in SOLVERS:
        raise NotTraceable(f"`{solver}` is not compiled")
    return SOLVERS[solver](f, args, settings)


def ode(
    defaults: tuple[float, float, float], f: Callable[..., Any], args: Sequence[Any], settings: Sequence[Any]
) -> Array:
    t0, y0, *shared = args
    ts, *tolerances = settings
    first, start, times = (jnp.asarray(x, dtype=float) for x in (t0, y0, ts))
    relative, absolute, most = (jnp.asarray(x, dtype=float) for x in tolerances or defaults)
    equation, given = equation_of(f, shared)
    if not times.size:
        return jnp.zeros((0, *start.shape))
    in_order = (times[0] > first) & jnp.all(jnp.diff(times) >= 0)
    scales = Scales(relative, jnp.broadcast_to(absolute, start.shape))
    start = jnp.where(in_order, start, jnp.nan)
    return solved(equation, InitialValue(start, first, times, scales, most * times.size, given))


def root(f: Callable[..., Any], args: Sequence[Any], settings: Sequence[Any]) -> Array:
    guess, *shared = args
    equation, given = equation_of(lambda t, y, *shared: f(y, *shared), shared)
    return roots.root(lambda given, x: equation(given, 0.0, x), jnp.asarray(guess, dtype=float), given)


def integral(
    rule: integrals.QuadratureRule, f: Callable[..., Any], args: Sequence[Any], settings: Sequence[Any]
) -> Array:
    low, high, *shared = args
    integrand, given = equation_of(f, shared)
    low, high = jnp.asarray(low, dtype=float), jnp.asarray(high, dtype=float)
    return integrals.integral(rule, integrand, low, high, Precision(*settings), given)


def equation_of(f: Callable[..., Any], args: Sequence[Any]) -> tuple[Callable[..., Array], Shared]:
    """f(t, y, *args) as a function of what of `args` is traced, t and y, and the first of these."""
    arguments = Arguments.of(tuple(args))

    def equation(shared: Shared, t: Array, y: Array) -> Array:
        return jnp.asarray(f(t, y, *arguments.filled(*shared)), dtype=float).reshape(y.shape)

    return equation, (arguments.floats, arguments.others)


def solved(rate: Rate, problem: InitialValue) -> Array:
    """The states at the times of one draw, with the adjoints of the steps."""

    def recorded(each: InitialValue) -> tuple[Array, Any]:
        problem = jax.tree_util.tree_map(lambda x: x.value, each)
        perturbed = [x.value if x.perturbed else None for x in each.shared[0]]
        states, implicit, steps = one_draw(forward, rate, problem)
        return states, (problem, perturbed, states, implicit, steps)

    def adjoints(saved: Any, g: Array) -> tuple[InitialValue]:
        problem, perturbed, states, implicit, steps = saved
        start, first, times, *_, shared = problem
        to_start, to_floats = one_draw(backward, rate, problem, perturbed, implicit, steps, jnp.asarray(g))
        to_first = -jnp.dot(to_start, rate(shared, first, start))
        to_times = jnp.sum(g * jax.vmap(partial(rate, shared))(times, states), axis=1)
        return (InitialValue._make((to_start, to_first, to_times, None, None, (to_floats, None))),)

    function: Any = jax.custom_vjp(lambda problem: one_draw(forward, rate, problem)[0])
    function.defvjp(recorded, adjoints, symbolic_zeros=True)
    return function(problem)


def one_draw(f: Callable[..., Any], rate: Rate, *args: Any) -> Any:
    """f(rate, *args), whose arrays have the draws along their first axis, of the arrays of one."""
    of_one = over_draws(partial(f, rate))(*jax.tree_util.tree_map(lambda a: a[None], args))
    return jax.tree_util.tree_map(lambda x: x[0], of_one)


RULES = {quadrature.rule: integrals.DOUBLE_EXPONENTIAL, kronrod.rule: integrals.GAUSS_KRONROD}
"""The compiled rules of those of the library."""

SOLVERS: Mapping[str, Callable[..., Array]] = {
    **{name: partial(ode, defaults) for name, defaults in ODES.items()},
    **dict.fromkeys(ROOTS, root),
    **{name: partial(integral, RULES[rule]) for name, rule in INTEGRALS.items()},
}
