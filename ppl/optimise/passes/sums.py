"""Variables that a loop only adds to: `a += e` is one sum over all iterations.

Nothing else in the loop may mention the variable.  In a nest it is one sum for each entry of the batch that
the variable belongs to; `x[g[n], k] += e` is one for each entry of the variable.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.stdlib.functions.operators import OPERATORS, require_int
from ppl.types import rank

PLUS, MINUS = OPERATORS["+"].name, OPERATORS["-"].name
SETTERS = (ir.Declare, ir.Assign, ir.Update, ir.Scatter, ir.CheckDeclared)


def addend(s: ir.Stmt) -> tuple[ir.Apply, ir.Expr] | None:
    """The sum or difference on the right of `a = a + e` or `x[i] = x[i] - e`, and `e`."""
    match s:
        case ir.Assign(name=name, declares=False):
            items: tuple[ir.IndexItem, ...] = ()
        case ir.Update(name=name, path=(tuple() as items,)):
            pass
        case _:
            return None
    match unchecked(s.value):
        case ir.Apply(callee=callee, args=(left, e)) as sum_ if callee.name in (PLUS, MINUS):
            base, at = (left.base, left.items) if isinstance(left, ir.Index) else (left, ())
            same = isinstance(base, ir.Var) and base.name == name and at == items
            return (sum_, e) if same and rank(e.type) == rank(sum_.type) else None
    return None


def unchecked(value: ir.Expr) -> ir.Expr:
    """An int sum without its check to have 32 bits."""
    checks = isinstance(value, ir.Apply) and value.callee.impl is require_int
    return value.args[0] if isinstance(value, ir.Apply) and checks else value


def with_sum(value: ir.Expr, sum_: ir.Apply) -> ir.Expr:
    """The value with another sum in it, which may be one for each entry of a batch."""
    if unchecked(value) is value:
        return sum_
    assert isinstance(value, ir.Apply)
    return replace(value, args=(sum_,), type=sum_.type)


def accumulated(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """Names that the statements only ever add to."""
    nodes = list(walk(tuple(body)))
    mentions = Counter(n.name for n in nodes if isinstance(n, (ir.Var, *SETTERS)))
    additions = Counter(n.name for n in nodes if isinstance(n, ir.Assign | ir.Update) and addend(n))
    return frozenset(name for name, count in additions.items() if mentions[name] == 2 * count)
