"""Functions of the program as the fields that solvers work on.

The points where a solver asks for f are to the function what draws are to the program: it is lifted over
them (passes/solver_functions.py), so that one run of it serves them all.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from autograd.tracer import isbox

from ppl.arrays import AUTOGRAD, NUMPY, Array, Namespace, combs, inexact, pullback, with_vjps
from ppl.floats import Floats
from ppl.optimise.compiled_calls import CompiledCalls, filled, filled_up, kind_of
from ppl.records import dataclass
from ppl.stdlib.solvers.field import DrawNumbers, Rate

AnyFunction = Callable[..., Any]
Pull = Callable[[Floats], list[Any]]
"""From the adjoint of f at some points those of y there and of the leaves that are wanted."""
Placed = Callable[[Any, Any], tuple[Any, ...]]
"""t and y as the first arguments of a function: some take no t."""


@dataclass(frozen=True)
class SolverFunction:
    """One function of the program: for plain numbers, for many points, and for many on a tape.

    `varies` says which arguments of the last two have one value for each point. `calls` are those for many
    that are compiled.
    """

    plain: AnyFunction
    many: AnyFunction
    traced: AnyFunction
    varies: tuple[bool, ...]
    calls: CompiledCalls


@dataclass(frozen=True)
class Leaf:
    """A number or array somewhere in the arguments; with `each`, it has the draws along its first axis."""

    value: Any
    each: bool

    @property
    def plain(self) -> Any:
        return self.value._value if isbox(self.value) else self.value

    def broadcast(self, draws: int) -> Floats:
        """One value for each draw."""
        plain = np.asarray(self.plain, dtype=float)
        return plain if self.each else np.broadcast_to(plain, (draws, *plain.shape))

    def adjoint(self, each: Floats) -> Any:
        """That of the leaf, from one for each draw."""
        return each if self.each else each.sum(axis=0)


@dataclass(frozen=True)
class Each:
    """An argument that has one value for each draw."""

    value: Any


def leaves(x: Any, each: bool = False) -> Iterator[Leaf]:
    """Those of an argument, tuples and arrays of tuples looked into."""
    if isinstance(x, Each):
        yield from leaves(x.value, True)
    elif isinstance(x, list | tuple):
        for item in x:
            yield from leaves(item, each)
    else:
        yield Leaf(x, each)


def rebuilt(x: Any, values: Iterator[Any]) -> Any:
    """The argument with other leaves."""
    if isinstance(x, Each):
        return rebuilt(x.value, values)
    return type(x)(rebuilt(item, values) for item in x) if isinstance(x, list | tuple) else next(values)


@with_vjps(lambda xp, g, ans, x, rows: _added_at(g, rows, np.shape(x)), None)
def picked(xp: Namespace, x: Array, rows: DrawNumbers) -> Array:
    """x[rows], some of them more than once."""
    return np.asarray(x[rows])


@with_vjps(lambda xp, g, ans, x, count: g.sum(axis=0), None)
def repeated(xp: Namespace, x: Array, count: int) -> Array:
    """x for each of `count` points."""
    return np.broadcast_to(x, (count, *np.shape(x)))


def _added_at(g: Array, rows: DrawNumbers, shape: tuple[int, ...]) -> Array:
    """The sums of g (n, ...) over its rows for each of the first axis of a shape."""
    size = math.prod(shape[1:])
    places = np.add.outer(rows * size, np.arange(size))
    return np.bincount(places.ravel(), np.ravel(g), math.prod(shape)).reshape(shape)


@dataclass(frozen=True)
class ProgramField:
    """f(t, y, *shared), shared being the same for all points or one for each draw."""

    function: SolverFunction
    placed: Placed
    shared: tuple[Any, ...]
    differentiated: tuple[int, ...] = ()
    """Which leaves of `shared` are to have adjoints."""

    @cached_property
    def leaves(self) -> list[Leaf]:
        return list(leaves(self.shared))

    @cached_property
    def wanted_each(self) -> list[bool]:
        """Of which leaves the function for many points takes one value for each."""
        own = self.function.varies[len(self.function.varies) - len(self.shared) :]
        return [varies for x, varies in zip(self.shared, own, strict=True) for _ in leaves(x)]

    def values(self, t: Floats, y: Floats, draws: DrawNumbers) -> Floats:
        return self.of(draws, y.shape[1])(t, y)

    def of(self, draws: DrawNumbers, n: int) -> Rate:
        if len(draws) == 1:
            of_draw = self._of_draw(draws[0])
            return lambda t, y: flat(self.function.plain(*self.placed(t[0], y[0]), *of_draw), (1, -1))
        points = Points.of(self, draws)
        compiled = points.compiled(n) if points else None
        return either(compiled, lambda: self._emitted(draws)) if compiled else self._emitted(draws)

    def _emitted(self, draws: DrawNumbers) -> Rate:
        at_points = self.at_points([leaf.plain for leaf in self.leaves], draws)
        return lambda t, y: flat(self.function.many(*self.placed(t, y), *at_points), y.shape)

    def _of_draw(self, draw: int) -> Any:
        if self._same is not None:
            return self._same
        of_draw = (leaf.plain[draw] if leaf.each else leaf.plain for leaf in self.leaves)
        return rebuilt(self.shared, of_draw)

    @cached_property
    def _same(self) -> Any:
        """`shared` as plain values, where they are the same for all draws."""
        if any(leaf.each for leaf in self.leaves):
            return None
        return rebuilt(self.shared, (leaf.plain for leaf in self.leaves))

    def at_points(self, values: Sequence[Any], draws: DrawNumbers) -> Any:
        """The further arguments at points of the draws, from the values of their leaves."""
        each = zip(self.leaves, values, self.wanted_each, strict=True)
        return rebuilt(self.shared, iter([at_each(leaf, x, draws, wanted) for leaf, x, wanted in each]))

    @property
    def differentiated_values(self) -> list[Array]:
        return [inexact(self.leaves[i].plain) for i in self.differentiated]

    def values_with(self, boxes: Sequence[Array]) -> list[Any]:
        """The values of the leaves, boxes of those that are differentiated."""
        values = [leaf.plain for leaf in self.leaves]
        for i, box in zip(self.differentiated, boxes, strict=True):
            values[i] = box
        return values

    def linearised(self, t: Floats, y: Floats, draws: DrawNumbers) -> "Linearised":
        points = Points.of(self, draws)
        pull = points.compiled_pull(t, y) if points else None
        through = either(pull, lambda: self._tape(t, y, draws)) if pull else self._tape(t, y, draws)
        return Linearised(through, y.shape)

    def _tape(self, t: Floats, y: Floats, draws: DrawNumbers) -> Pull:
        def run(traced: list[Array]) -> Array:
            state, *boxes = traced
            return self.function.traced(
                *self.placed(t, state), *self.at_points(self.values_with(boxes), draws)
            )

        end, pull = pullback(run, [y, *self.differentiated_values])
        return lambda weights: pull(np.reshape(weights, np.shape(end)))


@dataclass(frozen=True)
class Points:
    """The inputs of f at `size` points: those of some draws, and the last of them again.

    `leaves` are the values of the arguments beside t and y, `kind` is what a trace of f depends on of them.
    """

    field: ProgramField
    draws: DrawNumbers
    size: int
    leaves: list[Array]
    kind: Any

    @classmethod
    def of(cls, field: ProgramField, draws: DrawNumbers) -> "Points | None":
        """None where there are too many."""
        if not (size := filled(len(draws))):
            return None
        draws_filled = filled_up(draws, size)
        each = zip(field.leaves, field.wanted_each, strict=True)
        leaves = [at_each(leaf, leaf.plain, draws_filled, wanted) for leaf, wanted in each]
        return cls(field, draws, size, leaves, tuple(map(kind_of, leaves)))

    @cached_property
    def reals(self) -> list[int]:
        """Which leaves are real numbers; a trace takes others as they are."""
        return [k for k, leaf in enumerate(self.leaves) if np.asarray(leaf).dtype.kind == "f"]

    @cached_property
    def inputs(self) -> list[Array]:
        """The leaves that are real."""
        return [np.asarray(self.leaves[k]) for k in self.reals]

    def run(self, inputs: Sequence[Array]) -> Any:
        """f of t, y and the leaves that are real."""
        t, y, *reals = inputs
        leaves = dict(zip(self.reals, reals, strict=True))
        values = iter([leaves.get(k, leaf) for k, leaf in enumerate(self.leaves)])
        placed = self.field.placed(t, y)
        return self.field.function.calls.function(*placed, *rebuilt(self.field.shared, values))

    def compiled(self, n: int) -> Rate | None:
        """f of n numbers at these points, where it is compiled."""
        size, inputs, m = self.size, self.inputs, len(self.draws)
        some = np.zeros(size), np.zeros((size, n)), *inputs
        if (f := self.field.function.calls.value((size, n, self.kind), self.run, some)) is None:
            return None
        if size == m:
            return lambda t, y: flat(f(t, y, *inputs), y.shape)
        return lambda t, y: flat(f(filled_up(t, size), filled_up(y, size), *inputs), (size, n))[:m]

    def compiled_pull(self, t: Floats, y: Floats) -> Pull | None:
        """That of f at these t and y, where it is compiled."""
        places, shape = [2 + self.reals.index(i) for i in self.field.differentiated], (self.size, y.shape[1])
        inputs, m = (filled_up(t, self.size), filled_up(y, self.size), *self.inputs), len(y)
        pull = self.field.function.calls.pull((*shape, self.kind), self.run, inputs, shape, [1, *places])
        if pull is None:
            return None

        def through(weights: Floats) -> list[Any]:
            full = np.zeros(shape)
            full[:m] = weights.reshape(m, -1)
            _, (_, _, of_y, *of_inputs) = pull(full, *inputs)
            each = zip(self.field.differentiated, places, strict=True)
            return [of_y[:m], *(self._of_leaf(i, of_inputs[k - 2]) for i, k in each)]

        return through

    def _of_leaf(self, i: int, adjoint: Array) -> Array:
        """The adjoint of a leaf, from that at the points."""
        leaf, m = self.field.leaves[i], len(self.draws)
        if leaf.each:
            return _added_at(adjoint[:m], self.draws, np.shape(leaf.plain))
        return adjoint[:m].sum(axis=0) if self.field.wanted_each[i] else adjoint


def either(compiled: AnyFunction, emitted: Callable[[], AnyFunction]) -> AnyFunction:
    """A compiled function; as it is emitted it raises an error again, which is then located."""

    def run(*args: Any) -> Any:
        try:
            return compiled(*args)
        except Exception:
            return emitted()(*args)

    return run


def flat(value: Any, shape: tuple[int, ...]) -> Floats:
    """The values of the function of the program at the points, as one array."""
    return np.asarray(value, dtype=float).reshape(shape)


def at_each(leaf: Leaf, x: Any, draws: DrawNumbers, wanted: bool) -> Any:
    """A leaf at points of the draws, whose value or a box of it is x; one for each point where `wanted`."""
    xp = AUTOGRAD if isbox(x) else NUMPY
    if leaf.each:
        return picked(xp, x, draws)
    return repeated(xp, x, len(draws)) if wanted else x


@dataclass(frozen=True)
class Linearised:
    """f about m points with n values each, on one tape."""

    through: Pull
    shape: tuple[int, ...]

    @cached_property
    def jacobians(self) -> Floats:
        m, n = self.shape
        out = np.zeros((m, n, n))
        for k, g in enumerate(combs(n, self.shape)):
            out[:, k] = self.through(g)[0]
        return out

    def pull(self, weights: Floats) -> list[Any]:
        return self.through(weights)[1:]
