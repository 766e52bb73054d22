"""Indices counted from zero, in the IR, so that what depends on data alone can be hoisted.

A literal becomes a literal, a loop variable that starts at 1 or above loses one, everything else is
checked: an index below 1 must not count from the end, as it would in Python.
"""

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.ir import nodes as ir
from ppl.ir.walk import rewrite, walk
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import INT


def zero_based(xp: Namespace, index: Array) -> Array:
    """A 1-based int, or array of them, counted from zero.

    What JAX traces is not known here; the same program was run with the same data before.

    Raises:
        IndexError: an index is below 1; above the size of the axis the access itself raises.
    """
    if isinstance(index, int | np.integer | np.ndarray) and np.any(np.less(index, 1)):
        lowest = int(np.min(index))
        raise IndexError(f"The index {lowest} is out of range: indices start at 1.")
    return index - 1


ZERO_BASED = ir.Callee("zero_based", zero_based, "elementwise")
MINUS = ir.Callee(OPERATORS["-"].name, OPERATORS["-"].overloads[0].impl, "elementwise")


def count_from_zero(p: ir.Program) -> ir.Program:
    """The pass; run it last before hoisting, as others look for plain `x[n]`."""
    safe = positive_loops(p)

    def change(node: object) -> object:
        return ir.At(shifted(node.index, safe)) if isinstance(node, ir.At) else node

    return rewrite(p, change)  # type: ignore[no-any-return]


def positive_loops(p: ir.Program) -> frozenset[str]:
    """Loop variables that every loop starts at a literal of at least 1, and nothing else sets."""
    loops = [n for n in walk(p) if isinstance(n, ir.For)]
    good = {s.variable for s in loops if isinstance(s.lower, ir.Const) and s.lower.value >= 1}
    bad = {s.variable for s in loops if not (isinstance(s.lower, ir.Const) and s.lower.value >= 1)}
    others = {n.name for n in walk(p) if isinstance(n, ir.Declare | ir.Assign | ir.Update | ir.Scatter)}
    others |= {n.variable for n in walk(p) if isinstance(n, ir.ForEach)}
    others |= {a for f in p.functions for a in f.args} | {d.name for d in p.data}
    return frozenset(good - bad - others)


def shifted(index: ir.Expr, safe: frozenset[str]) -> ir.Expr:
    if isinstance(index, ir.Const) and index.value >= 1:
        return ir.Const(index.value - 1, INT)
    if isinstance(index, ir.Var) and index.name in safe and index.type == INT:
        return ir.Apply(MINUS, (index, ir.Const(1, INT)), INT)
    return ir.Apply(ZERO_BASED, (index,), index.type)
