"""What becomes of many draws at once: where they may part, and what is called for one after the other."""

from collections.abc import Iterator, Sequence
from typing import Any

from ppl.frontend.solvers import SOLVERS
from ppl.ir import nodes as ir
from ppl.ir.walk import PART_NAMES, is_node, walk
from ppl.source import Span
from ppl.stdlib import batching
from ppl.stdlib.functions.table import TRANSPARENT
from ppl.types import INT

INDEX_SETS = (batching.where_true, batching.where_false)


def meeting_points(p: ir.Program) -> tuple[list[Span], list[tuple[Span, str]]]:
    """Statements at which draws may part, and calls that are made once a draw, in order.

    A draw goes its own way where a branch, a size or an index depends on parameters.
    """
    parts, calls = [], []
    for body, start in reached(p):
        names = varying_names(body, start)
        for s in each(body):
            parts += [s.span] if any(varies(e, names) for e in decisions(s)) else []
            calls += [(s.span, e.callee.name) for e in one_by_one(s) if varies(e.args, names)]
    return parts, list(dict.fromkeys(calls))


def reached(p: ir.Program) -> list[tuple[tuple[ir.Stmt, ...], set[str]]]:
    """The log joint and the functions it calls, each with the names that differ from draw to draw."""
    functions = {f.name: f for f in p.functions}
    main = (*p.transformed_parameters, *p.model), {d.name for d in p.parameters}
    given_to: dict[str, set[str]] = {}
    while True:
        blocks = [main, *((functions[name].body, names) for name, names in given_to.items())]
        found = {name: set(names) for name, names in given_to.items()}
        for body, start in blocks:
            names = varying_names(body, start)
            for call in (n for n in walk(body) if isinstance(n, ir.CallUser | ir.Solve)):
                f = functions[call.name if isinstance(call, ir.CallUser) else call.function]
                args = zip(f.args, call.args, strict=True)
                moving = {a for a, value in args if varies(value, names)}
                if isinstance(call, ir.Solve) and varies(call, names):
                    moving |= {*f.args[: points_of(call)]}
                found.setdefault(f.name, set()).update(moving)
        if found == given_to:
            return blocks
        given_to = found


def points_of(call: ir.Solve) -> int:
    """How many first arguments of the function are the point, which the solver chooses."""
    return len(SOLVERS[call.solver].own) if call.solver in SOLVERS else 1  # theta, of Laplace's


def varying_names(body: Sequence[ir.Stmt], start: set[str]) -> set[str]:
    """The names, and every variable computed from them."""
    names = set(start)
    while True:
        more = {name for s in each(body) for name, value in assignments(s) if varies(value, names)} - names
        if not more:
            return names
        names |= more


def assignments(s: ir.Stmt) -> list[tuple[str, Any]]:
    """The variables that a statement itself sets, each with what its value is made of."""
    match s:
        case ir.Assign(name=name, value=value) | ir.Scatter(name=name, value=value):
            return [(name, value)]
        case ir.Update(name=name, value=value):
            return [(name, value)]
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
        case ir.Apply(callee=callee, type=t) if t == INT and callee.impl in TRANSPARENT:
            return False
        case tuple():
            return any(varies(item, names) for item in e)
        case _ if is_node(e):
            return any(varies(getattr(e, part), names) for part in PART_NAMES[type(e)])
        case _:
            return False


def each(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """Every statement, those inside others too."""
    return (n for n in walk(tuple(body)) if hasattr(n, "span"))


def decisions(s: ir.Stmt) -> Iterator[Any]:
    """What the statement itself decides by: conditions, bounds, sizes, indices."""
    match s:
        case ir.If(condition=condition) | ir.While(condition=condition):
            yield condition
        case ir.For(lower=lower, upper=upper):
            yield (lower, upper)
        case ir.Declare(shape=shape):
            yield shape
    for e in own_expressions(s):
        match e:
            case ir.Select(condition=condition):
                yield condition
            case ir.Logical(left=left):
                yield left
            case ir.Index(items=items) | ir.Gather(items=items):
                yield items
            case ir.Apply(callee=callee) if callee.impl in INDEX_SETS:
                yield e.args


def one_by_one(s: ir.Stmt) -> Iterator[ir.Apply]:
    """Library calls of the statement itself that take no leading axis."""
    for e in own_expressions(s):
        if isinstance(e, ir.Apply) and e.callee.batch == "none":
            family = e.callee.family
            rows = family is not None and (family.batch == "leading" or family.cores)
            helper = e.callee.impl.__module__ == batching.__name__
            if not (rows or helper or e.callee.impl in TRANSPARENT):
                yield e


def own_expressions(s: ir.Stmt) -> Iterator[Any]:
    """The expressions of a statement that belong to no statement inside it."""
    inside = {id(n) for inner in each((s,)) if inner is not s for n in walk(inner)}
    return (n for n in walk(s) if n is not s and id(n) not in inside)
