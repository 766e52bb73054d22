"""Which values differ from draw to draw, or from point to point.

Draws that take different branches are sets of their own, so that what they have in common is still the same:
`varying_names`. Code that is compiled for all points at once knows less: what follows a jump or a rejection
that parameters decide may not be run: `unknown_names`.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import (
    assigned_names,
    implicit_arguments_of,
    jumps,
    parts_of,
    set_outside,
    walk,
    walk_statements,
)
from ppl.stdlib.functions.fills import TRANSPARENT
from ppl.types import INT

Names = Collection[str]


def varying_arguments(
    p: ir.Program, body: Sequence[ir.Stmt], names_in: Callable[[Sequence[ir.Stmt], set[str]], Names]
) -> dict[str, set[str]]:
    """For each function that the body calls, itself or by others or solvers, the arguments that may differ.

    `names_in` is varying_names or unknown_names.
    """
    functions = {f.name: f for f in p.functions}
    main = body, {d.name for d in p.parameters}
    given_to: dict[str, set[str]] = {}
    while True:
        blocks = [main, *((functions[name].body, names) for name, names in given_to.items())]
        arguments = {name: set(names) for name, names in given_to.items()}
        for statements, start in blocks:
            names = names_in(statements, start)
            for call in (n for n in walk(statements) if isinstance(n, ir.CallUser | ir.Solve)):
                f = functions[call.name if isinstance(call, ir.CallUser) else call.function]
                args = zip(f.args, call.args, strict=True)
                moving = {a for a, value in args if varies(value, names)}
                if isinstance(call, ir.Solve):
                    moving |= {*f.args[: call.points]}
                arguments.setdefault(f.name, set()).update(moving)
        if arguments == given_to:
            return given_to
        given_to = arguments


def varying_names(body: Sequence[ir.Stmt], start: set[str]) -> set[str]:
    """The names, and every variable that is computed from them or set where they decide."""
    names = set(start)
    every = [*walk_statements(tuple(body))]
    decides: Any
    while True:
        more = {name for s in every for name, value in assignments(s) if varies(value, names)}
        for s in every:
            match s:
                case ir.If(condition=decides, then=then, otherwise=otherwise):
                    inside: Sequence[ir.Stmt] = (*then, *otherwise)
                case ir.While(condition=decides, body=inside):
                    pass
                case ir.For(lower=lower, upper=upper, body=inside):
                    decides = (lower, upper)
                case _:
                    continue
            if varies(decides, names):
                more |= set_outside(inside)
            elif not isinstance(s, ir.If):
                more |= set_outside(left_out(inside, names))
        if more <= names:
            return names
        names |= more


def left_out(body: Sequence[ir.Stmt], names: set[str]) -> Sequence[ir.Stmt]:
    """The statements of a loop that only some draws skip, because of a jump."""
    for k, s in enumerate(body):
        if jumps(s) and any(isinstance(n, ir.If) and varies(n.condition, names) for n in walk_statements(s)):
            return body if any(jumps(later, "break") for later in body) else body[k:]
    return ()


def assignments(s: ir.Stmt) -> list[tuple[str, Any]]:
    """The variables that a statement itself sets, each with what its value is made of."""
    match s:
        case ir.Assign(name=name, value=value):
            return [(name, value)]
        case ir.Scatter(name=name, items=where, value=value) | ir.Update(name=name, path=where, value=value):
            return [(name, (where, value))]
        case ir.For(variable=variable, lower=lower, upper=upper):
            return [(variable, (lower, upper))]
        case ir.Scan():
            state = (s.start, s.next, s.batch_next)
            return [
                *((name, state) for name in (*s.after, *s.carried)),
                *zip(s.inputs, s.entries, strict=True),
            ]
        case _:
            return []


def varies(e: Any, names: Names) -> bool:
    """Whether something in a node, or in a tuple of nodes, differs; sizes do not."""
    match e:
        case ir.Var(name=name):
            return name in names
        case ir.TargetSoFar():
            return True
        case ir.Apply(callee=callee, type=t) if t == INT and callee.impl in TRANSPARENT:
            return False
        case _:
            return "rng" in implicit_arguments_of(e) or any(varies(part, names) for part in parts_of(e))


# --- What is known at no point before it is run --------------------------------------------------


def unknown_names(body: Sequence[ir.Stmt], start: Names) -> frozenset[str]:
    """The names that may differ in or after the statements, given those that do before them."""
    unknown = frozenset(start)
    while (more := unknown | set_from(tuple(body), unknown, False)) != unknown:
        unknown = more
    return unknown


def unknown_in(p: ir.Program, generated: bool = False) -> frozenset[str]:
    """The names in the log density, or in generated quantities too, that may differ from point to point."""
    body = (*p.log_density, *(p.generated_quantities if generated else ()))
    return unknown_names(body, {d.name for d in p.parameters})


def set_from(body: ir.Stmts, unknown: Names, inside: bool) -> frozenset[str]:
    """The names that statements set from unknown ones; all of them `inside` an unknown branch."""
    names: set[str] = set()
    for s in body:
        match s:
            case ir.Assign(name=name) | ir.Update(name=name) | ir.Scatter(name=name):
                names |= {name} if inside or varies(s, unknown) else set()
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                side = inside or varies(condition, unknown)
                names |= set_from(then, unknown, side) | set_from(otherwise, unknown, side)
            case ir.While(body=steps) | ir.For(body=steps):
                heads = s.condition if isinstance(s, ir.While) else (s.lower, s.upper)
                repeated = inside or varies(heads, unknown) or may_end(steps, unknown)
                names |= set_from(steps, unknown, repeated)
                names |= {s.variable} if repeated and isinstance(s, ir.For) else set()
            case ir.Profile(body=steps):
                names |= set_from(steps, unknown, inside)
            case ir.Scan():
                names |= {*s.after, *s.carried, *s.inputs, *assigned_names((*s.step, *s.batch))}
        inside = inside or may_end((s,), unknown)  # what follows may be left out
    return frozenset(names)


def may_end(body: Sequence[ir.Stmt], unknown: Names, inside: bool = False) -> bool:
    """Whether a jump, a return or a rejection stands under an unknown branch."""
    for s in body:
        match s:
            case ir.Jump() | ir.Return() | ir.Message(what="reject" | "fatal_error"):
                if inside:
                    return True
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                if may_end((*then, *otherwise), unknown, inside or varies(condition, unknown)):
                    return True
            case ir.For(body=steps) | ir.While(body=steps) | ir.Profile(body=steps):
                if may_end(steps, unknown, inside):
                    return True
    return False
