"""Statements.  Reference manual, "Statements"."""

from collections.abc import Sequence

from ppl.kernel.language import ast, call_messages, calls, messages
from ppl.kernel.language.assignments import check_assignment
from ppl.kernel.language.declarations import assignable, check_declaration, refuse_name
from ppl.kernel.language.expressions import (
    check_arguments,
    check_condition,
    check_each,
    check_expr,
    types_or_functions,
)
from ppl.kernel.language.facts import AlreadyReported, Check
from ppl.kernel.language.laplace import LAPLACE, covariance_called
from ppl.kernel.language.walk import parts
from ppl.types import (
    INT,
    MATRIX,
    REAL,
    ROW_VECTOR,
    VECTOR,
    VOID,
    Array,
    Type,
    array_of,
    is_complex,
    is_tuple,
)


def check_statements(c: Check, statements: Sequence[ast.Statement], at_top: bool = False) -> None:
    """Check statements in order; an error in one does not hide those of the next."""
    outer = c.ahead
    c.ahead = outer | {s.name: s.span.line for s in statements if isinstance(s, ast.Declaration)}
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
    """What a for-each loop over a value of this type runs through."""
    match t:
        case Array(element, dims):
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
