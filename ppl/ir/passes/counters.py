"""Loops that count beside their own variable, written with that variable alone.

`for (e in x)` becomes a loop over the indices of x.  An int that every iteration adds one constant to, as
`i += 1` at the end does, is where it started plus that many times the iterations so far; so it is carried no
longer, and the loop may become arrays.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ppl.ir import nodes as ir
from ppl.ir.linear import int_sum, linear
from ppl.ir.passes.recurrence import entry_type, substituted
from ppl.ir.walk import assigned_names, walk
from ppl.stdlib import batching
from ppl.types import INT, Matrix, Tuple, core

Stmts = tuple[ir.Stmt, ...]
SETTERS = (ir.Declare, ir.Assign, ir.Update)


def count_by_loops(p: ir.Program) -> ir.Program:
    """The pass."""
    names = Names()
    return replace(
        p,
        functions=tuple(replace(f, body=counted(f.body, names)) for f in p.functions),
        transformed_parameters=counted(p.transformed_parameters, names),
        model=counted(p.model, names),
    )


class Names:
    """Fresh names."""

    def __init__(self) -> None:
        self.count = 0

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{hint}_{self.count}_count__"


def counted(body: Sequence[ir.Stmt], names: Names) -> Stmts:
    return tuple(out for s in body for out in statement(s, names))


def statement(s: ir.Stmt, names: Names) -> Stmts:
    match s:
        case ir.ForEach(body=body) if over_indices(s):
            return without_counters(*by_index(replace(s, body=counted(body, names)), names))
        case ir.For(body=body):
            return without_counters((), replace(s, body=counted(body, names)))
        case ir.ForEach(body=body) | ir.While(body=body) | ir.Profile(body=body):
            return (replace(s, body=counted(body, names)),)
        case ir.If(then=then, otherwise=otherwise):
            return (replace(s, then=counted(then, names), otherwise=counted(otherwise, names)),)
        case _:
            return (s,)


# --- Loops over elements -------------------------------------------------------------------------


def over_indices(s: ir.ForEach) -> bool:
    """Whether the elements stand along one axis and the loop leaves them alone."""
    t = s.iterable.type
    changed = isinstance(s.iterable, ir.Var) and s.iterable.name in assigned_names(s.body)
    return not (t == Matrix() or isinstance(core(t), Tuple) or changed)


def by_index(s: ir.ForEach, names: Names) -> tuple[Stmts, ir.For]:
    whole = s.iterable
    before: Stmts = ()
    if not isinstance(whole, ir.Var):
        whole = ir.Var(names.fresh(s.variable), s.iterable.type)
        before = (ir.Assign(whole.name, s.iterable, s.span, declares=True),)
    at = ir.Var(names.fresh("at"), INT)
    size = ir.Apply(ir.Callee("batch_size", batching.batch_size, "none"), (whole,), INT)
    entry = ir.Index(whole, (ir.At(at),), entry_type(whole.type))
    first = ir.Assign(s.variable, entry, s.span, declares=True)
    return before, ir.For(at.name, ir.Const(1, INT), size, (first, *s.body), s.span)


# --- Counters ------------------------------------------------------------------------------------


def without_counters(before: Stmts, s: ir.For) -> Stmts:
    """The loop with each counter as a sum, and after it what the counter has come to."""
    for k, step in enumerate(s.body):
        sign = increment(step, s)
        if sign and isinstance(step, ir.Assign):
            start, so_far = ir.Var(step.name, INT), int_sum("-", ir.Var(s.variable, INT), s.lower)
            now = int_sum(sign, start, so_far)
            then = int_sum(sign, now, ir.Const(1, INT))
            earlier = tuple(substituted(b, step.name, now) for b in s.body[:k])
            later = tuple(substituted(b, step.name, then) for b in s.body[k + 1 :])
            trips = ir.Apply(ir.Callee("trips", batching.trips, "none"), (s.lower, s.upper), INT)
            after = ir.Assign(step.name, int_sum(sign, start, trips), step.span)
            return (*before, *without_counters((), replace(s, body=(*earlier, *later))), after)
    return (*before, s)


def increment(step: ir.Stmt, s: ir.For) -> Literal["+", "-", ""]:
    """Whether the statement adds one to a counter of the loop, or takes one away."""
    if not isinstance(step, ir.Assign) or step.declares or step.value.type != INT:
        return ""
    if linear(s.lower) is None or any(isinstance(n, ir.Jump | ir.Return) for n in walk(s.body)):
        return ""
    by = linear(step.value)
    settings = [n for n in walk(s.body) if isinstance(n, SETTERS) and n.name == step.name]
    if by is None or by.terms != {(step.name, 1)} or abs(by.constant) != 1 or len(settings) > 1:
        return ""
    return "+" if by.constant == 1 else "-"
