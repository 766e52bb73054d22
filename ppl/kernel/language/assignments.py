"""Assignments: what may stand on the left, and what may be put there.  Reference manual, "Statements"."""

from functools import partial

from ppl.kernel.language import ast, messages
from ppl.kernel.language.calls import operator
from ppl.kernel.language.declarations import assignable
from ppl.kernel.language.expressions import check_expr, find, finished
from ppl.kernel.language.facts import Check
from ppl.kernel.language.scope import Symbol
from ppl.kernel.language.walk import base, single_targets, variables
from ppl.types import INT, Tuple, Type, rank

ENTRYWISE = (".*=", "./=")

INPUTS = {
    "data": "data (line {}). Declare another variable in transformed data",
    "parameters": "a parameter (line {}). Declare another variable in transformed parameters",
}
"""What a variable is that no statement may change, and what to do, by its block."""


def check_assignment(c: Check, s: ast.Assignment) -> None:
    left, right = finished(c, [partial(check_left, c, s.target), partial(check_expr, c, s.value)])
    if s.op == "=":
        if not assignable(left, right):
            span = s.value.span.on_line_of(s.span)
            raise c.refuse(messages.assigned_type(left, right), span, s.value.span)
        return
    result = operator(s.op[:-1], [left, right])
    solves = s.op == "/=" and rank(right) > 0  # which Stan has as an operator, not as an assignment
    of_scalars = s.op in ENTRYWISE and rank(left) == 0  # the same
    if result is None or solves or of_scalars or not assignable(left, result.returns):
        raise c.refuse(messages.assigned_type(left, right, s.op), s.span)
    c.facts.calls[s] = result


# --- The left side -------------------------------------------------------------------------------


def check_left(c: Check, e: ast.Expr) -> Type:
    """The type of the left side: each of its parts may be written to, once, and none is read."""
    t = check_target(c, e)
    targets = list(single_targets(e))
    paths = [path(target) for target in targets]
    for k, each in enumerate(paths):
        if any(overlap(each, other) for other in paths[:k]):
            raise c.refuse(messages.assigned_twice(".".join(map(str, each))), e.span)
    written = {name for name, *_ in paths}
    for read in (v for target in targets for v in variables(target) if v is not base(target)):
        if read.name in written:
            raise c.refuse(messages.read_while_assigned(read.name), read.span.on_line_of(e.span))
    return t


def check_target(c: Check, e: ast.Expr) -> Type:
    """The type of what is written to, when it may be assigned to here."""
    match e:
        case ast.Variable():
            refuse_read_only(c, find(c, e.name, e, assigned=True), e)
            return check_expr(c, e)
        case ast.Indexed(base=inner) | ast.Projection(base=inner):
            check_target(c, inner)
            t = check_expr(c, e)
            if isinstance(e, ast.Indexed):
                refuse_entry_of_several(c, e)
            return t
        case ast.TupleLiteral(items=items):
            t = Tuple(tuple(check_target(c, item) for item in items))
            c.facts.types[e] = t
            return t
        case _:
            raise AssertionError("the parser lets no such target through")


def refuse_entry_of_several(c: Check, e: ast.Indexed) -> None:
    """`x[1:2][1]` is an entry of a copy."""
    inner = e.base
    while isinstance(inner, ast.Indexed):
        for index in inner.indices:
            if not isinstance(index, ast.SingleIndex) or c.facts.types[index.value] != INT:
                raise c.refuse(messages.entry_of_several(), e.span)
        inner = inner.base


def refuse_read_only(c: Check, symbol: Symbol, e: ast.Variable) -> None:
    if symbol.kind == "loop":
        raise c.refuse(messages.read_only(e.name, "a loop variable"), e.span)
    if symbol.kind == "argument":
        raise c.refuse(messages.read_only(e.name, "an argument of the function"), e.span)
    if symbol.block is not c.context.block:
        block, line = symbol.block.value, symbol.span.line
        what = INPUTS.get(block, f"declared in {block} (line {{}}), and only that block may change it")
        raise c.refuse(messages.read_only(e.name, what.format(line)), e.span)


Path = tuple[str | int, ...]


def path(e: ast.Expr) -> Path:
    """The variable and the items of tuples that lead to what is written; not the entries."""
    match e:
        case ast.Indexed(base=inner):
            return path(inner)
        case ast.Projection(base=inner, item=item):
            return (*path(inner), item)
        case ast.Variable(name=name):
            return (name,)
        case _:
            raise AssertionError("the parser lets no such target through")


def overlap(a: Path, b: Path) -> bool:
    """Whether one is the other, or holds it."""
    return all(x == y for x, y in zip(a, b, strict=False))
