"""Branches and loops that parameters decide, as functions of the variables that they read.

    def then_1__(a, x): ...; return (x, lib.sum_terms(target),)
    def otherwise_2__(a, x): ...
    (x, part_3__,) = lib.branch(a > 0.0, then_1__, otherwise_2__, a, x)
    target.append(part_3__)

So compiled code can hold both sides of a branch, and the step of a loop that runs it knows not how often. An
`if` at the end of a function may return from both sides; other jumps are gone by then
(optimise/passes/jumps.py).
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ppl.kernel.emit.emit_expr import condition
from ppl.kernel.emit.text import Writer, python_name, tuple_text
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import assigned_names, ends_in, is_end, jumps, used_names, walk
from ppl.types import is_tuple, rank

Body = Callable[[Writer, Sequence[ir.Stmt]], None]
"""Writes statements."""
SUMS = ("target", "jacobian")


def branch(w: Writer, s: ir.If, body: Body) -> None:
    """An `if` that parameters decide."""
    sides = s.then, s.otherwise
    changed, sums = changed_names(w, sides), sums_of(w, sides)
    partly_set = {name for name in changed if not all(sets(side, name) for side in sides)}
    names = sorted(read_names(w, sides) | partly_set)
    returns = any(isinstance(n, ir.Return) for n in walk(sides))
    functions = []
    for hint, side in (("then", s.then), ("otherwise", s.otherwise)):
        functions.append(w.temporary(hint))
        with w.block(f"def {functions[-1]}({', '.join(map(python_name, names))}):"):
            inside(w, sums, side, body)
            if not any(isinstance(n, ir.Return) for n in walk(side)):
                w.line(f"return {tuple_text([*map(python_name, changed), *totals_of(sums)])}")
    call = f"lib.branch({', '.join([condition(w, s.condition), *functions, *map(python_name, names)])})"
    if returns:
        value = [w.temporary()] if any(isinstance(n, ir.Return) and n.value for n in walk(sides)) else []
        results(w, value, [w.temporary() for _ in sums], sums, call)
        give_back(w, value)
    else:
        results(w, [*map(python_name, changed)], [w.temporary() for _ in sums], sums, call)


def loop(w: Writer, s: ir.While, body: Body) -> None:
    """A `while` that parameters decide; what it adds up is carried along."""
    changed, sums = changed_names(w, (s.body,)), sums_of(w, (s.body,))
    parts = [w.temporary() for _ in sums]
    for part in parts:
        w.line(f"{part} = 0.0")
    carried = [*map(python_name, changed), *parts]
    fixed = sorted((read_names(w, (s.body,)) | used_names(s.condition)) - {*changed})
    names = ", ".join([*carried, *map(python_name, fixed)])
    goes_on, step = w.temporary("goes_on"), w.temporary("step")
    with w.block(f"def {goes_on}({names}):"):
        w.line(f"return {condition(w, s.condition)}")
    with w.block(f"def {step}({names}):"):
        inside(w, sums, s.body, body)
        added = [f"{part} + {total}" for part, total in zip(parts, totals_of(sums), strict=True)]
        w.line(f"return {tuple_text([*map(python_name, changed), *added])}")
    call = f"lib.loop({goes_on}, {step}, {tuple_text(carried)}, {tuple_text(map(python_name, fixed))})"
    results(w, [*map(python_name, changed)], parts, sums, call)


def give_back(w: Writer, values: Sequence[str]) -> None:
    """The end of a function, or of one side of a branch at its end."""
    if w.sums is None:
        w.line(f"return {values[0]}" if values else "return")
    else:
        w.line(f"return {tuple_text([*values, *totals_of(w.sums)])}")


def inside(w: Writer, sums: tuple[str, ...], side: Sequence[ir.Stmt], body: Body) -> None:
    """The statements of a function, which has sums of its own."""
    with w.having(sums=sums):
        for what in sums:
            w.line(f"{what} = lib.terms()")
        body(w, side)


def results(w: Writer, values: Sequence[str], parts: Sequence[str], sums: Sequence[str], call: str) -> None:
    """Take what both sides, or all steps, give: values, and parts of sums."""
    w.line(f"{tuple_text([*values, *parts])} = {call}" if values or parts else call)
    for part, what in zip(parts, sums, strict=True):
        w.line(f"{what}.append({part})")


def totals_of(sums: Sequence[str]) -> list[str]:
    return [f"lib.sum_terms({what})" for what in sums]


# --- What the statements do ----------------------------------------------------------------------


def can_be_functions(w: Writer, s: ir.If | ir.While) -> bool:
    """Whether nothing inside jumps, returns from the midst, or asks for the target so far."""
    sides = (s.then, s.otherwise) if isinstance(s, ir.If) else (s.body,)
    if reads_target(sides, w.target_readers) or any(jumps(s) for side in sides for s in side):
        return False
    returns = any(isinstance(n, ir.Return) for n in walk(sides))
    return not returns or (isinstance(s, ir.If) and all(ends_in(side, is_end) for side in sides))


def reads_target(body: Any, readers: Collection[str]) -> bool:
    """Whether `target()` is read in statements, or in functions that are known to do so."""
    calls = (
        n.name in readers if isinstance(n, ir.CallUser) else isinstance(n, ir.TargetSoFar) for n in walk(body)
    )
    return any(calls)


def changed_names(w: Writer, sides: Sequence[Sequence[ir.Stmt]]) -> list[str]:
    """The variables from outside that any of the sides sets, in order."""
    return sorted({name for side in sides for name in assigned_names(side) & outer_names(w, side)})


def read_names(w: Writer, sides: Sequence[Sequence[ir.Stmt]]) -> set[str]:
    """The variables from outside that any of them reads."""
    return {name for side in sides for name in used_names(tuple(side)) & outer_names(w, side)}


def outer_names(w: Writer, side: Sequence[ir.Stmt]) -> set[str]:
    """The variables that are set before a side, less those that it declares anew."""
    return w.defined - {n.name for n in walk(tuple(side)) if isinstance(n, ir.Declare)}


def sets(side: Sequence[ir.Stmt], name: str) -> bool:
    """Whether a side gives a number a value whatever else happens; of containers, sizes are asked for."""
    set_here = (s.value.type for s in side if isinstance(s, ir.Assign) and s.name == name)
    return any(rank(t) == 0 and not is_tuple(t) for t in set_here)


def sums_of(w: Writer, sides: Sequence[Sequence[ir.Stmt]]) -> tuple[str, ...]:
    """The list that the sides add to: one that rejects spoils the target."""
    sums: set[str] = set()
    for n in walk(tuple(tuple(side) for side in sides)):
        match n:
            case ir.Increment(what=what):
                sums.add(what)
            case ir.CallUser(implicit=implicit):
                sums |= {*implicit} & {*SUMS}
            case ir.Apply(callee=ir.Callee(implicit="jacobian")):
                sums.add("jacobian")
            case ir.Message() if w.has_target:
                sums.add("target")
    return tuple(what for what in SUMS if what in sums)
