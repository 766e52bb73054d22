"""Initial value problems in compiled code: the methods and the steps of stdlib/solvers/initial_value.py.

All draws go through one loop, each with steps of its own; a round of it takes one step of some draws that are
on the way, so that what one needs many of costs the others nothing.  Every step is kept, so that a loop back
over them gives the adjoints of the steps taken, their lengths held fixed.  Arrays have the draws along their
first axis.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap

from ppl.arrays import Array
from ppl.jax_backend.arguments import Shared
from ppl.jax_backend.namespace import JAX, is_traced
from ppl.late import integrate
from ppl.optimise.solve import MOST_TRIES, MOST_TRIES_EACH, tighter
from ppl.stdlib.solvers import runge_kutta
from ppl.stdlib.solvers.initial_value import MOST_AT_LIMIT, MOST_REFUSED, factors, first_lengths
from ppl.stdlib.solvers.runge_kutta import NEWTON_SLACK, NEWTON_STEPS, STABLE, Scales, explicit_error

RADAU = runge_kutta.Radau()
"""Of which the coefficients are taken."""


class Begin(NamedTuple):
    """Where a step begins, its length, and the equation: `rate(t, y)`."""

    rate: Callable[[Array, Array], Array]
    t: Array
    y: Array
    h: Array

    def slopes(self) -> tuple[Array, Array]:
        """The rate (n,) there and its Jacobian (n, n)."""
        return self.rate(self.t, self.y), jax.jacrev(self.rate, argnums=1)(self.t, self.y)


class DormandPrince:
    """The explicit method of order 8."""

    order = 8

    def stages(self, at: Begin, count: int) -> tuple[Array, Array]:
        """The points Y and rates k (count, n); the 13th is the end of the step.

        A loop: the code of the equation is compiled once, not once a stage.
        """
        a = np.zeros((count, count))
        a[:12, :12] = integrate.DOP853.A[:count, :count][:12, :12]
        a[12:, :12] = integrate.DOP853.B
        nodes = np.append(integrate.DOP853.C, 1.0)[:count]

        def one(k: Array, stage: Array) -> Any:
            i, weights, node = stage
            point = at.y + at.h * (weights @ k)
            return jax.lax.dynamic_update_index_in_dim(k, at.rate(at.t + node * at.h, point), i, 0), point

        no_rates = jnp.zeros((count, *at.y.shape))
        k, points = jax.lax.scan(one, no_rates, (np.arange(count), a, nodes))
        return points, k

    def step(self, at: Begin, scales: Scales) -> tuple[Array, Array, Array]:
        points, k = self.stages(at, 13)
        end = points[12]
        error = explicit_error(jnp, lambda weights: scales.norm(jnp, at.h * (weights @ k), at.y, end))
        change, distance = jnp.sum((k[12] - k[11]) ** 2), jnp.sum((end - points[11]) ** 2)
        return end, error, at.h * at.h * change > STABLE**2 * distance

    def solved(self, at: Begin, scales: Scales) -> Any:
        """Nothing is solved for."""

    def end(self, at: Begin, solved: Any) -> Array:
        return at.y + at.h * (integrate.DOP853.B @ self.stages(at, 12)[1])


class Radau:
    """The implicit method."""

    order = RADAU.order

    def step(self, at: Begin, scales: Scales) -> tuple[Array, Array, Array]:
        f, jacobian = at.slopes()
        k, converged = self._stages(at, scales, f, jacobian)
        end = at.y + at.h * (RADAU.a[-1] @ k)
        estimate = at.h * (RADAU.first * f + RADAU.difference @ k)
        filtered = JAX.linalg.inv(np.eye(len(at.y)) - RADAU.first * at.h * jacobian) @ estimate
        error = jnp.where(converged, scales.norm(jnp, filtered, at.y, end), jnp.inf)
        return end, error, jnp.zeros((), dtype=bool)

    def _stages(self, at: Begin, scales: Scales, f: Array, jacobian: Array) -> tuple[Array, Array]:
        """The k (s, n) by Newton's method with one Jacobian, and whether it has converged."""
        inverse = self._inverse(jnp.broadcast_to(jacobian, (RADAU.s, *jacobian.shape)), at.h)

        def once(guess: Any) -> Any:
            i, k, _ = guess
            change = self._change(at, k, inverse)
            return i + 1, k + change, jnp.max(scales.norm(jnp, at.h * change, at.y))

        def goes_on(guess: Any) -> Array:
            i, _, off = guess
            return (i < NEWTON_STEPS) & (off > NEWTON_SLACK) & ((i == 0) | jnp.isfinite(off))

        start = 0, jnp.broadcast_to(f, (RADAU.s, len(at.y))), jnp.asarray(jnp.inf)
        _, k, off = jax.lax.while_loop(goes_on, once, start)
        return k, off <= NEWTON_SLACK

    def _change(self, at: Begin, k: Array, inverse: Array) -> Array:
        """That of k in one of Newton's steps."""
        rates = jax.vmap(at.rate)(*stages_of(at, k))
        return (inverse @ jnp.ravel(rates - k)).reshape(k.shape)

    def _inverse(self, jacobians: Array, h: Array) -> Array:
        """That of I - h (a_ij J_i), (s n, s n), of Jacobians (s, n, n)."""
        s, n = jacobians.shape[:2]
        blocks = jnp.einsum("ij,ixy->ixjy", RADAU.a, h * jacobians)
        return JAX.linalg.inv(np.eye(s * n) - blocks.reshape(s * n, s * n))

    def solved(self, at: Begin, scales: Scales) -> tuple[Array, Array]:
        """The k, and the inverse of Newton's system with the Jacobian of every stage."""
        k, _ = self._stages(at, scales, *at.slopes())
        exact = jax.vmap(jax.jacrev(at.rate, argnums=1))(*stages_of(at, k))
        return k, self._inverse(exact, at.h)

    def end(self, at: Begin, solved: Any) -> Array:
        """By one more of Newton's steps, whose derivatives are those of the solution."""
        k, inverse = solved
        return at.y + at.h * (RADAU.a[-1] @ (k + self._change(at, k, inverse)))


