"""Types and levels of expressions.  Reference manual, "Expressions"."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ppl.kernel.language import ast, messages
from ppl.kernel.language.calls import check_call, check_operator, names_a_function, require_function
from ppl.kernel.language.facts import AlreadyReported, Check
from ppl.kernel.language.higher_order import HIGHER_ORDER, check_higher_order
from ppl.kernel.language.laplace import LAPLACE, check_laplace
from ppl.kernel.language.scope import AdLevel, Symbol
from ppl.kernel.language.walk import parts
from ppl.spelling import nearest
from ppl.stdlib.signatures import promotes
from ppl.types import (
    COMPLEX,
    COMPLEX_ROW_VECTOR,
    INT,
    MATRIX,
    REAL,
    ROW_VECTOR,
    VOID,
    ArrayType,
    Tuple,
    Type,
    array_dims,
    array_of,
    complex_of,
    indexed_type,
    is_complex,
    is_tuple,
    items_of,
    own_axes,
)

SCALARS = (INT, REAL, COMPLEX)


def check_expr(c: Check, e: ast.Expr) -> Type:
    """The type of `e`; records it and its level, or raises ModelError."""
    t = type_of(c, e)
    c.facts.types[e] = t
    c.facts.levels.setdefault(e, level_of(c, e))
    return t


def check_each(c: Check, expressions: Iterable[ast.Expr]) -> list[Type]:
    """The types of all; an error in one does not hide those of the next."""
    return finished(c, [partial(check_expr, c, e) for e in expressions])


def finished(c: Check, checks: Sequence[Callable[[], Type]]) -> list[Type]:
    """The results of the checks; the errors of all of them are reported."""
    types = []
    for check in checks:
        with c.reporting():
            types.append(check())
    if len(types) < len(checks):
        raise AlreadyReported
    return types


def type_of(c: Check, e: ast.Expr) -> Type:
    match e:
        case ast.IntLiteral():
            return INT
        case ast.RealLiteral():
            return REAL
        case ast.ImaginaryLiteral():
            return COMPLEX
        case ast.StringLiteral():
            raise AssertionError("the grammar allows strings only in print and reject")
        case ast.Variable():
            return check_variable(c, e)
        case ast.Call(name=name, args=(_, *rest)) if name in HIGHER_ORDER:
            return check_higher_order(c, e, check_each(c, rest))
        case ast.Call(name=name) if name in LAPLACE:
            return check_laplace(c, e, types_or_functions(c, e.args))
        case ast.Call():
            return check_call(c, e, check_arguments(c, e))
        case ast.Binary(op="&&" | "||"):
            return check_logical(c, e)
        case ast.Binary():
            return check_operator(c, e, e.op, check_each(c, (e.left, e.right)))
        case ast.Unary():
            return check_operator(c, e, e.op, [check_expr(c, e.operand)])
        case ast.Transpose():
            return check_operator(c, e, "'", [check_expr(c, e.operand)])
        case ast.Ternary():
            return check_ternary(c, e)
        case ast.Indexed():
            return check_indexed(c, e)
        case ast.Projection():
            return check_projection(c, e)
        case ast.ArrayLiteral():
            return check_array_literal(c, e)
        case ast.RowVectorLiteral():
            return check_row_vector_literal(c, e)
        case ast.TupleLiteral():
            return Tuple(tuple(check_each(c, e.items)))


def check_arguments(c: Check, e: ast.Call) -> list[Type]:
    """The types of the arguments; a name that no function has is refused beside what is wrong in them."""
    with c.reporting():
        require_function(c, e)
    return finished(c, [partial(check_argument, c, e.name, a) for a in e.args])


def types_or_functions(c: Check, arguments: Sequence[ast.Expr]) -> list[Type | None]:
    """The types of arguments; None for one that is the name of a function."""
    values = [a for a in arguments if not is_function(c, a)]
    types = iter(check_each(c, values))
    return [None if is_function(c, a) else next(types) for a in arguments]


def is_function(c: Check, e: ast.Expr) -> bool:
    return isinstance(e, ast.Variable) and c.scope.find(e.name) is None and names_a_function(c, e.name)


def check_argument(c: Check, function: str, e: ast.Expr) -> Type:
    """An argument may be a function's name where a higher-order function wants one."""
    if is_function(c, e):
        raise c.refuse(messages.unsupported(f"`{function}` with a function as argument"), e.span)
    return check_expr(c, e)


# --- Levels --------------------------------------------------------------------------------------


def level_of(c: Check, e: ast.Expr) -> AdLevel:
    if isinstance(e, ast.Variable):
        return c.facts.symbols[e].level
    levels = [c.facts.levels.get(child) for child in children(e)]
    return AdLevel.PARAMETER if AdLevel.PARAMETER in levels else AdLevel.DATA


def children(e: ast.Expr) -> Sequence[ast.Expr]:
    """The expressions directly inside, also between the brackets of an index."""
    if isinstance(e, ast.Indexed):
        return (e.base, *(part for index in e.indices for part in parts(index)))
    return parts(e)


