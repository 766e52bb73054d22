"""Statements.  Reference manual, "Statements"."""

from collections.abc import Sequence
from functools import partial

from ppl.kernel.language import ast, call_messages, calls, messages
from ppl.kernel.language.calls import operator
from ppl.kernel.language.declarations import assignable, check_declaration, refuse_name
from ppl.kernel.language.expressions import (
    check_arguments,
    check_condition,
    check_each,
    check_expr,
    find,
    finished,
    types_or_functions,
)
from ppl.kernel.language.facts import AlreadyReported, Check
from ppl.kernel.language.laplace import LAPLACE, covariance_called
from ppl.kernel.language.scope import Symbol
from ppl.kernel.language.walk import base, parts, single_targets, variables
from ppl.types import (
    INT,
    MATRIX,
    REAL,
    ROW_VECTOR,
    VECTOR,
    VOID,
    ArrayType,
    Tuple,
    Type,
    array_of,
    is_complex,
    is_tuple,
    rank,
)

ENTRYWISE = (".*=", "./=")

INPUTS = {
    "data": "data (line {}). Write an outcome as `y ~ normal(mu, sigma);`, others in transformed data",
    "parameters": "a parameter (line {}). Declare another variable in transformed parameters",
}
"""Why a variable of this block may not be assigned to, and what to do."""


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


AssignedPath = tuple[str | int, ...]


def path(e: ast.Expr) -> AssignedPath:
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


def overlap(a: AssignedPath, b: AssignedPath) -> bool:
    """Whether one is the other, or holds it."""
    return all(x == y for x, y in zip(a, b, strict=False))


def check_statements(c: Check, statements: Sequence[ast.Statement], at_top: bool = False) -> None:
    """Check statements in order; an error in one does not hide those of the next."""
    outer = c.ahead
    own = {s.name: s.span.line for s in statements if isinstance(s, ast.Declaration)}
    c.ahead = outer | own if own else outer
    for s in statements:
        with c.reporting():
            check_statement(c, s, at_top)
    c.ahead = outer


def check_statement(c: Check, s: ast.Statement, at_top: bool = False) -> None:
    match s:
        case ast.Declaration():
            check_declaration(c, s, at_top)
        case ast.Assignment():
            check_assignment(c, s)
        case ast.Tilde():
            check_tilde(c, s)
        case ast.TargetIncrement(value=value):
            calls.require_target(c, s, "`target +=`", c.context.may_use_target)
            check_summand(c, value, "target +=")
        case ast.JacobianIncrement(value=value):
            calls.require_jacobian(c, s, "`jacobian +=`")
            check_summand(c, value, "jacobian +=")
        case ast.CallStatement():
            check_call_statement(c, s)
        case ast.For():
            check_for(c, s)
        case ast.ForEach():
            check_for_each(c, s)
        case ast.While():
            with c.reporting():
                check_condition(c, "while", s.condition)
            with c.within(in_loop=True), c.frame():
                check_statements(c, [s.body])
        case ast.If():
            check_if(c, s)
        case ast.Block(statements=statements) | ast.Profile(statements=statements):
            with c.frame():
                check_statements(c, statements)
        case ast.Return():
            check_return(c, s)
        case ast.Break() | ast.Continue():
            if not c.context.in_loop:
                raise c.refuse(messages.outside_loop(type(s).__name__.lower()), s.span)
        case ast.Print(args=args) | ast.Reject(args=args):
            check_each(c, [e for e in args if not isinstance(e, ast.StringLiteral)])
        case ast.Skip():
            pass


# --- The target ----------------------------------------------------------------------------------


def check_tilde(c: Check, s: ast.Tilde) -> None:
    calls.require_target(c, s, "`~`", c.context.may_use_target)
    if (name := f"{s.distribution}_lpmf") in LAPLACE and s.truncation is None:
        call = ast.Call(s.span, name, (s.left, *s.args), bar=True)
        c.facts.calls[s] = covariance_called(c, call, types_or_functions(c, call.args))
        return
    densities: Sequence[str] = ()
    with c.reporting():
        densities = calls.density_names(c, s)
    args = check_each(c, (s.left, *s.args))
    if not densities:
        raise AlreadyReported
    calls.resolve_tilde(c, s, densities, args)
    if s.truncation is not None:
        for bound in parts(s.truncation):
            if (t := check_expr(c, bound)) not in (INT, REAL):
                raise c.refuse(call_messages.truncation_bound(t), bound.span)
        c.facts.cumulative.update(calls.resolve_truncation(c, s, args[1:]))


def check_summand(c: Check, e: ast.Expr, what: str) -> None:
    """Any container may be added: its entries are summed."""
    t = check_expr(c, e)
    if is_tuple(t) or is_complex(t):
        hint = None if is_tuple(t) else messages.REAL_PART
        raise c.refuse(messages.operands(what, [t], hint), e.span)


# --- Control flow --------------------------------------------------------------------------------


def check_if(c: Check, s: ast.If) -> None:
    with c.reporting():
        check_condition(c, "if", s.condition)
    for branch in (s.then, s.otherwise):
        if branch is not None:
            with c.frame():
                check_statements(c, [branch])


def check_for(c: Check, s: ast.For) -> None:
    for side, bound in (("lower", s.lower), ("upper", s.upper)):
        with c.reporting():
            if (t := check_expr(c, bound)) != INT:
                raise c.refuse(messages.loop_bound(side, t), bound.span)
    check_loop(c, s, INT)


def check_for_each(c: Check, s: ast.ForEach) -> None:
    element = None
    with c.reporting():
        t = check_expr(c, s.iterable)
        element = iterated(t)
        if element is None:
            raise c.refuse(messages.not_iterable(t), s.iterable.span)
    check_loop(c, s, element)


def iterated(t: Type) -> Type | None:
    """The type of the loop variable of a for-each loop over this type."""
    match t:
        case ArrayType(element, dims):
            return array_of(element, dims - 1)
        case _ if t in (VECTOR, ROW_VECTOR, MATRIX):
            return REAL
        case _:
            return None


def check_loop(c: Check, s: ast.For | ast.ForEach, t: Type | None) -> None:
    """The body; `t` is None where what the loop runs over was itself refused."""
    refuse_name(c, s.variable, s.name_span)
    with c.within(in_loop=True), c.frame():
        c.declare(s, s.variable, t, "loop")
        check_statements(c, [s.body])


# --- Calls, returns, printing --------------------------------------------------------------------


def check_call_statement(c: Check, s: ast.CallStatement) -> None:
    called = calls.resolve_call(c, s.call, check_arguments(c, s.call))
    if called.returns != VOID:
        raise c.refuse(call_messages.returns_something(s.call.name, called.returns), s.span)


def check_return(c: Check, s: ast.Return) -> None:
    returns = c.context.returns
    if returns is None:
        raise c.refuse(messages.return_outside(), s.span)
    if s.value is None:
        if returns != VOID:
            raise c.refuse(messages.bare_return(returns), s.span)
        return
    actual = check_expr(c, s.value)
    if returns == VOID:
        raise c.refuse(messages.return_in_void(), s.span)
    if not assignable(returns, actual):
        raise c.refuse(messages.return_type(returns, actual), s.span)
