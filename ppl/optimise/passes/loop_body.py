"""Variables that the body of a loop sets and reads, for the passes that run its iterations at once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import declared_names, jumps, walk, walk_statements
from ppl.optimise.passes.batch import Entry
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import INT


def set_once(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """Variables that are given a value where they are declared and never changed."""
    setters = (ir.Declare, ir.Assign, ir.Update)
    counts = Counter(n.name for n in walk_statements(tuple(body)) if isinstance(n, setters))
    return frozenset(name for name, count in counts.items() if count == 1)


def read_entries(body: Sequence[ir.Stmt]) -> frozenset[Entry]:
    """Entries of variables that are read, as they are written."""
    indexed = (n for n in walk(tuple(body)) if isinstance(n, ir.Index) and isinstance(n.base, ir.Var))
    return frozenset((n.base.name, n.items) for n in indexed if isinstance(n.base, ir.Var))


def is_triangle(v: str, s: ir.For) -> bool:
    """Whether an inner loop runs over one side of an outer variable: from v or v + 1, or to v or v - 1."""
    outer, one = ir.Var(v, INT), ir.Const(1, INT)
    plus, minus = OPERATORS["+"].name, OPERATORS["-"].name
    for bound, step in ((s.lower, plus), (s.upper, minus)):
        match bound:
            case ir.Var(name=name) if name == v:
                return True
            case ir.Apply(callee=callee, args=args) if callee.name == step and args == (outer, one):
                return True
    return False


def outer_writes(s: ir.Loop) -> dict[str, list[tuple[ir.IndexItem, ...]]]:
    """How variables from outside the loop are filled inside it; () where one is set whole."""
    inside = declared_names(s.body)
    writes: dict[str, list[tuple[ir.IndexItem, ...]]] = {}
    for n in walk_statements(s.body):
        if isinstance(n, ir.Update | ir.Assign) and n.name not in inside:
            step = n.path[0] if isinstance(n, ir.Update) else ()
            writes.setdefault(n.name, []).append(step if isinstance(step, tuple) else ())
    return writes


def without_continue(body: Sequence[ir.Stmt]) -> ir.Stmts:
    """The same statements with what follows a `continue` in the branches that get there."""
    for k, s in enumerate(body):
        before, rest = body[:k], body[k + 1 :]
        match s:
            case ir.Jump(word="continue"):
                return tuple(before)
            case ir.If(then=then, otherwise=otherwise) if jumps(s, "continue"):
                then, otherwise = (without_continue((*side, *rest)) for side in (then, otherwise))
                return (*before, replace(s, then=then, otherwise=otherwise))
            case ir.Profile(body=inner) if jumps(s, "continue"):
                return (*before, *without_continue((*inner, *rest)))
    return tuple(body)
