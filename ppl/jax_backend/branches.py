"""Branches that parameters decide, and loops that they end, in compiled code.

A branch is a `jax.lax.cond`. Differentiated and then mapped over points, both of its sides are computed, each
with its derivatives, and one of them is chosen. Mapped over rows and then differentiated, the adjoint of the
side not taken would be zero times its derivatives, which may be infinite there or have no value. So a branch
that is mapped over rows has derivatives of its own: a `cond` of those of both sides.

A loop is a `jax.lax.while_loop`, which keeps no steps to go back through. The derivatives of its state go
forward with it: S' = J S + P, of the Jacobians J and P of a step in its state and in what it reads.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from ppl.arrays import Array
from ppl.errors import InferenceError, Rejection
from ppl.jax_backend.arguments import Arguments, as_array
from ppl.jax_backend.namespace import is_float, is_traced
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.records import dataclass, field, replace

AnyFunction = Callable[..., Any]

MOST_SENSITIVITIES = 10_000
"""Derivatives of the state of a loop, in its start and in what it reads, that go forward with it."""


MOST_NESTED = 24
"""Branches inside of branches; the time to compile grows with its square."""


@dataclass
class Branches:
    """The branches of one trace: how many are around what is traced, and whether it is mapped over rows."""

    depth: int = 0
    mapped: bool = False

    @contextmanager
    def within(self, depth: int, mapped: bool) -> Iterator[None]:
        before = self.depth, self.mapped
        self.depth, self.mapped = depth, mapped
        try:
            yield
        finally:
            self.depth, self.mapped = before

    def inner(self, f: AnyFunction) -> AnyFunction:
        """A side of a branch, or the step of a loop: differentiated before it is mapped."""
        depth = self.depth + 1
        if depth > MOST_NESTED:
            raise NotTraceable(f"more than {MOST_NESTED} nested branches on parameters")

        def call(*args: Any) -> Any:
            with self.within(depth, False):
                return f(*args)

        return call

    def branch(self, test: Any, then: AnyFunction, otherwise: AnyFunction, *args: Any) -> Any:
        """As runtime.branch; a side that rejects is -inf, and what it was to set."""
        if not is_traced(test):
            return (then if test else otherwise)(*args)
        arguments, then, otherwise = Arguments.of(args), self.inner(then), self.inner(otherwise)
        one, other = Side(then, arguments), Side(otherwise, arguments)
        sides = replace(one, instead=other), replace(other, instead=one)
        cond = _cond if self.mapped else jax.lax.cond
        values = cond(jnp.asarray(test, bool), *sides, arguments.floats, arguments.others)
        structure = next(side.structure for side in sides if side.structure is not None)
        return jax.tree_util.tree_unflatten(structure, values)

    def loop(
        self, goes_on: AnyFunction, step: AnyFunction, state: tuple[Any, ...], fixed: tuple[Any, ...]
    ) -> Any:
        """As runtime.loop; its first steps, as long as it is known that there are more, are in the code."""
        while not is_traced(test := goes_on(*state, *fixed)):
            if not test:
                return state
            state = step(*state, *fixed)
        return _while(goes_on, self.inner(step), state, fixed)


def and_then(left: Any, right: Callable[[], Any]) -> Any:
    """As runtime.and_then; what is traced has no gradient that the right side could spoil."""
    return jnp.logical_and(left, right()) if is_traced(left) else left and right()


def or_then(left: Any, right: Callable[[], Any]) -> Any:
    """As runtime.or_then."""
    return jnp.logical_or(left, right()) if is_traced(left) else left or right()


# --- Branches ------------------------------------------------------------------------------------


@dataclass(eq=False)
class Side:
    """One side of a branch, as arrays in a row; `instead` is the other, where this is one that rejects."""

    f: AnyFunction
    arguments: Arguments
    instead: "Side | None" = None
    structure: Any = field(default=None, init=False)

    def __call__(self, floats: Sequence[Array], others: Sequence[Array]) -> list[Array]:
        try:
            values = self.f(*self.arguments.filled(floats, others))
        except Rejection:
            if self.instead is None:
                raise
            shapes = jax.eval_shape(self.instead, floats, others)
            return [jnp.full(x.shape, -jnp.inf if is_float(x) else 0, x.dtype) for x in shapes]
        except InferenceError:
            raise NotTraceable("a branch depends on parameters, and one side stops the program") from None
        except IndexError:
            raise NotTraceable("an index is out of range in a branch that is compiled but not run") from None
        leaves, self.structure = jax.tree_util.tree_flatten(values)
        return [as_array(x) for x in leaves]

    def pulled(self, floats: Sequence[Array], others: Sequence[Array], g: Sequence[Array]) -> list[Array]:
        """The adjoints of the floats."""
        _, back = jax.vjp(lambda x: [y for y in self(x, others) if is_float(y)], floats)
        return back(g)[0]


def _cond(test: Array, then: Side, otherwise: Side, floats: Any, others: Any) -> list[Array]:
    """The value of the side that is taken, with derivatives of that side alone."""

    def value(*args: Any) -> Any:
        return jax.lax.cond(args[0], then, otherwise, *args[1:])

    def forward(*args: Any) -> tuple[Any, Any]:
        return value(*args), args

    def backward(saved: Any, g: Any) -> tuple[Any, ...]:
        test, floats, others = saved
        g = [x for x in g if is_float(x)]
        return None, jax.lax.cond(test, then.pulled, otherwise.pulled, floats, others, g), None

    with_derivatives = jax.custom_vjp(value)
    with_derivatives.defvjp(forward, backward)
    return with_derivatives(test, floats, others)


# --- Loops ---------------------------------------------------------------------------------------


def _while(goes_on: AnyFunction, step: AnyFunction, state: tuple[Any, ...], fixed: tuple[Any, ...]) -> Any:
    """The state after the steps, with derivatives that went forward."""
    at, read = Arguments.of(jax.tree_util.tree_map(as_array, state)), Arguments.of(fixed)
    x, unravelled = ravel_pytree(at.floats)
    p, read_again = ravel_pytree(read.floats)
    width, inputs = x.size, x.size + p.size
    if width * inputs > MOST_SENSITIVITIES:
        raise NotTraceable("a loop whose end depends on parameters carries too many numbers")

    def named(x: Array, ns: Any, p: Array, qs: Any) -> Any:
        return *at.filled(unravelled(x), ns), *read.filled(read_again(p), qs)

    def after(x: Array, ns: Any, p: Array, qs: Any) -> tuple[Array, Any]:
        next_state = Arguments.of(jax.tree_util.tree_map(as_array, step(*named(x, ns, p, qs))))
        return ravel_pytree(next_state.floats)[0], next_state.others

    def with_slopes(x: Array, ns: Any, slopes: Array, p: Array, qs: Any) -> tuple[Array, Any, Array]:
        x, back, ns = jax.vjp(lambda x, p: after(x, ns, p, qs), x, p, has_aux=True)
        in_state, in_read = jax.vmap(back)(jnp.eye(width))
        return x, ns, (in_state @ slopes).at[:, width:].add(in_read)

    def run(step: AnyFunction, start: tuple[Any, ...], *given: Any) -> Any:
        def unfinished(at: tuple[Any, ...]) -> Array:
            return jnp.asarray(goes_on(*named(*at[:2], *given)), bool)

        return jax.lax.while_loop(unfinished, lambda at: step(*at, *given), start)

    def value(x: Array, ns: Any, *given: Any) -> Any:
        return run(after, (x, ns), *given)

    def forward(x: Array, ns: Any, *given: Any) -> tuple[Any, Array]:
        x, ns, slopes = run(with_slopes, (x, ns, jnp.eye(width, inputs)), *given)
        return (x, ns), slopes

    def backward(slopes: Array, g: Any) -> tuple[Any, ...]:
        product = g[0] @ slopes
        return product[:width], None, product[width:], None

    with_derivatives = jax.custom_vjp(value)
    with_derivatives.defvjp(forward, backward)
    x, ns = with_derivatives(x, at.others, p, read.others)
    return at.filled(unravelled(x), ns)
