"""Transformed parameters and generated quantities of all draws at once.

Statements are laid out along the draws as those of the log density are, and random numbers are drawn for all
of them.  A statement that cannot be is run for one draw after the other, and its note says why.
"""

from collections.abc import Sequence
from dataclasses import replace

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import Dependent
from ppl.ir.passes.draws_axis import functions_of
from ppl.ir.passes.draws_state import COUNT, Along, DrawByDraw, Functions, Stmts, less_one, over
from ppl.ir.passes.draws_statements import declared, lay_statement, left_together, with_axis
from ppl.ir.passes.inline import NotInlinable, rename
from ppl.ir.passes.vectorise_loops import Note
from ppl.ir.varying import varying_names
from ppl.ir.walk import assigned_names, declared_names, used_names, walk
from ppl.types import INT, Tuple, core, rank


def variables_of_draws(p: ir.Program) -> ir.Program:
    """The pass; raises DrawByDraw as `variables_laid_out` does."""
    return variables_laid_out(p)[0]


def variables_laid_out(p: ir.Program) -> tuple[ir.Program, list[Note]]:
    """The program whose variables are arrays over draws, with no target; a note on each statement left.

    Raises:
        DrawByDraw: a block has what cannot be laid out along draws; the message says why.
    """
    refuse(p)
    made, notes = functions_of(p), list[Note]()
    names = {d.name for d in p.parameters}
    body = left_together(made, p.transformed_parameters, names)
    along = block_of(made, body, names)
    try:
        parameters = tuple(declared(along, d) for d in p.parameters)
    except Dependent as why:
        raise DrawByDraw(str(why)) from None
    transformed = block(along, body, p.transformed_parameter_names, notes)
    names |= {d.name for d in p.transformed_parameter_names}
    body = left_together(made, p.generated_quantities, names)
    generated = block(block_of(made, body, names), body, p.generated_names, notes)
    lifted = replace(
        p,
        functions=(*p.functions, *made.laid_out.values()),
        parameters=parameters,
        transformed_parameters=transformed,
        model=(),
        generated_quantities=generated,
    )
    return lifted, notes


def refuse(p: ir.Program) -> None:
    """DrawByDraw, where draws must keep their order."""
    body = (*p.transformed_parameters, *p.generated_quantities)
    if any(isinstance(n, ir.Say) and n.what == "print" for n in walk((body, p.functions))):
        raise DrawByDraw("what is printed for a draw stands together")


def block_of(made: Functions, body: Stmts, names: set[str]) -> Along:
    """The statements of a block, before any of them; `names` vary from before."""
    types = {n.name: n.type for n in walk(body) if isinstance(n, ir.Var) and n.name in names}
    return Along(made, varying_names(body, names), types=types)


def block(c: Along, body: Stmts, outputs: Sequence[ir.Declared], notes: list[Note]) -> Stmts:
    """Every statement along the draws, and every output."""
    c.out = []
    for s in body:
        c.span = s.span
        statement(c, s, notes)
    for d in outputs:
        c.span = d.span
        with_axis(c, d.name, d.type)
    return tuple(c.out)


def statement(c: Along, s: ir.Stmt, notes: list[Note]) -> None:
    """For all draws at once, else for one by one."""
    known = c.known()
    try:
        lay_statement(c, s)
    except (Dependent, NotInlinable) as why:
        c.restore(known)
        notes.append(Note(s.span, str(why)))
        one_by_one(c, s)


def one_by_one(c: Along, s: ir.Stmt) -> None:
    """A loop over the draws, in which the statement sees the values of one draw under other names."""
    if isinstance(s, ir.Declare):
        raise DrawByDraw(f"the size of `{s.name}` may differ from draw to draw")
    if used_names(s) & c.flat.keys():
        raise DrawByDraw("an index set differs from draw to draw")
    if isinstance(s, ir.Assign) and s.declares:
        declare(c, s)
        s = replace(s, declares=False, shape=())
    inside = declared_names((s,))
    for name in sorted(assigned_names((s,)) - inside - c.varying):
        with_axis(c, name, c.types[name])
    changed = sorted(assigned_names((s,)) - inside)
    own = {
        name: c.functions.fresh(name) for name in sorted((used_names(s) - inside) & c.varying | {*changed})
    }
    draw = ir.Var(c.functions.fresh("draw"), INT)
    at = (ir.At(less_one(draw)),)
    types = {n.name: n.type for n in walk(s) if isinstance(n, ir.Var)} | c.types
    if any(isinstance(core(types[name]), Tuple) for name in own):
        raise DrawByDraw("a tuple is not an array, so one draw cannot be selected")
    begin = (
        ir.Assign(mine, ir.Index(ir.Var(name, over(types[name])), at, types[name]), s.span, True)
        for name, mine in own.items()
    )
    end = (ir.Update(name, (at,), ir.Var(own[name], types[name]), s.span) for name in changed)
    body = (*begin, rename(s, own, {}), *end)
    c.out.append(ir.For(draw.name, ir.Const(1, INT), COUNT, body, s.span))


def declare(c: Along, s: ir.Assign) -> None:
    """The variable that a statement declares, unset, along the draws."""
    t = s.value.type
    if isinstance(core(t), Tuple) or (rank(t) and not s.shape):
        raise DrawByDraw(f"`{s.name}` has no axis for the draws")
    lay_statement(c, ir.Declare(s.name, t, s.shape, s.span))
    c.varying.add(s.name)
