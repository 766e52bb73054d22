"""Indices counted from zero, in the IR, so that what depends on data alone can be hoisted.

A literal becomes a literal, a loop variable that starts at 1 or above loses one, everything else is
checked: an index below 1 must not count from the end, as it would in Python.
"""

from collections.abc import Set
from dataclasses import replace

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import rewrite, walk_statements
from ppl.stdlib import batching
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import INT


class IndexBelowOne(IndexError):
    """An `index`, or some of an array of them, is below 1."""

    def __init__(self, index: Array, lowest: int):
        super().__init__(f"The index {lowest} is out of range: indices start at 1.")
        self.index = index


def zero_based(xp: Namespace, index: Array) -> Array:
    """A 1-based int, or array of them, counted from zero.

    What JAX traces is not known here; the same program was run with the same data before.

    Raises:
        IndexBelowOne: an index is below 1; above the size of the axis the access itself raises.
    """
    known = isinstance(index, int | np.integer | np.ndarray)
    lowest = (index.min() if index.size else 1) if isinstance(index, np.ndarray) else index
    if known and lowest < 1:
        raise IndexBelowOne(index, lowest)
    return index - 1


ZERO_BASED = ir.Callee("zero_based", zero_based, "elementwise")
MINUS = ir.Callee(OPERATORS["-"].name, OPERATORS["-"].overloads[0].impl, "elementwise")


COUNTED = (batching.positions, batching.nested_positions, batching.where_true, batching.where_false)
RANGES = {batching.loop_range: 0, batching.nested_range: 1}
"""Ranges, by the argument that is their lower end."""


def count_from_zero(p: ir.Program) -> ir.Program:
    """Indices count from zero; indices that are unknown are checked.

    Run it last before hoisting, as others look for plain `x[n]`.
    """
    safe = positive_names(p)

    def change(node: object) -> object:
        match node:
            case ir.At(index=index):
                return ir.At(shifted(index, safe))
            case ir.Gather(picks=picks) | ir.Scatter(picks=picks) if picks:
                return replace(node, picks=tuple(None if at is None else shifted(at, safe) for at in picks))
        return node

    return rewrite(p, change)


def positive_names(p: ir.Program) -> Set[str]:
    """Variables that are at least 1 wherever they are set: of loops that start at a literal of at least 1,
    and indices of a batch that are taken from a range, from positions, or from others such.
    """
    others = {a for f in p.functions for a in f.args} | {d.name for d in p.data}
    values: dict[str, list[ir.Expr]] = {}
    for n in walk_statements(p):
        match n:
            case ir.Assign(name=name, value=value):
                values.setdefault(name, []).append(value)
            case ir.For(variable=name, lower=lower) if is_one_or_more(lower):
                values.setdefault(name, [])
            case ir.For(variable=name) | ir.Declare(name=name) | ir.Update(name=name) | ir.Scatter(name=name):
                others.add(name)
    safe = values.keys() - others
    while left_out := {name for name in safe if not all(is_positive(value, safe) for value in values[name])}:
        safe -= left_out
    return safe


def is_positive(value: ir.Expr, safe: Set[str]) -> bool:
    """Whether a value is an array of indices, none below 1."""
    match value:
        case ir.Apply(ir.Callee(impl=impl), args) if impl in RANGES:
            return is_one_or_more(args[RANGES[impl]])
        case ir.Apply(ir.Callee(impl=impl)):
            return impl in COUNTED
        case ir.Gather(ir.Var(name)):
            return name in safe
        case _:
            return False


def is_one_or_more(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and e.value >= 1


def shifted(index: ir.Expr, safe: Set[str]) -> ir.Expr:
    if isinstance(index, ir.Const) and index.value >= 1:
        return ir.Const(index.value - 1, INT)
    if isinstance(index, ir.Var) and index.name in safe:
        return ir.Apply(MINUS, (index, ir.Const(1, INT)), index.type)
    return ir.Apply(ZERO_BASED, (index,), index.type)