def stages_of(at: Begin, k: Array) -> tuple[Array, Array]:
    """The times (s,) and the points (s, n) of the stages of k."""
    return at.t + at.h * RADAU.nodes, at.y + at.h * (RADAU.a @ k)


Method = DormandPrince | Radau
"""`step` gives the end (n,) of a step, its error, and whether it was as long as is stable.

`end(at, solved)` is the end alone, to be differentiated in y and in what the rate closes over;
`solved` is what was solved for on the way, to be held fixed.
"""


Rate = Callable[[Shared, Array, Array], Array]
"""The equation of one draw: of what it gets beside t and y, t and y (n,), (n,)."""
EXPLICIT, IMPLICIT = DormandPrince(), Radau()
"""The method of all draws, a little tighter, and that of those which do not come to the end by it."""
NO_STEP_TAKEN, ON_THE_WAY = -2, -1
"""In place of the output that a step ends at: none was taken, or one that ends before the next output."""
DRAWS_A_ROUND = 64
"""Steps that are taken together: fewer do not fill the arrays, more wait for the last draws on the way."""


Perturbed = Sequence[Array | None]
"""Floats that the equation gets, None in place of those that derivatives are not wanted in."""


class Steps(NamedTuple):
    """Where steps begin, their lengths, and the outputs that they end at, (draws, tries); y has n more."""

    t: Array
    y: Array
    h: Array
    reached: Array


class Now(NamedTuple):
    """Where draws are: `done` outputs behind them, after steps `tried`, the last of them `refused`.

    Some steps were `at_limit`.
    """

    t: Array
    y: Array
    h: Array
    done: Array
    tried: Array
    refused: Array
    at_limit: Array


class SolutionPath(NamedTuple):
    """Where all draws are, the states (draws, outputs, n) that they have come by, and the steps there."""

    now: Now
    states: Array
    steps: Steps


class InitialValue(NamedTuple):
    """One problem for each draw: tolerances, the most steps, and what the equation gets beside t and y."""

    start: Array
    t0: Array
    times: Array
    scales: Scales
    most: Array
    shared: Shared


