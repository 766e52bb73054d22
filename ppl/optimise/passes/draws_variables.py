"""Transformed parameters and generated quantities of all draws at once.

Statements are lifted along the draws as those of the log density are, and random numbers are drawn for all of
them.  A statement that cannot be is run for one draw after the other, and its note says why.
"""

from collections.abc import Sequence
from dataclasses import replace

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import assigned_names, declared_names, used_names, walk
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.passes.batch import Dependent, Lifting, LiftOptions, OneAxis, count_of
from ppl.optimise.passes.draws_axis import DRAW, functions_of, left_together, lifting, parameter, root_of
from ppl.optimise.passes.inline import NotInlinable, rename
from ppl.optimise.passes.iterations import run_statement
from ppl.optimise.passes.lift import lift, spread
from ppl.optimise.passes.vectorise_loops import Note
from ppl.types import INT, Type, axes_of, is_tuple, over_axes, rank


def variables_of_draws(p: ir.Program) -> ir.Program:
    """Transformed parameters and generated quantities get an axis of the draws.

    Raises DrawByDraw as `lifted_variables` does.
    """
    return lifted_variables(p)[0]


def lifted_variables(p: ir.Program) -> tuple[ir.Program, list[Note]]:
    """The program whose variables are arrays over draws, with no target; a note on each statement left.

    Raises:
        DrawByDraw: a block has what cannot be lifted over draws; the message says why.
    """
    refuse(p)
    own_functions, notes = functions_of(p, LiftOptions(any_order=True), scans=False), list[Note]()
    names = {d.name for d in p.parameters}
    body = left_together(own_functions, p.transformed_parameters, names)
    c = lifting(own_functions, body, names, p.types)
    try:
        parameters = tuple(parameter(c, d) for d in p.parameters)
    except (Dependent, OneAxis) as why:
        raise DrawByDraw(str(why)) from None
    transformed = block(c, body, p.transformed_parameter_names, notes)
    names |= {d.name for d in p.transformed_parameter_names}
    body = left_together(own_functions, p.generated_quantities, names)
    generated = block(lifting(own_functions, body, names, p.types), body, p.generated_names, notes)
    functions = (*own_functions.vectorise.of_functions(p.functions), *own_functions.lifted.values())
    lifted = replace(p, functions=functions, parameters=parameters, model=())
    return replace(lifted, transformed_parameters=transformed, generated_quantities=generated), notes


def refuse(p: ir.Program) -> None:
    """DrawByDraw, where draws must keep their order."""
    body = (*p.transformed_parameters, *p.generated_quantities)
    if any(isinstance(n, ir.Message) and n.what == "print" for n in walk((body, p.functions))):
        raise DrawByDraw("the lines that one draw prints must stay together")


def block(c: Lifting, body: ir.Stmts, outputs: Sequence[ir.Declared], notes: list[Note]) -> ir.Stmts:
    """Every statement along the draws, and every output."""
    for s in body:
        c.span = s.span
        statement(c, s, notes)
    for d in outputs:
        c.span = d.span
        with_axis(c, d.name, d.type)
    return tuple(c.out)


def statement(c: Lifting, s: ir.Stmt, notes: list[Note]) -> None:
    """For all draws at once, else for one by one."""
    try:
        with c.undone_on_failure(root_of(c)):
            run_statement(c, root_of(c), s)
    except (Dependent, NotInlinable, OneAxis) as why:
        notes.append(Note(s.span, str(why)))
        one_by_one(c, s)


def with_axis(c: Lifting, name: str, t: Type) -> None:
    """From here on a variable has the axis of the draws."""
    root = root_of(c)
    value = lift(c, root, ir.Var(name, t))
    if axes_of(value.type) != root.axes:
        c.out.append(ir.Assign(name, spread(root, value, root.axes), c.span, declares=True))
    root.locals[name] = root.axes


def one_by_one(c: Lifting, s: ir.Stmt) -> None:
    """A loop over the draws, in which the statement sees the values of one draw under other names."""
    assert c.draws is not None
    if isinstance(s, ir.Declare):
        raise DrawByDraw(f"the size of `{s.name}` may differ from draw to draw")
    if isinstance(s, ir.Assign) and s.declares:
        declare(c, s)
        s = replace(s, declares=False, shape=())
    inside = declared_names((s,))
    changed = sorted(assigned_names((s,)) - inside)
    for name in changed:
        with_axis(c, name, c.draws.types[name])
    varying = {name for name, axes in root_of(c).locals.items() if axes}
    own = {name: c.fresh(name) for name in sorted((used_names(s) - inside) & varying)} | {
        name: c.fresh(name) for name in changed
    }
    draw = ir.Var(c.fresh("draw"), INT)
    at = (ir.At(draw),)
    types = {n.name: n.type for n in walk(s) if isinstance(n, ir.Var)} | dict(c.draws.types)
    if any(is_tuple(types[name]) for name in own):
        raise DrawByDraw("a tuple is not an array, so one draw cannot be selected")
    every = {name: ir.Var(name, over_axes(types[name], ir.DRAW)) for name in own}
    values = {name: ir.Gather(every[name], (draw,), (), types[name]) for name in own}
    begin = (ir.Assign(mine, values[name], s.span, declares=True) for name, mine in own.items())
    end = (ir.Update(name, (at,), ir.Var(own[name], types[name]), s.span) for name in changed)
    statements = c.draws.functions.vectorise.statements((rename(s, own, {}),))
    c.out.append(ir.For(draw.name, ir.Const(1, INT), count_of(DRAW), (*begin, *statements, *end), s.span))


def declare(c: Lifting, s: ir.Assign) -> None:
    """The variable that a statement declares, unset, along the draws."""
    t = s.value.type
    if is_tuple(t) or (rank(t) and not s.shape):
        raise DrawByDraw(f"`{s.name}` has no axis for the draws")
    run_statement(c, root_of(c), ir.Declare(s.name, t, s.shape, s.span))
