"""Functions of the program as the fields that solvers work on.

The points where a solver asks for f look to emitted code like draws (per_draw.py), so one run of the function
serves them all; where a branch sends them different ways, they go in groups.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from autograd.tracer import isbox

from ppl.arrays import AUTOGRAD, NUMPY, Array, Namespace, inexact, pullback, with_vjps
from ppl.backend.per_draw import PerDraw, in_groups, laid_out
from ppl.stdlib.solvers.field import Draws, Floats

Function = Callable[..., Any]
Pull = Callable[[Floats], list[Any]]
"""From the adjoint of f at some points those of y there and of the leaves that are wanted."""
Placed = Callable[[Any, Any], tuple[Any, ...]]
"""t and y as the first arguments of a function: some take no t."""


@dataclass(frozen=True)
class Forms:
    """One function of the program: for plain numbers, for many points, and for many on a tape."""

    plain: Function
    many: Function
    traced: Function


@dataclass(frozen=True)
class Leaf:
    """A number or array somewhere in the arguments; with `each`, it has the draws along its first axis."""

    value: Any
    each: bool

    @property
    def plain(self) -> Any:
        return self.value._value if isbox(self.value) else self.value

    def laid_out(self, draws: int) -> Floats:
        """One value for each draw."""
        plain = np.asarray(self.plain, dtype=float)
        return plain if self.each else np.broadcast_to(plain, (draws, *plain.shape))

    def adjoint(self, each: Floats) -> Any:
        """That of the leaf, from one for each draw."""
        return each if self.each else each.sum(axis=0)


def leaves(x: Any) -> Iterator[Leaf]:
    """Those of an argument, tuples and arrays of tuples looked into."""
    if isinstance(x, list | tuple):
        for item in x:
            yield from leaves(item)
    else:
        yield Leaf(x.each, True) if isinstance(x, PerDraw) else Leaf(x, False)


def rebuilt(x: Any, values: Iterator[Any]) -> Any:
    """The argument with other leaves."""
    return type(x)(rebuilt(item, values) for item in x) if isinstance(x, list | tuple) else next(values)


@with_vjps(lambda xp, g, ans, x, rows: _added_at(g, rows, np.shape(x)), None)
def picked(xp: Namespace, x: Array, rows: Draws) -> Array:
    """x[rows], some of them more than once."""
    return np.asarray(x[rows])


@with_vjps(lambda xp, g, ans, x, count: g.sum(axis=0), None)
def repeated(xp: Namespace, x: Array, count: int) -> Array:
    """x for each of `count` points."""
    return np.broadcast_to(x, (count, *np.shape(x)))


def _added_at(g: Array, rows: Draws, shape: tuple[int, ...]) -> Array:
    out = np.zeros(shape)
    np.add.at(out, rows, g)
    return out


@dataclass(frozen=True)
class OfProgram:
    """f(t, y, *shared), shared being the same for all points or one for each draw."""

    forms: Forms
    placed: Placed
    shared: tuple[Any, ...]
    differentiated: tuple[int, ...] = ()
    """Which leaves of `shared` are to have adjoints."""

    @cached_property
    def leaves(self) -> list[Leaf]:
        return list(leaves(self.shared))

    def values(self, t: Floats, y: Floats, draws: Draws) -> Floats:
        if len(draws) == 1:
            found = self.forms.plain(*self.placed(t[0], y[0]), *self._of_draw(draws[0]))
            return np.asarray(found, dtype=float).reshape(1, -1)
        out = np.empty(y.shape)
        for at, found in in_groups(np.arange(len(draws)), lambda at: self._many(t[at], y[at], draws[at])):
            out[at] = found
        return out

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

    def _many(self, t: Floats, y: Floats, draws: Draws) -> Floats:
        at_points = (PerDraw(NUMPY, x.plain[draws]) if x.each else x.plain for x in self.leaves)
        point = self.placed(PerDraw(NUMPY, t), PerDraw(NUMPY, y))
        found = self.forms.many(*point, *rebuilt(self.shared, at_points))
        return np.asarray(laid_out(found, len(draws)), dtype=float).reshape(y.shape)

    def linearised(self, t: Floats, y: Floats, draws: Draws) -> "Tapes":
        run = in_groups(np.arange(len(draws)), lambda at: self._tape(t[at], y[at], draws[at]))
        return Tapes(run, y.shape, [self.leaves[i].plain for i in self.differentiated])

    def _tape(self, t: Floats, y: Floats, draws: Draws) -> Pull:
        def run(traced: list[Array]) -> Array:
            state, *boxes = traced
            at_leaves = [leaf.plain for leaf in self.leaves]
            for i, box in zip(self.differentiated, boxes, strict=True):
                at_leaves[i] = box
            at_points = (at_each(leaf, x, draws) for leaf, x in zip(self.leaves, at_leaves, strict=True))
            point = self.placed(PerDraw(AUTOGRAD, t), PerDraw(AUTOGRAD, state))
            return laid_out(self.forms.traced(*point, *rebuilt(self.shared, at_points)), len(draws))

        differentiated = [inexact(self.leaves[i].plain) for i in self.differentiated]
        end, pull = pullback(run, [y, *differentiated])
        return lambda weights: pull(np.reshape(weights, np.shape(end)))


def at_each(leaf: Leaf, x: Any, draws: Draws) -> Any:
    """A leaf at points of the draws; x is its value, or a box of it."""
    if leaf.each:
        return PerDraw(AUTOGRAD, picked(AUTOGRAD, x, draws))
    return PerDraw(AUTOGRAD, repeated(AUTOGRAD, x, len(draws))) if isbox(x) else x


@dataclass(frozen=True)
class Tapes:
    """f about m points with n values each, on one tape for each group of them."""

    parts: Sequence[tuple[Draws, Pull]]
    shape: tuple[int, ...]
    differentiated: Sequence[Any]

    @cached_property
    def jacobians(self) -> Floats:
        m, n = self.shape
        out = np.zeros((m, n, n))
        for at, pull in self.parts:
            for k in range(n):
                g = np.zeros((len(at), n))
                g[:, k] = 1.0
                out[at, k] = pull(g)[0]
        return out

    def pull(self, weights: Floats) -> list[Any]:
        out = [np.zeros(np.shape(x)) for x in self.differentiated]
        for at, pull in self.parts:
            out = [total + part for total, part in zip(out, pull(weights[at])[1:], strict=True)]
        return out