def forward(rate: Rate, problem: InitialValue) -> tuple[Array, Array, Steps]:
    """The states (draws, outputs, n), which draws took the implicit method, and the steps."""
    (draws, n), outputs = problem.start.shape, problem.times.shape[1]
    tries = MOST_TRIES + MOST_TRIES_EACH * outputs
    zeros, reached = jnp.zeros((draws, tries)), jnp.full((draws, tries), NO_STEP_TAKEN)
    nothing = Steps(zeros, jnp.zeros((draws, tries, n)), zeros, reached)
    problem = problem._replace(most=jnp.minimum(problem.most, tries))
    tight = problem._replace(scales=Scales(*map(partial(tighter, jnp), problem.scales)))
    first = _path(rate, EXPLICIT, tight, nothing, jnp.ones(draws, dtype=bool))
    left = first.now.done < outputs
    second = _path(rate, IMPLICIT, problem, first.steps, left)
    return jnp.where(left[:, None, None], second.states, first.states), left, second.steps


def _path(rate: Rate, method: Method, problem: InitialValue, steps: Steps, active: Array) -> SolutionPath:
    draws, outputs = problem.times.shape
    zeros = jnp.zeros(draws, dtype=int)

    def first(t: Array, y: Array, scales: Scales, shared: Shared) -> Array:
        return first_lengths(jnp, partial(rate, shared), scales, method.order, t, y)

    lengths = jax.vmap(first)(problem.t0, problem.start, problem.scales, problem.shared)
    h = jnp.where(active, lengths, 0.0)
    now = Now(problem.t0, problem.start, h, zeros, zeros, zeros, zeros)
    states = jnp.full((draws, outputs, problem.start.shape[1]), jnp.nan)
    steps = steps._replace(reached=jnp.where(active[:, None], NO_STEP_TAKEN, steps.reached))
    return jax.lax.while_loop(
        lambda path: jnp.any(_on_the_way(problem, path.now)),
        partial(_round, rate, method, problem),
        SolutionPath(now, states, steps),
    )


def _on_the_way(problem: InitialValue, now: Now) -> Array:
    stuck = (now.at_limit >= MOST_AT_LIMIT) | (now.refused >= MOST_REFUSED) | ~(now.h > 0)
    return (now.done < problem.times.shape[1]) & (now.tried < problem.most) & ~stuck


def _round(rate: Rate, method: Method, problem: InitialValue, path: SolutionPath) -> SolutionPath:
    """One step of the first draws on the way; where these are few, the places left count for none.

    A round that has a place for every draw needs no gathers and few scatters, which take long to compile.
    """
    draws, outputs = problem.times.shape
    on_the_way = _on_the_way(problem, path.now)
    has_all = draws <= DRAWS_A_ROUND
    if has_all:
        some, mine, now = jnp.where(on_the_way, jnp.arange(draws), draws), problem, path.now
    else:
        some = jnp.nonzero(on_the_way, size=DRAWS_A_ROUND, fill_value=draws)[0]
        mine, now = jax.tree_util.tree_map(lambda x: x.at[some].get(mode="clip"), (problem, path.now))
    next_time = jnp.take_along_axis(mine.times, now.done[:, None], axis=1, mode="clip")[:, 0]
    length = jnp.minimum(now.h, next_time - now.t)

    def step(t: Array, y: Array, h: Array, scales: Scales, shared: Array) -> Any:
        return method.step(Begin(partial(rate, shared), t, y, h), scales)

    end, error, at_limit = jax.vmap(step)(now.t, now.y, length, mine.scales, mine.shared)
    good = error <= 1
    whole = good & (length == next_time - now.t)
    t = jnp.where(whole, next_time, jnp.where(good, now.t + length, now.t))
    longer = length * factors(jnp, error, method.order)
    h = jnp.where(whole, jnp.maximum(now.h, longer), longer)
    after = Now(
        t,
        jnp.where(good[:, None], end, now.y),
        jnp.where(t + h > t, h, 0.0),
        now.done + whole,
        now.tried + 1,
        jnp.where(good, 0, now.refused + 1),
        now.at_limit + (good & at_limit),
    )
    reached = jnp.where(whole, now.done, jnp.where(good, ON_THE_WAY, NO_STEP_TAKEN))
    return SolutionPath(
        selected(on_the_way, after, path.now) if has_all else put((some,), path.now, after),
        put((some, jnp.where(whole, now.done, outputs)), path.states, end),
        put((some, now.tried), path.steps, Steps(now.t, now.y, length, reached)),
    )


