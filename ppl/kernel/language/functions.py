"""User-defined functions.  Reference manual, "User-defined functions"."""

from collections.abc import Sequence

from ppl.kernel.language import ast, messages
from ppl.kernel.language.calls import CUMULATIVE_SUFFIXES, choose_exact, normalised, suffix_of
from ppl.kernel.language.declarations import unsized
from ppl.kernel.language.facts import Check
from ppl.kernel.language.higher_order import NOT_OVERLOADABLE
from ppl.kernel.language.laplace import LAPLACE
from ppl.kernel.language.returns import always_returns
from ppl.kernel.language.scope import Block, UserFunction
from ppl.kernel.language.statements import check_statement
from ppl.types import REAL, VOID, Type, is_discrete


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
    """Whether `earlier` is the signature, ended by `;`, of which `later` is the definition."""
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
    with c.within(block=Block.FUNCTIONS, suffix=suffix_of(f.name), returns=function.returns), c.frame():
        for argument, t in zip(f.args, function.args, strict=True):
            c.declare(argument, argument.name, t, "argument", argument.data_only)
        check_statement(c, f.body)
        broken = any(f.span.line <= error.line <= f.span.end_line for error in c.errors)
        if not broken and function.returns != VOID and not always_returns(f.body):
            raise c.refuse(messages.missing_return(f.name, function.returns), f.name_span)
