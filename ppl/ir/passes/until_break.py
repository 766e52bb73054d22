"""Loops that data end early, as loops of known length.

`for (n in 1:N) { ...; if (x[n] < 0) break; ... }` runs to the first such n.  A loop of its own finds it, so
that none of the conditions is looked at where the program would not; in the other `break` is `continue`.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from ppl.ir import nodes as ir
from ppl.ir.names import Fresh
from ppl.ir.passes.batch import Dependent
from ppl.ir.passes.inline import rename
from ppl.ir.passes.iterations import outer_writes
from ppl.ir.passes.recurrence import EFFECTS
from ppl.ir.passes.scan import silent
from ppl.ir.varying import varies
from ppl.ir.walk import assigned_names, backward_slice, jumps, passed_to, used_names, walk
from ppl.types import INT

Stmts = tuple[ir.Stmt, ...]
STOPS = tuple(kind for kind in EFFECTS if kind not in (ir.Jump, ir.While))


def until_break(s: ir.For, fresh: Fresh, unknown: Collection[str]) -> tuple[Stmts, ir.For]:
    """The statements that find the last iteration, and the loop that ends there.

    Raises:
        Dependent: nothing breaks it off, or what the loop computes or what is `unknown` decides when.
    """
    if not any(jumps(each, "break") for each in s.body):
        raise Dependent("nothing ends the loop early")
    search = searching(s)
    if used_names(search) & outer_writes(s).keys() or varies(search, unknown):
        raise Dependent("`break` ends the loop early")
    if any(isinstance(n, STOPS) or passed_to(n) for n in walk(search)):
        raise Dependent("it has an effect beyond the target and its own variables")
    names = {name: fresh(name) for name in sorted(assigned_names(search) | {s.variable})}
    last, here = ir.Var(fresh("last"), INT), ir.Var(names[s.variable], INT)
    found = ir.Assign(last.name, here, s.span)
    body = with_breaks(tuple(rename(each, names, {}) for each in search), lambda jump: (found, jump))
    before = (
        ir.Assign(last.name, s.upper, s.span, declares=True),
        ir.For(here.name, s.lower, s.upper, body, s.span),
    )
    return before, replace(
        s, upper=last, body=with_breaks(s.body, lambda jump: (replace(jump, word="continue"),))
    )


def searching(s: ir.For) -> Stmts:
    """The statements of the body that decide whether it goes on."""
    own = assigned_names(s.body) - outer_writes(s).keys()
    return backward_slice(silent(s.body, own), (), jumps)


def with_breaks(body: Sequence[ir.Stmt], change: Callable[[ir.Jump], Stmts]) -> Stmts:
    """The statements with each `break` of the loop around them changed."""
    out: list[ir.Stmt] = []
    for s in body:
        match s:
            case ir.Jump(word="break"):
                out += change(s)
            case ir.If(then=then, otherwise=otherwise):
                sides = [with_breaks(side, change) for side in (then, otherwise)]
                out.append(replace(s, then=sides[0], otherwise=sides[1]))
            case ir.Profile(body=inner):
                out.append(replace(s, body=with_breaks(inner, change)))
            case _:
                out.append(s)
    return tuple(out)
