"""Variables that the body of a loop sets and reads, for the passes that run its iterations at once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import Fresh, declared_names, jumps, walk, walk_statements, with_blocks
from ppl.optimise.passes.batch import Entry, Write
from ppl.optimise.passes.inline import rename
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


def with_own_variables(s: ir.For, fresh: Fresh) -> ir.For:
    """The loop, each loop inside it with a variable of another name."""
    names = {s.variable}

    def change(body: ir.Stmts) -> ir.Stmts:
        return tuple(
            renamed(each) if isinstance(each, ir.For) else with_blocks(each, change) for each in body
        )

    def renamed(inner: ir.For) -> ir.For:
        name = inner.variable if inner.variable not in names else fresh(inner.variable)
        names.add(name)
        own = inner if name == inner.variable else rename(inner, {inner.variable: name}, {})
        return replace(own, body=change(own.body))

    return replace(s, body=change(s.body))


def outer_writes(s: ir.Loop) -> dict[str, list[Write]]:
    """How variables from outside the loop are filled inside it."""
    inside = declared_names(s.body)
    writes: dict[str, list[Write]] = {}

    def visit(body: Sequence[ir.Stmt], loops: frozenset[str]) -> None:
        for n in body:
            if isinstance(n, ir.Update | ir.Assign) and n.name not in inside:
                step = n.path[0] if isinstance(n, ir.Update) else ()
                write = Write(step if isinstance(step, tuple) else (), loops)
                writes.setdefault(n.name, []).append(write)
            if isinstance(n, ir.For):
                visit(n.body, loops | {n.variable})
            elif isinstance(n, ir.If):
                visit((*n.then, *n.otherwise), loops)
            elif isinstance(n, ir.While | ir.Profile):
                visit(n.body, loops)

    visit((s,), frozenset())
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
