"""Loops that data end early, as loops of known length.

`for (n in 1:N) { ...; if (x[n] < 0) break; ... }` runs to the first such n.  A loop of its own finds it, so
that none of the conditions is looked at where the program would not; in the other `break` is `continue`.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import TypeGuard

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.names import Fresh
from ppl.kernel.ir.varying import varies
from ppl.kernel.ir.walk import (
    assigned_names,
    backward_slice,
    has_effects,
    in_branches,
    jumps,
    used_names,
    walk,
)
from ppl.optimise.passes.batch import Dependent
from ppl.optimise.passes.inline import rename
from ppl.optimise.passes.loop_body import outer_writes
from ppl.optimise.passes.recurrence import EFFECTS
from ppl.optimise.passes.scan import silent
from ppl.types import INT

STOPS = tuple(kind for kind in EFFECTS if kind not in (ir.Jump, ir.While))


def until_break(s: ir.For, fresh: Fresh, unknown: Collection[str]) -> tuple[ir.Stmts, ir.For]:
    """The statements that find the last iteration, and the loop that ends there.

    Raises:
        Dependent: nothing breaks it off, or what the loop computes or what is `unknown` decides when.
    """
    if not any(jumps(each, "break") for each in s.body):
        raise Dependent("nothing ends the loop early")
    own = assigned_names(s.body) - outer_writes(s).keys()
    search = backward_slice(silent(s.body, own), (), jumps)  # what decides whether it goes on
    if used_names(search) & outer_writes(s).keys() or varies(search, unknown):
        raise Dependent("`break` ends the loop early")
    if has_effects(search) or any(isinstance(n, STOPS) for n in walk(search)):
        raise Dependent("it has an effect beyond the target and its own variables")
    names = {name: fresh(name) for name in sorted(assigned_names(search) | {s.variable})}
    last, here = ir.Var(fresh("last"), INT), ir.Var(names[s.variable], INT)
    found = ir.Assign(last.name, here, s.span)
    renamed = tuple(rename(each, names, {}) for each in search)
    body = in_branches(renamed, lambda each: (found, each) if is_break(each) else (each,))
    before = (
        ir.Assign(last.name, s.upper, s.span, declares=True),
        ir.For(here.name, s.lower, s.upper, body, s.span),
    )
    steps = in_branches(s.body, lambda each: (replace(each, word="continue") if is_break(each) else each,))
    return before, replace(s, upper=last, body=steps)


def is_break(s: ir.Stmt) -> TypeGuard[ir.Jump]:
    return isinstance(s, ir.Jump) and s.word == "break"
