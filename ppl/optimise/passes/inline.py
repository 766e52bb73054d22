"""Calls of the program's own functions written out where they stand, for a loop that is to become arrays.

A function can be written out when it returns at the end of each path, not from inside a loop, and does not
call itself; or does so down from a known int.  Its arguments and locals get fresh names; its result becomes a
variable that is set before the statement that called it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import folded
from ppl.kernel.ir.walk import (
    Fresh,
    Rewriter,
    assigned_names,
    ends_in,
    fresh_names,
    functions_where,
    used_names,
    walk,
    with_parts,
    with_sure_parts,
)
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.types import INT, rank


@dataclass(frozen=True)
class InlineLimits:
    """The limits of inlining in a loop that is to become arrays."""

    longest: int = 1200
    """Nodes of a function that is written out."""

    most_calls: int = 64
    """Calls of functions that call themselves that are written out in one loop."""

    deepest: int = 32
    """Calls of such functions that are written out inside of each other."""


INLINING = InlineLimits()


class NotInlinable(Exception):
    """The function's shape does not allow it."""


@dataclass(frozen=True)
class Inline(Rewriter):
    """`functions` by emitted name; `fresh(hint)` gives an unused name."""

    functions: Mapping[str, ir.Function]
    fresh: Fresh
    unfolded: list[str] = field(default_factory=list)
    """The calls of functions that call themselves, as far as they have been written out."""
    with_rng: bool = False
    """Functions that draw random numbers may be written out, before what else the statement draws."""
    depth: int = 0
    """How many calls of functions that call themselves are around this one."""
    invariant: frozenset[str] | None = None
    """In a loop, what is the same in all iterations: a call of these alone is made once, as it stands."""

    def statement(self, s: ir.Stmt) -> ir.Stmts:
        """The statement after the statements of every function it calls for certain."""
        match s:
            case ir.For() | ir.While() | ir.Profile():  # a call in a condition is made anew each time
                return (replace(s, body=self.statements(s.body)),)
            case ir.If(then=then, otherwise=otherwise):
                before: list[ir.Stmt] = []
                condition = self.expression(s.condition, s.span, before)
                sides = self.statements(then), self.statements(otherwise)
                return (*before, replace(s, condition=condition, then=sides[0], otherwise=sides[1]))
            case ir.CallVoid(call=call) if self.can(call):
                inlined: list[ir.Stmt] = []
                args = [self.expression(a, s.span, inlined) for a in call.args]
                return (*inlined, *self.body(call, args, None, s.span))
            case _:
                out: list[ir.Stmt] = []
                changed = with_parts(s, lambda part: self.expression(part, s.span, out))
                return (*out, changed)

    def expression(self, node: Any, span: Span, out: list[ir.Stmt]) -> Any:
        """The expression with calls replaced by their results; not what may never be evaluated."""
        node = with_sure_parts(node, lambda part: self.expression(part, span, out))
        if not isinstance(node, ir.CallUser) or not self.can(node):
            return node
        result = self.fresh("result")
        out += self.body(node, node.args, result, span)
        return ir.Var(result, node.type)

    def can(self, call: ir.CallUser) -> bool:
        f = self.functions.get(call.name)
        if f is None or call.batch != "whole" or self.is_invariant(call):
            return False
        may_draw = self.with_rng or "rng" not in call.implicit
        short = len([*walk(f.body)]) <= INLINING.longest
        return may_draw and short and (not self.recursive(f) or counts_down(call))

    def is_invariant(self, call: ir.CallUser) -> bool:
        return self.invariant is not None and not call.implicit and used_names(call.args) <= self.invariant

    def recursive(self, f: ir.Function, above: frozenset[str] = frozenset()) -> bool:
        if f.name in above:
            return True
        called = {n.name for n in walk(f.body) if isinstance(n, ir.CallUser)} & self.functions.keys()
        return any(self.recursive(self.functions[name], above | {f.name}) for name in called)

    def body(self, call: ir.CallUser, args: Sequence[ir.Expr], result: str | None, span: Span) -> ir.Stmts:
        """The function's statements with its names made fresh and its returns turned into assignments."""
        f, inner = self.functions[call.name], self
        if self.recursive(f):
            self.unfolded.append(f.name)
            inner = replace(self, depth=self.depth + 1)
            if len(self.unfolded) > INLINING.most_calls or inner.depth > INLINING.deepest:
                raise NotInlinable
        values: dict[str, ir.Expr] = {}
        out: list[ir.Stmt] = []
        for name, arg in zip(f.args, args, strict=True):
            if isinstance(arg, ir.Var | ir.Const):
                values[name] = arg
            else:
                passed = ir.Var(self.fresh(name), arg.type)
                values[name] = passed
                out.append(ir.Assign(passed.name, arg, span, declares=True))
        names = {name: self.fresh(name) for name in sorted(assigned_names(f.body))}
        given = None if call.data_if is None else dict(zip(f.args, call.data_if, strict=True))
        renamed = folded(tuple(rename(passed_on(s, given), names, values) for s in f.body))
        if result is None:
            return (*out, *inner.statements(without_final_return(renamed)))
        if always_last(renamed):
            last = renamed[-1]
            assert isinstance(last, ir.Return) and last.value is not None
            tail: ir.Stmts = (*renamed[:-1], ir.Assign(result, last.value, last.span, declares=True))
        elif rank(call.type) == 0:
            out.append(ir.Declare(result, call.type, (), span))
            tail = returns_as_assignments(renamed, result)
        else:
            raise NotInlinable
        return (*out, *inner.statements(tail))


