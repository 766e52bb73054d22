"""Which values differ from draw to draw, or from point to point of a solver."""

from collections.abc import Iterator, Sequence
from typing import Any

from ppl.frontend.solvers import SOLVERS
from ppl.ir import nodes as ir
from ppl.ir.walk import PART_NAMES, assigned_names, declared_names, is_node, jumps, walk
from ppl.stdlib.functions.table import TRANSPARENT
from ppl.types import INT


def varying_arguments(p: ir.Program) -> dict[str, set[str]]:
    """For each function that the program calls with such values, the arguments that may differ."""
    functions = {f.name: f for f in p.functions}
    body = (*p.transformed_parameters, *p.model, *p.generated_quantities)
    main = body, {d.name for d in p.parameters}
    given_to: dict[str, set[str]] = {}
    while True:
        blocks = [main, *((functions[name].body, names) for name, names in given_to.items())]
        found = {name: set(names) for name, names in given_to.items()}
        for statements, start in blocks:
            names = varying_names(statements, start)
            for call in (n for n in walk(statements) if isinstance(n, ir.CallUser | ir.Solve)):
                f = functions[call.name if isinstance(call, ir.CallUser) else call.function]
                args = zip(f.args, call.args, strict=True)
                moving = {a for a, value in args if varies(value, names)}
                if isinstance(call, ir.Solve):
                    moving |= {*f.args[: points_of(call)]}
                found.setdefault(f.name, set()).update(moving)
        if found == given_to:
            return given_to
        given_to = found


def points_of(call: ir.Solve) -> int:
    """How many first arguments of the function are the point, which the solver chooses."""
    return len(SOLVERS[call.solver].own) if call.solver in SOLVERS else 1  # theta, of Laplace's


def varying_names(body: Sequence[ir.Stmt], start: set[str]) -> set[str]:
    """The names, and every variable that is computed from them or set where they decide."""
    names = set(start)
    decides: Any
    while True:
        more = {name for s in every_statement(body) for name, value in assignments(s) if varies(value, names)}
        for s in every_statement(body):
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
    """The statements of a loop that some go through less often, as a jump is theirs alone."""
    for k, s in enumerate(body):
        if jumps(s) and any(isinstance(n, ir.If) and varies(n.condition, names) for n in walk(s)):
            return body if any(jumps(later, "break") for later in body) else body[k:]
    return ()


def set_outside(body: Sequence[ir.Stmt]) -> set[str]:
    """The variables that statements set and do not declare."""
    return assigned_names(body) - declared_names(tuple(body))


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


def varies(e: Any, names: set[str]) -> bool:
    """Whether a value differs from draw to draw; the size of one that does is the same for all."""
    match e:
        case ir.Var(name=name):
            return name in names
        case ir.TargetSoFar():
            return True
        case ir.Apply(callee=ir.Callee(passes="rng")):
            return True
        case ir.CallUser(passes=passes) if "rng" in passes:
            return True
        case ir.Apply(callee=callee, type=t) if t == INT and callee.impl in TRANSPARENT:
            return False
        case tuple():
            return any(varies(item, names) for item in e)
        case _ if is_node(e):
            return any(varies(getattr(e, part), names) for part in PART_NAMES[type(e)])
        case _:
            return False


def every_statement(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """Every statement, those inside others too."""
    return (n for n in walk(tuple(body)) if hasattr(n, "span"))
