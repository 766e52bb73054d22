"""Statements of the typed tree, resolved."""

from collections import Counter
from collections.abc import Sequence

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.lower_expr import (
    Lowering,
    call,
    library_apply,
    lower_expr,
    lower_index,
    lower_laplace,
    may_drop,
    promote,
)
from ppl.kernel.ir.walk import assigned_names, binary, has_effects, is_invariant, walk
from ppl.kernel.language import ast
from ppl.kernel.language.declarations import SQUARE
from ppl.kernel.language.facts import UserMatch
from ppl.kernel.language.laplace import LAPLACE
from ppl.kernel.language.scope import Symbol
from ppl.kernel.language.walk import variables
from ppl.stdlib.truncation import truncated, truncated_above, truncated_below
from ppl.types import INT, MATRIX, REAL, VOID, Type, element_type, items_of, rank

SIZES = {"size", "num_elements", "rows", "cols", "dims"}
"""Functions of sizes, which assignments leave as they are."""


def lower_statements(c: Lowering, statements: Sequence[ast.Statement], returns: Type = VOID) -> ir.Stmts:
    """`returns` is what an enclosing function returns."""
    return tuple(out for s in statements for out in lower_statement(c, s, returns))


def lower_statement(c: Lowering, s: ast.Statement, returns: Type) -> ir.Stmts:
    match s:
        case ast.Declaration():
            return lower_declaration(c, s)
        case ast.Assignment():
            return lower_assignment(c, s)
        case ast.Tilde():
            return lower_tilde(c, s)
        case ast.TargetIncrement(value=value):
            return (ir.Increment("target", lower_expr(c, value), s.span),)
        case ast.JacobianIncrement(value=value):
            return (ir.Increment("jacobian", lower_expr(c, value), s.span),)
        case ast.CallStatement(call=called):
            args = [lower_expr(c, a) for a in called.args]
            lowered = call(c, c.facts.calls[called], args, VOID, may_drop(called.name))
            assert isinstance(lowered, ir.CallUser)
            return (ir.CallVoid(lowered, s.span),)
        case ast.For():
            return lower_for(c, s, lower_statement(c, s.body, returns))
        case ast.ForEach():
            return lower_for_each(c, s, lower_statement(c, s.body, returns))
        case ast.While(condition=condition, body=body):
            return (ir.While(lower_expr(c, condition), lower_statement(c, body, returns), s.span),)
        case ast.If():
            otherwise = () if s.otherwise is None else lower_statement(c, s.otherwise, returns)
            test = lower_expr(c, s.condition)
            return (ir.If(test, lower_statement(c, s.then, returns), otherwise, s.span),)
        case ast.Block(statements=statements):
            return lower_statements(c, statements, returns)
        case ast.Profile(name=name, statements=statements):
            return (ir.Profile(name, lower_statements(c, statements, returns), s.span),)
        case ast.Return(value=value):
            result = None if value is None else promote(lower_expr(c, value), returns)
            return (ir.Return(result, s.span),)
        case ast.Break():
            return (ir.Jump("break", s.span),)
        case ast.Continue():
            return (ir.Jump("continue", s.span),)
        case ast.Print(args=args):
            return (ir.Message("print", lower_message(c, args), s.span),)
        case ast.Reject(args=args, fatal=fatal):
            return (ir.Message("fatal_error" if fatal else "reject", lower_message(c, args), s.span),)
        case ast.Skip():
            return ()


def lower_message(c: Lowering, args: Sequence[ast.Expr]) -> tuple[ir.Expr | ir.Text, ...]:
    return tuple(ir.Text(a.value) if isinstance(a, ast.StringLiteral) else lower_expr(c, a) for a in args)


# --- Loops ---------------------------------------------------------------------------------------


def lower_for(c: Lowering, s: ast.For, body: ir.Stmts) -> ir.Stmts:
    """The loop, or a `while` where an upper bound may change: Stan evaluates it before each iteration.

    Bounds that only read sizes of what the body changes get names before it, so that a pass may evaluate them
    again.
    """
    lower, upper = lower_expr(c, s.lower), lower_expr(c, s.upper)
    if may_change(upper, body):
        return as_while(c, s, lower, upper, body)
    first, lower = named_bound(c, lower, s.lower, body)
    second, upper = named_bound(c, upper, s.upper, body)
    return (*first, *second, ir.For(s.variable, lower, upper, body, s.span))