# --- Variables -----------------------------------------------------------------------------------


def check_variable(c: Check, e: ast.Variable) -> Type:
    symbol = find(c, e.name, e)
    c.facts.symbols[e] = symbol
    if symbol.type is None:
        raise AlreadyReported
    return symbol.type


def find(c: Check, name: str, at: ast.Node, assigned: bool = False) -> Symbol:
    """The symbol a name refers to, or the error that explains why there is none."""
    symbol = c.scope.find(name)
    if symbol is not None:
        return symbol
    if name in c.later:
        raise c.refuse(messages.declared_later(name, *c.later[name]), at.span)
    if name in c.ahead and c.ahead[name] != at.span.line:
        raise c.refuse(messages.declared_below(name, c.ahead[name]), at.span)
    if names_a_function(c, name):
        raise c.refuse(messages.function_as_value(name), at.span)
    c.refuse_once(name)
    raise c.refuse(messages.undeclared(name, nearest(name, c.scope.visible()), assigned), at.span)


# --- Operators with rules of their own -----------------------------------------------------------


def check_logical(c: Check, e: ast.Binary) -> Type:
    sides = check_each(c, (e.left, e.right))
    if any(t != INT for t in sides):
        hint = messages.COMPARE if set(sides) <= {INT, REAL} else None
        raise c.refuse(messages.operands(e.op, sides, hint), e.span)
    return INT


def check_condition(c: Check, where: str, e: ast.Expr) -> None:
    t = check_expr(c, e)
    if t != INT:
        raise c.refuse(messages.condition(where, t), e.span)


def check_ternary(c: Check, e: ast.Ternary) -> Type:
    check_condition(c, "`? :`", e.condition)
    then, otherwise = check_expr(c, e.then), check_expr(c, e.otherwise)
    t = unify(then, otherwise)
    if t is None:
        raise c.refuse(messages.ternary_branches(then, otherwise), e.span)
    return t


def unify(a: Type, b: Type) -> Type | None:
    """The type that both become by promotion; of tuples, of their items one by one."""
    if is_tuple(a) and is_tuple(b) and (array_dims(a), len(items_of(a))) == (array_dims(b), len(items_of(b))):
        items = [unify(x, y) for x, y in zip(items_of(a), items_of(b), strict=True)]
        return None if None in items else array_of(Tuple(tuple(t for t in items if t)), array_dims(a))
    if promotes(a, b) is not None:
        return b
    return a if promotes(b, a) is not None else None


# --- Indexing ------------------------------------------------------------------------------------


def check_indexed(c: Check, e: ast.Indexed) -> Type:
    base = check_expr(c, e.base)
    keeps_axis = [index_keeps_axis(c, index) for index in e.indices]
    allowed = array_dims(base) + own_axes(base)
    if len(keeps_axis) > allowed:
        what = f"`{e.base.name}`" if isinstance(e.base, ast.Variable) else "This expression"
        raise c.refuse(messages.too_many_indices(what, base, allowed, len(keeps_axis)), e.span)
    return indexed_type(base, keeps_axis)


def index_keeps_axis(c: Check, index: ast.Index) -> bool:
    """A single int drops its axis; everything else keeps it."""
    match index:
        case ast.SingleIndex(value=value):
            t = check_expr(c, value)
            if t not in (INT, ArrayType(INT)):
                raise c.refuse(messages.index_type(t), value.span)
            return t != INT
        case ast.RangeIndex():
            for bound in parts(index):
                if (t := check_expr(c, bound)) != INT:
                    raise c.refuse(messages.index_type(t), bound.span)
            return True


def check_projection(c: Check, e: ast.Projection) -> Type:
    base = check_expr(c, e.base)
    if not isinstance(base, Tuple):
        raise c.refuse(messages.not_a_tuple(base), e.span)
    if not 1 <= e.item <= len(base.items):
        raise c.refuse(messages.tuple_item(e.item, base, len(base.items)), e.span)
    return base.items[e.item - 1]


# --- Literals ------------------------------------------------------------------------------------


def check_array_literal(c: Check, e: ast.ArrayLiteral) -> Type:
    if not e.items:
        return array_of(VOID, 1)
    t, *others = check_each(c, e.items)
    for item, other in zip(e.items[1:], others, strict=True):
        both = unify(t, other)
        if both is None:
            raise c.refuse(messages.array_items(t, other), item.span)
        t = both
    return array_of(t, 1)


def check_row_vector_literal(c: Check, e: ast.RowVectorLiteral) -> Type:
    types = check_each(c, e.items)
    rows = (ROW_VECTOR, COMPLEX_ROW_VECTOR)
    whole = ROW_VECTOR if all(t in SCALARS for t in types) else MATRIX
    if whole == ROW_VECTOR or all(t in rows for t in types):
        return complex_of(whole) if any(map(is_complex, types)) else whole
    odd = next(i for i, t in enumerate(types) if t not in (*SCALARS, *rows) or t != types[0])
    raise c.refuse(messages.row_vector_items(types[odd]), e.items[odd].span)