def backward(
    rate: Rate, problem: InitialValue, perturbed: Perturbed, implicit: Array, steps: Steps, g: Array
) -> Any:
    """The adjoints of the start and of what is perturbed, from those of the states."""
    adjoints = jax.tree_util.tree_map(jnp.zeros_like, (problem.start, perturbed))
    for method, mine in ((EXPLICIT, ~implicit), (IMPLICIT, implicit)):
        own = steps._replace(reached=jnp.where(mine[:, None], steps.reached, NO_STEP_TAKEN))
        adjoints = _back(rate, method, problem, perturbed, own, g, adjoints)
    return adjoints


def _back(
    rate: Rate,
    method: Method,
    problem: InitialValue,
    perturbed: Perturbed,
    steps: Steps,
    g: Array,
    after: Any,
) -> Any:
    given = problem.scales, problem.shared, perturbed
    every, tries = jnp.arange(len(g)), jnp.arange(steps.reached.shape[1])
    last = jnp.max(jnp.where(steps.reached > NO_STEP_TAKEN, tries, -1))

    def pulled(a: Array, t: Array, y: Array, h: Array, mine: tuple[Scales, Shared, Perturbed]) -> Any:
        scales, (floats, others), perturbed = mine
        step = method.solved(Begin(partial(rate, (floats, others)), t, y, h), scales)

        def end(y: Array, perturbed: Perturbed) -> Array:
            chosen = [x if new is None else new for x, new in zip(floats, perturbed, strict=True)]
            return method.end(Begin(partial(rate, (chosen, others)), t, y, h), step)

        return jax.vjp(end, y, perturbed)[1](a)

    def back(at: Any) -> Any:
        k, adjoint, sums = at
        t, y, h, reached = (jnp.take(x, k, axis=1) for x in steps)
        here = jnp.where((reached >= 0)[:, None], g[every, reached], 0.0)
        to_start, more = jax.vmap(pulled)(adjoint + here, t, y, h, given)
        mine = reached > NO_STEP_TAKEN
        sums = jax.tree_util.tree_map(lambda s, x: s + jnp.where(widened(mine, x), x, 0.0), sums, more)
        return k - 1, selected(mine, to_start, adjoint), sums

    return jax.lax.while_loop(lambda at: at[0] >= 0, back, (last, *after))[1:]


def put(at: tuple[Array, ...], into: Any, new: Any) -> Any:
    """Arrays with new values at some places; a place beyond an array is none."""
    return jax.tree_util.tree_map(lambda x, each: x.at[at].set(each, mode="drop"), into, new)


def selected(which: Array, new: Any, old: Any) -> Any:
    """Arrays with the new values of some draws."""
    return jax.tree_util.tree_map(lambda x, each: jnp.where(widened(which, x), x, each), new, old)


def widened(which: Array, x: Array) -> Array:
    return which.reshape(which.shape + (1,) * (x.ndim - 1))


def over_draws(f: Callable[..., Any]) -> Callable[..., Any]:
    """f of arrays with draws along their first axis, for which those of an outer batch are only more draws.

    So the loop inside runs until the last draw is done, and no draw that is done is copied to stay as it is.
    The constants of f are arguments of the code: inside of a branch JAX takes them as such, and batches them
    where the condition is batched, with the same in every row.
    """

    def call(*args: Any) -> Any:
        code, shapes = jax.make_jaxpr(f, return_shape=True)(*args)
        structure = jax.tree_util.tree_structure(shapes)
        assert not any(map(is_traced, code.consts)), "what is solved for reads arguments alone"

        def of_draws(constants: Sequence[Array], args: Any) -> Any:
            leaves = jax.core.eval_jaxpr(code.jaxpr, constants, *jax.tree_util.tree_leaves(args))
            return jax.tree_util.tree_unflatten(structure, leaves)

        many: Any = custom_vmap(of_draws)
        many.def_vmap(lambda size, batched, constants, args: mapped(size, batched[1], args))
        return many(code.consts, args)

    def mapped(size: int, batched: Any, args: Any) -> tuple[Any, Any]:
        def joined(x: Array, varies: bool) -> Array:
            many = x if varies else jnp.broadcast_to(x, (size, *x.shape))
            return many.reshape(size * many.shape[1], *many.shape[2:])

        results = call(*jax.tree_util.tree_map(joined, args, batched))
        chunks = jax.tree_util.tree_map(lambda x: x.reshape(size, len(x) // size, *x.shape[1:]), results)
        return chunks, jax.tree_util.tree_map(lambda _: True, results)

    return call
