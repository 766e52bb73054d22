"""Which variables may differ from point to point: parameters decide their values, or whether they are set."""

from collections.abc import Collection, Sequence
from typing import Any

from ppl.ir import nodes as ir
from ppl.ir.walk import PART_NAMES, assigned_names, is_node
from ppl.stdlib.functions.table import TRANSPARENT
from ppl.types import INT

Names = frozenset[str]


def unknown_names(body: Sequence[ir.Stmt], start: Collection[str]) -> Names:
    """The names that may differ in or after the statements, given those that do before them."""
    found = frozenset(start)
    while (more := found | _set_from(tuple(body), found, False)) != found:
        found = more
    return found


def is_unknown(node: Any, unknown: Collection[str]) -> bool:
    """Whether something in a node, or in a tuple of nodes, may differ from point to point; sizes do not."""
    match node:
        case ir.TargetSoFar():
            return True
        case ir.Var(name=name):
            return name in unknown
        case ir.Apply(callee=callee, type=t) if t == INT and callee.impl in TRANSPARENT:
            return False
        case tuple():
            return any(is_unknown(item, unknown) for item in node)
        case _ if is_node(node):
            return any(is_unknown(getattr(node, part), unknown) for part in PART_NAMES[type(node)])
        case _:
            return False


def _set_from(body: tuple[ir.Stmt, ...], unknown: Names, inside: bool) -> Names:
    """The names that statements set from unknown ones; all of them `inside` an unknown branch."""
    found: set[str] = set()
    for s in body:
        match s:
            case ir.Assign(name=name) | ir.Update(name=name) | ir.Scatter(name=name):
                found |= {name} if inside or is_unknown(s, unknown) else set()
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                side = inside or is_unknown(condition, unknown)
                found |= _set_from(then, unknown, side) | _set_from(otherwise, unknown, side)
            case ir.While(body=steps) | ir.For(body=steps):
                heads = s.condition if isinstance(s, ir.While) else (s.lower, s.upper)
                repeated = inside or is_unknown(heads, unknown) or may_end(steps, unknown)
                found |= _set_from(steps, unknown, repeated)
                found |= {s.variable} if repeated and isinstance(s, ir.For) else set()
            case ir.Profile(body=steps):
                found |= _set_from(steps, unknown, inside)
            case ir.Scan():
                found |= {*s.after, *s.carried, *s.inputs, *assigned_names((*s.step, *s.batch))}
        inside = inside or may_end((s,), unknown)  # what follows may be left out
    return frozenset(found)


def may_end(body: Sequence[ir.Stmt], unknown: Collection[str], inside: bool = False) -> bool:
    """Whether a jump, a return or a rejection stands under an unknown branch."""
    for s in body:
        match s:
            case ir.Jump() | ir.Return() | ir.Say(what="reject" | "fatal_error"):
                if inside:
                    return True
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                if may_end((*then, *otherwise), unknown, inside or is_unknown(condition, unknown)):
                    return True
            case ir.For(body=steps) | ir.While(body=steps) | ir.Profile(body=steps):
                if may_end(steps, unknown, inside):
                    return True
    return False