def named_bound(c: Lowering, bound: ir.Expr, e: ast.Expr, body: ir.Stmts) -> tuple[ir.Stmts, ir.Expr]:
    """The statements that name a bound of the loop with this body, if needed, and the bound."""
    if not has_effects(bound) and is_invariant(bound, body):
        return (), bound  # the same value and no effect, however often it is evaluated
    name = c.fresh("bound")
    return (ir.Assign(name, bound, e.span, declares=True),), ir.Var(name, INT)


def may_change(bound: ir.Expr, body: ir.Stmts) -> bool:
    """Whether a bound may have another value, or an effect, at the next iteration; sizes do not change."""
    read = Counter(n.name for n in walk(bound) if isinstance(n, ir.Var))
    for n in walk(bound):
        if isinstance(n, ir.Apply) and n.callee.name in SIZES:
            read[whole_of(n.args[0])] -= 1
    return has_effects(bound) or not {k for k in read if read[k] > 0}.isdisjoint(assigned_names(body))


def whole_of(e: ir.Expr) -> str:
    """The variable that a value is an entry of; the empty string where it is of none."""
    while isinstance(e, ir.Index | ir.Item):
        e = e.base
    return e.name if isinstance(e, ir.Var) else ""


def as_while(c: Lowering, s: ast.For, lower: ir.Expr, upper: ir.Expr, body: ir.Stmts) -> ir.Stmts:
    """The loop as a `while`; its counter is one ahead, so that `continue` goes on with the next."""
    at = ir.Var(c.fresh(s.variable), INT)
    inside = (
        ir.Assign(s.variable, at, s.span, declares=True),
        ir.Assign(at.name, binary("+", at, ir.Const(1, INT), INT), s.span),
        *body,
    )
    before = ir.Assign(at.name, lower, s.lower.span, declares=True)
    return (before, ir.While(binary("<=", at, upper, INT), inside, s.span))


# --- Loops over elements -------------------------------------------------------------------------


def lower_for_each(c: Lowering, s: ast.ForEach, body: ir.Stmts) -> ir.Stmts:
    """`for (e in x)` as loops over the indices of x, whose entries are read as each iteration begins.

    A matrix is run through row by row, and `break` leaves a row: so stanc has it, whatever the manual says of
    columns.
    """
    whole = lower_expr(c, s.iterable)
    if not isinstance(whole, ir.Var):
        name = c.fresh(s.variable)
        before = ir.Assign(name, whole, s.span, declares=True)
        return (before, *loop_over(c, s, ir.Var(name, whole.type), body))
    return loop_over(c, s, whole, body)


def loop_over(c: Lowering, s: ast.ForEach, whole: ir.Var, body: ir.Stmts) -> ir.Stmts:
    lengths = ("rows", "cols") if whole.type == MATRIX else ("size",)
    at = tuple(ir.Var(c.fresh("at"), INT) for _ in lengths)
    entry = ir.Index(whole, tuple(map(ir.At, at)), symbol_type(c.facts.symbols[s]))
    inside: ir.Stmts = (ir.Assign(s.variable, entry, s.span, declares=True), *body)
    for index, length in zip(reversed(at), reversed(lengths), strict=True):
        count = library_apply(length, [whole], INT)
        inside = (ir.For(index.name, ir.Const(1, INT), count, inside, s.span),)
    return inside


# --- Declarations and assignments ----------------------------------------------------------------


def lower_declaration(c: Lowering, d: ast.Declaration) -> ir.Stmts:
    own = c.facts.symbols[d]
    t, shape = symbol_type(own), lower_shape(c, d.type)
    if d.value is None:
        return (ir.Declare(d.name, t, shape, d.span),)
    value = promote(lower_expr(c, d.value), t)
    reads_itself = any(c.facts.symbols.get(v) is own for v in variables(d.value))
    if isinstance(shape, ir.TupleShape) or reads_itself:
        return (ir.Declare(d.name, t, shape, d.span), ir.Assign(d.name, value, d.span))
    return (ir.Assign(d.name, value, d.span, declares=True, shape=shape),)


def symbol_type(symbol: Symbol) -> Type:
    assert symbol.type is not None, f"{symbol.name} has no type, so the checker should have refused it"
    return symbol.type


def lower_shape(c: Lowering, t: ast.DeclaredType) -> ir.DeclaredSizes:
    dims = tuple(lower_expr(c, d) for d in t.dims)
    if isinstance(t, ast.SizedTuple):
        return ir.TupleShape(dims, tuple(lower_shape(c, item) for item in t.items))
    return (*dims, *own_sizes(c, t))


