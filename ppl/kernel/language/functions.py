"""User-defined functions.  Reference manual, "User-defined functions"."""

from collections.abc import Iterator, Sequence
from enum import Enum

from ppl.kernel.language import ast, messages
from ppl.kernel.language.calls import CUMULATIVE_SUFFIXES, choose_exact, normalised, suffix_of
from ppl.kernel.language.declarations import unsized
from ppl.kernel.language.facts import Check
from ppl.kernel.language.higher_order import NOT_OVERLOADABLE
from ppl.kernel.language.laplace import LAPLACE
from ppl.kernel.language.scope import BlockName, UserFunction
from ppl.kernel.language.statements import check_statement
from ppl.types import REAL, VOID, Type, is_discrete


class Ending(Enum):
    """How the paths through a statement end."""

    RETURNS = "in a return or a rejection, all of them"
    GOES_ON = "at the next statement, some of them"
    LEAVES_LOOP = "in a break, some of them"


def ending(s: ast.Statement) -> Ending:
    match s:
        case ast.Return() | ast.Reject():
            return Ending.RETURNS
        case ast.Break():
            return Ending.LEAVES_LOOP
        case ast.Block(statements=statements) | ast.Profile(statements=statements):
            return ending_of_all(statements)
        case ast.If(then=then, otherwise=otherwise):
            return together(ending(then), Ending.GOES_ON if otherwise is None else ending(otherwise))
        case ast.For(body=body) | ast.ForEach(body=body):
            return outside_loop(ending(body))
        case ast.While(condition=condition, body=body):
            inside = ending(body)
            endless = inside is Ending.GOES_ON and isinstance(condition, ast.IntLiteral) and condition.value
            return Ending.RETURNS if endless else outside_loop(inside)
        case _:
            return Ending.GOES_ON


def ending_of_all(statements: Sequence[ast.Statement]) -> Ending:
    """That of the last statement that is reached, if none before it breaks."""
    each = [ending(s) for s in reached(statements)]
    if Ending.LEAVES_LOOP in each:
        return Ending.LEAVES_LOOP
    return each[-1] if each else Ending.GOES_ON


def reached(statements: Sequence[ast.Statement]) -> Iterator[ast.Statement]:
    """The statements up to one that goes elsewhere; what is inside others does not count."""
    for s in statements:
        yield s
        if isinstance(s, ast.Return | ast.Reject | ast.Break | ast.Continue):
            return


def together(then: Ending, otherwise: Ending) -> Ending:
    if Ending.LEAVES_LOOP in (then, otherwise):
        return Ending.LEAVES_LOOP
    return then if then is otherwise else Ending.GOES_ON


def outside_loop(inside: Ending) -> Ending:
    return Ending.RETURNS if inside is Ending.RETURNS else Ending.GOES_ON


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
    elif announces(same, function):
        overloads[overloads.index(same)] = function
    else:
        raise c.refuse(explain_repetition(same, function), f.name_span)


def announces(earlier: UserFunction, later: UserFunction) -> bool:
    """Whether `earlier` is the forward declaration of the definition `later`."""
    same = earlier.returns == later.returns and earlier.data_only == later.data_only
    return same and earlier.definition.body is None and later.definition.body is not None


def explain_repetition(earlier: UserFunction, later: UserFunction) -> messages.Message:
    name, line = later.name, earlier.definition.span.line
    data = earlier.data_only != later.data_only
    if earlier.returns != later.returns or data:
        return messages.declared_otherwise(name, line, data and earlier.returns == later.returns)
    done = "defined" if earlier.definition.body else "declared"
    return messages.duplicate_function(name, f"({messages.commas(later.args)})", f"on line {line}", done)


def refuse_library_clash(c: Check, f: ast.FunctionDef, types: Sequence[Type]) -> None:
    if f.name in (*NOT_OVERLOADABLE, *LAPLACE):
        raise c.refuse(messages.not_overloadable(f.name), f.name_span)
    clash = choose_exact(c, f.name, types)
    if clash:
        where = "in the standard library"
        raise c.refuse(messages.duplicate_function(f.name, f"({messages.commas(types)})", where), f.name_span)


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
    discrete = is_discrete(types[0])
    if suffix in ("lpdf", "lpmf") and discrete != (suffix == "lpmf"):
        kind = "integer (int)" if suffix == "lpmf" else "real"
        raise c.refuse(messages.density_variate(f.name, kind, types[0]), f.args[0].span)


def check_defined(c: Check, f: ast.FunctionDef) -> None:
    """Whether a function that is announced has a body, be it one that was refused itself."""
    function = c.facts.functions.get(f)
    if f.body is None and function is not None:
        others = (g for g in c.facts.functions.values() if (g.name, g.args) == (f.name, function.args))
        if not any(g.definition.body for g in others):
            raise c.refuse(messages.never_defined(f.name), f.name_span)


def check_body(c: Check, f: ast.FunctionDef) -> None:
    assert f.body is not None
    function = c.facts.functions[f]
    with c.within(block=BlockName.FUNCTIONS, suffix=suffix_of(f.name), returns=function.returns), c.frame():
        for argument, t in zip(f.args, function.args, strict=True):
            c.declare(argument, argument.name, t, "argument", argument.data_only)
        check_statement(c, f.body)
        broken = any(f.span.line <= error.line <= f.span.end_line for error in c.errors)
        if not broken and function.returns != VOID and ending(f.body) is not Ending.RETURNS:
            raise c.refuse(messages.missing_return(f.name, function.returns), f.name_span)
