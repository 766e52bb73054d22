"""What loops that became arrays store: no variable has an axis that it has no use for.

Scratch that is declared for each iteration of a loop has the axis of the loop before its own.  Where every
store is at an entry that the iteration itself numbers, `mu[n]` of a loop over n, one axis would do for
both: N x N numbers are made for N.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.stdlib import batching

WRITES = (ir.Assign, ir.Update, ir.Scatter)


class UselessAxis(Exception):
    """A variable has an axis of a loop whose iterations already number its entries."""


def check_stores(body: Sequence[ir.Stmt]) -> None:
    """Check the statements of a block, after any pass.

    Raises:
        UselessAxis: a variable has the axis of a loop twice.
    """
    nodes = list(walk(tuple(body)))
    values = {n.name: n.value for n in nodes if isinstance(n, ir.Assign)}
    writes: dict[str, list[Any]] = {}
    for n in nodes:
        if isinstance(n, WRITES):
            writes.setdefault(n.name, []).append(n)
    for d in nodes:
        if isinstance(d, ir.Declare) and d.name in writes:
            for loop in loops_of(d.shape):
                if all(is_numbered(s, loop, values) for s in writes[d.name]):
                    raise UselessAxis(
                        f"{d.span.describe()}\n`{d.name}` has an entry of its own for each iteration, and an "
                        "axis of the loop besides"
                    )


def loops_of(shape: ir.DeclaredSizes) -> list[str]:
    """The index sets of the loops that a variable has axes of."""
    axes = shape if isinstance(shape, tuple) else ()
    calls = (a for a in axes if isinstance(a, ir.Apply) and a.callee.impl is batching.batch_size)
    return [call.args[0].name for call in calls if isinstance(call.args[0], ir.Var)]


def is_numbered(s: ir.Stmt, loop: str, values: Mapping[str, Any]) -> bool:
    """Whether a statement stores at an entry that the iteration numbers, beside its place in the loop."""
    return isinstance(s, ir.Scatter) and any(
        isinstance(item, ir.At) and is_iteration(item.index, loop, values) for item in s.items
    )


def is_iteration(e: ir.Expr, loop: str, values: Mapping[str, Any]) -> bool:
    """Whether an index is the variable of the loop, counted from anywhere."""
    match e:
        case ir.Var(name=name):
            return name == loop or (name in values and is_iteration(values[name], loop, values))
        case ir.Index(base=base) | ir.Gather(base=base):
            return base == ir.Var(loop, base.type)
        case ir.Apply(callee=callee, args=(index, *others)) if callee.name in (
            "add",
            "subtract",
            "zero_based",
        ):
            return all(isinstance(o, ir.Const) for o in others) and is_iteration(index, loop, values)
        case _:
            return False