def own_sizes(c: Lowering, t: ast.SizedType) -> tuple[ir.Expr, ...]:
    sizes = tuple(lower_expr(c, s) for s in t.sizes)
    return sizes * 2 if t.keyword in SQUARE and len(sizes) == 1 else sizes


def lower_assignment(c: Lowering, s: ast.Assignment) -> ir.Stmts:
    value = lower_expr(c, s.value)
    if s.op != "=":
        called = c.facts.calls[s]
        value = call(c, called, [lower_expr(c, s.target), value], called.returns)
    return assign(c, s.target, value, s)


def assign(c: Lowering, target: ast.Expr, value: ir.Expr, s: ast.Assignment) -> ir.Stmts:
    """`target = value`, where the target may be a name, entries of one, or a tuple of targets."""
    if isinstance(target, ast.TupleLiteral):
        whole = c.fresh("tuple")
        out: ir.Stmts = (ir.Assign(whole, value, s.span, declares=True),)
        for k, (item, t) in enumerate(zip(target.items, items_of(value.type), strict=True), 1):
            out += assign(c, item, ir.Item(ir.Var(whole, value.type), k, t), s)
        return out
    value = promote(value, c.facts.types[target])
    name, path = lower_path(c, target)
    if not path:
        return (ir.Assign(name, value, s.span),)
    return (ir.Update(name, path, value, s.span),)


def lower_path(c: Lowering, target: ast.Expr) -> tuple[str, tuple[ir.PathStep, ...]]:
    """The variable that is changed, and the way into it."""
    match target:
        case ast.Variable(name=name):
            return name, ()
        case ast.Indexed(base=base, indices=indices):
            name, path = lower_path(c, base)
            items = tuple(lower_index(c, i) for i in indices)
            if path and isinstance(path[-1], tuple) and all(map(ir.drops_axis, path[-1])):
                return name, (*path[:-1], (*path[-1], *items))
            return name, (*path, items)
        case ast.Projection(base=base, item=item):
            name, path = lower_path(c, base)
            return name, (*path, item)
        case _:
            raise AssertionError("the checker lets no such target through")


# --- Distribution statements ---------------------------------------------------------------------


def lower_tilde(c: Lowering, s: ast.Tilde) -> ir.Stmts:
    if (name := f"{s.distribution}_lpmf") in LAPLACE:
        value = lower_laplace(c, name, (s.left, *s.args), c.facts.calls[s])
        return (ir.Increment("target", value, s.span),)
    args = [lower_expr(c, a) for a in (s.left, *s.args)]
    density = call(c, c.facts.calls[s], args, REAL, drops=True)
    out: ir.Stmts = (ir.Increment("target", density, s.span),)
    if s.truncation is not None and (s.truncation.lower or s.truncation.upper):
        out += (ir.Increment("target", lower_truncation(c, s.truncation, args), s.span),)
    return out


def lower_truncation(c: Lowering, t: ast.Truncation, args: Sequence[ir.Expr]) -> ir.Expr:
    """The log of the probability between the bounds, subtracted for each element of the variate."""
    y, *params = args
    impl = truncated_above if t.lower is None else truncated_below if t.upper is None else truncated
    bounds, logs = [], []
    for bound in (t.lower, t.upper):
        if bound is not None:
            bounds.append(lower_expr(c, bound))
            at = below(y, bounds[-1]) if bound is t.lower else bounds[-1]
            logs.append(cumulative(c, bound, at, params))
    callee = ir.Callee(impl.__name__, impl, "elementwise", reduce="sum")
    return ir.Apply(callee, (y, *bounds, *logs), REAL)


def below(y: ir.Expr, lower: ir.Expr) -> ir.Expr:
    """Where the excluded part ends: one lower for a discrete variate, since the bound itself is included."""
    if element_type(y.type) != INT:
        return lower
    return binary("-", lower, ir.Const(1, INT), INT)


def cumulative(c: Lowering, bound: ast.Expr, at: ir.Expr, params: Sequence[ir.Expr]) -> ir.Expr:
    """The log probability beyond a bound, one for each element of the parameters."""
    called = c.facts.cumulative[bound]
    if isinstance(called, UserMatch):
        return call(c, called, [at, *params], REAL)
    applied = call(c, called, [at, *params], REAL)
    assert isinstance(applied, ir.Apply)
    whole = applied.callee
    each = ir.Callee(whole.name, whole.impl, whole.batch, family=whole.family)
    widest = max((p.type for p in params), key=rank, default=REAL)
    return ir.Apply(each, applied.args, widest if rank(widest) else REAL)
