"""Statements for some draws alone: what they read is picked, and what they change is put back."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import Dependent, at_place, at_positions, helper, same_along
from ppl.ir.passes.draws_state import DRAW, Along, less_one, over, whose_var
from ppl.ir.passes.inline import has_return, rename
from ppl.ir.varying import set_outside
from ppl.ir.walk import assigned_names, declared_names, jumps, used_names, walk, with_blocks
from ppl.source import Span
from ppl.stdlib import batching, over_draws
from ppl.stdlib.record import Impl
from ppl.types import INT, REAL, Tuple, Type, axes_of, rank

Stmts = tuple[ir.Stmt, ...]
Lay = Callable[[Along, Stmts], Stmts]
"""Statements laid out along the draws."""


def for_some(c: Along, impl: Impl, args: Sequence[ir.Expr], body: Sequence[ir.Stmt], lay: Lay) -> None:
    """The statements for the draws at positions that a function finds; `lay` lays them out along those."""
    for_those(c, c.name("at", helper(impl, args, DRAW.type)), body, lay)


def for_those(c: Along, at: ir.Var, body: Sequence[ir.Stmt], lay: Lay) -> None:
    """The statements for the draws at some positions, if there are any.

    What they read is picked before them, and what they change is put back behind.
    """
    span = c.span
    assert span is not None
    c.functions.parts.append(span)
    if any(isinstance(n, ir.Jump | ir.Return) for s in body for n in walk(s)) and leaves(body):
        raise Dependent("some draws leave early")
    along = c.varying - c.flat.keys()
    read = sorted((used_names(tuple(body)) | assigned_names(body)) & along)
    if any(isinstance(n, ir.TargetSoFar) for s in body for n in walk(s)):
        raise Dependent("target() is read by some draws")
    changed = sorted(set_outside(body) & along)
    inside = declared_names(tuple(body))
    own = {name: c.functions.fresh(name) for name in read if name in changed or name not in inside}
    own[DRAW.name] = c.functions.fresh("draw")
    types = {n.name: n.type for s in body for n in walk(s) if isinstance(n, ir.Var)} | c.types
    inner = Along(
        c.functions,
        {own.get(name, name) for name in c.varying},
        span=span,
        types={own.get(name, name): t for name, t in types.items()},
    )
    where = less_one(at)
    for name, mine in own.items():
        if name != DRAW.name and name not in types:
            raise Dependent(f"`{name.rstrip('_')}` is changed in part by some draws")
        t = DRAW.type if name == DRAW.name else over(types[name])
        if isinstance(t, Tuple):
            raise Dependent("a tuple is picked for some draws")
        value = at_positions(ir.Var(name, t), where)
        inner.out.append(ir.Assign(mine, value, span, declares=True))
    sets = pick_index_sets(c, inner, at, body, own)
    begin, inner.out = inner.out, []
    renamed = tuple(rename(s, own, {}) for s in body)
    middle = substituted(lay(inner, renamed), own[DRAW.name])
    middle = tuple(added_at(s, at) for s in middle)
    end = [scattered(ir.Var(own[name], over(types[name])), name, where, span) for name in changed]
    end += [
        scattered(ir.Var(own[name], along_flat(c, name)), name, less_one(sets[c.flat[name]]), span)
        for name in sorted(set_outside(body) & c.flat.keys())
    ]
    size = helper(batching.batch_size, (at,), INT)
    c.out.append(ir.If(size, (*begin, *middle, *end), (), span))


def scattered(value: ir.Var, name: str, where: ir.Expr, span: Span) -> ir.Scatter:
    """The values put back where they were picked."""
    return ir.Scatter(name, (where, *at_place(value)[1:]), (), value, value.type, span)


def along_flat(c: Along, name: str) -> Type:
    """The type of a variable along an index set that differs by draw."""
    return over(c.types.get(name, INT), c.flat[name])


def pick_index_sets(
    c: Along, inner: Along, at: ir.Var, body: Sequence[ir.Stmt], own: dict[str, str]
) -> dict[str, ir.Var]:
    """What the statements read along index sets that differ by draw, for the entries of the draws at `at`.

    Gives the positions of these entries, by the variable that says whose the entries of a set are.
    """
    read = sorted((used_names(tuple(body)) | assigned_names(body)) & c.flat.keys())
    found: dict[str, ir.Var] = {}
    for whose in sorted({c.flat[name] for name in read}):
        entries = helper(over_draws.among, (whose_var(whose), at), whose_var(whose).type)
        found[whose] = inner.name("at", entries)
        picked = at_positions(whose_var(whose), less_one(found[whose]))
        renumbered = inner.name("draw", helper(over_draws.numbered, (picked, at), picked.type))
        own[whose] = renumbered.name
        inner.flat[renumbered.name] = renumbered.name
    for name in read:
        whose = c.flat[name]
        if name == whose:
            continue
        own[name] = c.functions.fresh(name)
        value = at_positions(ir.Var(name, along_flat(c, name)), less_one(found[whose]))
        inner.out.append(ir.Assign(own[name], value, body[0].span, declares=True))
        inner.flat[own[name]] = own[whose]
    return found


def leaves(body: Sequence[ir.Stmt]) -> bool:
    """Whether a return, or a break of a loop outside, stands in the statements."""
    return any(has_return(s) for s in body) or any(jumps(s, "break") for s in body)


def substituted(body: Stmts, draw: str) -> Stmts:
    """The statements with other numbers of the draws."""
    return tuple(rename(s, {DRAW.name: draw}, {}) for s in body)


def added_at(s: Any, at: ir.Var) -> Any:
    """What some draws add to the target, for all."""
    match s:
        case ir.Increment(value=value):
            value = value if ir.DRAW in axes_of(value.type) else same_along(value, at)
            if rank(value.type) > 1:
                value = helper(over_draws.sum_from, (value,), over(REAL))
            value = helper(over_draws.of_some, (value, at, DRAW), over(REAL))
            return replace(s, value=value)
        case ir.If() | ir.For() | ir.While() | ir.Profile():
            return with_blocks(s, lambda body: tuple(added_at(x, at) for x in body))
        case ir.CallVoid():
            raise Dependent("a function adds to the target of some draws")
        case _:
            if any(isinstance(n, ir.CallUser) and "target" in n.passes for n in walk(s)):
                raise Dependent("a function adds to the target of some draws")
            return s
