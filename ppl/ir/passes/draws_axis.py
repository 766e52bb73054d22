"""The log joint of many draws at once: every value that varies from draw to draw gets a leading axis.

The program is one whose loops are arrays already, so the axis goes before those of the loops, and values
meet from the right as they did: one of the draws that lacks the axis of a loop gets one of length 1.  Where
draws go different ways, a branch is run for those that take it.
"""

from dataclasses import replace

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import Dependent, helper
from ppl.ir.passes.draws_state import DRAW, Along, DrawByDraw, Functions, Mask, Stmts
from ppl.ir.passes.draws_statements import declared, left_together, statements
from ppl.ir.passes.inline import NotInlinable, has_return, returns_as_assignments
from ppl.ir.passes.iterations import without_continue
from ppl.ir.varying import every_statement, varies, varying_names
from ppl.ir.walk import walk
from ppl.stdlib import batching
from ppl.types import Tuple, Type, core, rank


def draws_axis(p: ir.Program) -> ir.Program:
    """The pass; raises DrawByDraw as `laid_out` does."""
    return laid_out(p)[0]


def laid_out(p: ir.Program) -> tuple[ir.Program, Functions]:
    """Parameters, transformed parameters and the target along the draws, and what became of functions.

    Raises:
        DrawByDraw: a statement cannot be laid out along them; the message says why.
    """
    made = functions_of(p)
    start = {d.name for d in p.parameters}
    names = varying_names((*p.transformed_parameters, *p.model), start)
    before, after = (left_together(made, b, names) for b in (p.transformed_parameters, p.model))
    types = {d.name: d.type for d in (*p.parameters, *p.transformed_parameter_names)}
    along = Along(made, varying_names((*before, *after), start), types=types)
    try:
        parameters = tuple(declared(along, d) for d in p.parameters)
        transformed, model = statements(along, before), statements(along, after)
    except (Dependent, NotInlinable) as why:
        raise DrawByDraw(str(why)) from None
    lifted = replace(
        p,
        functions=(*p.functions, *made.laid_out.values()),
        parameters=parameters,
        transformed_parameters=transformed,
        model=model,
        generated_quantities=(),
        generated_names=(),
    )
    return lifted, made


def functions_of(p: ir.Program) -> Functions:
    """Its functions, none laid out yet."""
    return Functions({f.name: f for f in p.functions}, function_body)


def function_body(functions: Functions, f: ir.Function, mask: Mask, t: Type | None) -> Stmts:
    """The statements of a function some of whose arguments vary."""
    varying = [a for a, m in zip(f.args, mask, strict=True) if m]
    f = replace(f, body=left_together(functions, f.body, {*varying}))
    names = varying_names(f.body, {*varying})
    numbers = helper(batching.positions, (ir.Var(varying[0], DRAW.type),), DRAW.type)
    begin = ir.Assign(DRAW.name, numbers, f.span, declares=True)
    along = Along(functions, names)
    try:
        return (begin, *statements(along, one_exit(f, names, t)))
    except NotInlinable as why:
        raise Dependent(str(why)) from None


def one_exit(f: ir.Function, names: set[str], t: Type | None) -> Stmts:
    """The body, with one return at its end where draws would leave it at different places."""
    parting = any(
        isinstance(s, ir.If | ir.While) and varies(s.condition, names) and has_return(s)
        for s in every_statement(f.body)
    )
    if not parting:
        return f.body
    if any(isinstance(n, ir.Return) and n.value is None for n in walk(f.body)):
        return without_continue(tuple(map(left_early, f.body)))
    if t is None or rank(t) or isinstance(core(t), Tuple):
        raise Dependent("a function returns from different places")
    result = ir.Var("returned__", t)
    body = returns_as_assignments(f.body, result.name)
    names.add(result.name)
    return (ir.Declare(result.name, t, (), f.span), *body, ir.Return(result, f.span))


def left_early(s: ir.Stmt) -> ir.Stmt:
    """The statement with `return` without a value as the `continue` of a loop that is run once."""
    match s:
        case ir.Return():
            return ir.Jump("continue", s.span)
        case ir.If(then=then, otherwise=otherwise):
            sides = [tuple(map(left_early, side)) for side in (then, otherwise)]
            return replace(s, then=sides[0], otherwise=sides[1])
        case _ if has_return(s):
            raise Dependent("a function returns from inside a loop")
        case _:
            return s
