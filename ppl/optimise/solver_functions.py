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
from ppl.records import dataclass
from ppl.stdlib.solvers.field import DrawNumbers, Rate, SolverFunction

Pull = Callable[[Floats], list[Any]]
"""From the adjoint of f at some points those of y there and of the leaves that are wanted."""
Placed = Callable[[Any, Any], tuple[Any, ...]]
"""t and y as the first arguments of a function: some take no t."""


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
        return self.of(draws)(t, y)

    def of(self, draws: DrawNumbers) -> Rate:
        if len(draws) == 1:
            of_draw = self._of_draw(draws[0])
            return lambda t, y: flat(self.function.plain(*self.placed(t[0], y[0]), *of_draw), (1, -1))
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
        return Linearised(self._tape(t, y, draws), y.shape)

    def _tape(self, t: Floats, y: Floats, draws: DrawNumbers) -> Pull:
        def run(traced: list[Array]) -> Array:
            state, *boxes = traced
            return self.function.traced(
                *self.placed(t, state), *self.at_points(self.values_with(boxes), draws)
            )

        end, pull = pullback(run, [y, *self.differentiated_values])
        return lambda weights: pull(np.reshape(weights, np.shape(end)))


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
