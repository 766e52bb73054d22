"""User-defined functions.  Reference manual, "User-defined functions"."""

from collections.abc import Sequence

from ppl.frontend import ast, messages
from ppl.frontend.calls import CUMULATIVE_SUFFIXES, choose_exact, normalised, suffix_of
from ppl.frontend.declarations import unsized
from ppl.frontend.facts import Check
from ppl.frontend.scope import Block, Level, Symbol, UserFunction
from ppl.frontend.statements import check_statement
from ppl.types import INT, REAL, VOID, Type, element_type


def check_functions(c: Check, definitions: Sequence[ast.FunctionDef]) -> None:
    """Signatures first, so that functions may call each other in any order declared, then bodies."""
    for f in definitions:
        with c.reporting():
            declare_function(c, f)
        if f not in c.facts.functions:
            c.lost.add(f.name)
    for f in definitions:
        with c.reporting():
            check_defined(c, f)
            if f.body is not None and f in c.facts.functions:
                check_body(c, f)


def declare_function(c: Check, f: ast.FunctionDef) -> None:
    types = tuple(unsized(c, a.type) for a in f.args)
    returns = unsized(c, f.returns)
    check_argument_names(c, f)
    check_suffix(c, f, types, returns)
    function = UserFunction(f, f.name, types, tuple(a.data_only for a in f.args), returns)
    c.facts.functions[f] = function
    overloads = c.scope.functions.setdefault(normalised(f.name), [])
    same = next((g for g in overloads if g.args == types), None)
    if same is None:
        refuse_library_clash(c, f, types)
        overloads.append(function)
    elif same.definition.body is None and f.body is not None:
        overloads[overloads.index(same)] = function
    elif f.body is not None or same.definition.body is None:
        where = f"on line {same.definition.span.line}"
        raise c.refuse(messages.duplicate_function(f.name, f"({messages.listed(types)})", where), f.name_span)


def refuse_library_clash(c: Check, f: ast.FunctionDef, types: Sequence[Type]) -> None:
    found = choose_exact(c, f.name, types)
    if found:
        where = "in the standard library"
        raise c.refuse(messages.duplicate_function(f.name, f"({messages.listed(types)})", where), f.name_span)


def check_argument_names(c: Check, f: ast.FunctionDef) -> None:
    names = [a.name for a in f.args]
    for k, a in enumerate(f.args):
        if a.name in names[:k]:
            raise c.refuse(messages.duplicate_argument(a.name), a.span)


def check_suffix(c: Check, f: ast.FunctionDef, types: Sequence[Type], returns: Type) -> None:
    """A density returns real; a mass function has an integer variate, a density a real one."""
    suffix = suffix_of(f.name)
    if suffix in ("lupdf", "lupmf"):
        raise c.refuse(messages.unnormalised_definition(f.name), f.name_span)
    if suffix not in ("lpdf", "lpmf", *CUMULATIVE_SUFFIXES):
        return
    if returns != REAL:
        raise c.refuse(messages.density_returns(f.name, returns), f.name_span)
    if not types:
        raise c.refuse(messages.density_without_variate(f.name), f.name_span)
    discrete = element_type(types[0]) == INT
    if suffix in ("lpdf", "lpmf") and discrete != (suffix == "lpmf"):
        wanted = "integer (int)" if suffix == "lpmf" else "real"
        raise c.refuse(messages.density_variate(f.name, wanted, types[0]), f.args[0].span)


def check_defined(c: Check, f: ast.FunctionDef) -> None:
    if f.body is None and f in c.facts.functions:
        function = c.facts.functions[f]
        overloads = c.scope.functions[normalised(f.name)]
        if not any(g.args == function.args and g.definition.body is not None for g in overloads):
            raise c.refuse(messages.never_defined(f.name), f.name_span)


def check_body(c: Check, f: ast.FunctionDef) -> None:
    assert f.body is not None
    function = c.facts.functions[f]
    with c.within(block=Block.FUNCTIONS, suffix=suffix_of(f.name), returns=function.returns), c.frame():
        for argument, t in zip(f.args, function.args, strict=True):
            data = argument.data_only or element_type(t) == INT
            level = Level.DATA if data else Level.PARAMETER
            symbol = Symbol(argument.name, t, level, Block.FUNCTIONS, "argument", argument.span)
            c.scope.declare(symbol)
        check_statement(c, f.body)
        broken = any(f.span.line <= error.line <= f.span.end_line for error in c.errors)
        if not broken and function.returns != VOID and not always_returns(f.body):
            raise c.refuse(messages.missing_return(f.name, function.returns), f.name_span)


def always_returns(s: ast.Statement) -> bool:
    """Whether every path through the statement ends in a return or a rejection."""
    match s:
        case ast.Return() | ast.Reject():
            return True
        case ast.Block(statements=statements) | ast.Profile(statements=statements):
            return any(map(always_returns, statements))
        case ast.If(then=then, otherwise=otherwise):
            return otherwise is not None and always_returns(then) and always_returns(otherwise)
        case ast.For(body=body) | ast.ForEach(body=body) | ast.While(body=body):
            return always_returns(body)
        case _:
            return False