def counts_down(call: ir.CallUser) -> bool:
    """Whether an int among the arguments is known, so that a function that calls itself may end."""
    return any(isinstance(a, ir.Const) and a.type == INT for a in call.args)


def always_last(body: Sequence[ir.Stmt]) -> bool:
    """Whether the only return is the last statement."""
    returns = [n for n in walk(tuple(body)) if isinstance(n, ir.Return)]
    return len(returns) == 1 and bool(body) and body[-1] is returns[0]


def without_final_return(body: ir.Stmts) -> ir.Stmts:
    if body and isinstance(body[-1], ir.Return):
        body = body[:-1]
    if any(isinstance(n, ir.Return) for n in walk(body)):
        raise NotInlinable
    return body


def returns_as_assignments(body: Sequence[ir.Stmt], result: str) -> ir.Stmts:
    """Each path's `return e` as `result = e`; what follows such an `if` goes into the other branch."""
    for k, s in enumerate(body):
        rest = body[k + 1 :]
        match s:
            case ir.Return(value=value):
                assert value is not None
                return (*body[:k], ir.Assign(result, value, s.span))
            case ir.If(then=then, otherwise=otherwise) if has_return(s):
                ends = [side if ends_in(side, is_return) else (*side, *rest) for side in (then, otherwise)]
                sides = [returns_as_assignments(side, result) for side in ends]
                return (*body[:k], replace(s, then=sides[0], otherwise=sides[1]))
            case _ if has_return(s):
                raise NotInlinable
    raise NotInlinable


def has_return(s: ir.Stmt) -> bool:
    return any(map(is_return, walk(s)))


def is_return(s: ir.Stmt) -> bool:
    return isinstance(s, ir.Return)


def passed_on(node: Any, given: Mapping[str, ir.DataIf] | None) -> Any:
    """The node, with `data_if` in arguments of the caller; None if the call drops no constants."""
    node = with_parts(node, lambda part: passed_on(part, given))
    if not isinstance(node, ir.Apply | ir.CallUser) or node.data_if is None:
        return node
    data_if = None if given is None else tuple(seen(needs, given) for needs in node.data_if)
    return replace(node, data_if=data_if)


def seen(needs: ir.DataIf, given: Mapping[str, ir.DataIf]) -> ir.DataIf:
    """When a value is data, in arguments of the caller instead of those of the function called."""
    if needs is None:
        return None
    out: frozenset[str] = frozenset()
    for when in (given[name] for name in needs):
        if when is None:
            return None
        out |= when
    return out


def rename(node: Any, names: Mapping[str, str], values: Mapping[str, ir.Expr]) -> Any:
    """The node with locals renamed and arguments replaced by what was passed."""
    match node:
        case ir.Var(name=name):
            return values.get(name) or replace(node, name=names.get(name, name))
        case ir.For(variable=v):
            node = replace(node, variable=names.get(v, v))
        case ir.Declare(name=n) | ir.Assign(name=n) | ir.Update(name=n) | ir.Scatter(name=n):
            node = replace(node, name=names.get(n, n))
    return with_parts(node, lambda part: rename(part, names, values))


def inline_calls(p: ir.Program) -> ir.Program:
    """Functions with loops are inlined, so that their index sets are known from data."""
    functions, fresh = looping(p.functions), fresh_names("_out")
    return p.with_density(lambda body: written(body, functions, fresh))


def looping(functions: Sequence[ir.Function]) -> dict[str, ir.Function]:
    """The functions with a loop in them, or in one that they call."""
    names = functions_where(functions, lambda n: isinstance(n, ir.For))
    return {f.name: f for f in functions if f.name in names}


def written(body: Sequence[ir.Stmt], functions: Mapping[str, ir.Function], fresh: Fresh) -> ir.Stmts:
    out: list[ir.Stmt] = []
    for s in body:
        try:
            is_loop = isinstance(s, ir.Loop)  # loops write out what helps them
            out += [s] if is_loop else Inline(functions, fresh).statement(s)
        except NotInlinable:
            out.append(s)
    return tuple(out)
