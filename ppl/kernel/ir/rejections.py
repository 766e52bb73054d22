"""Calls outside their domain reject a point in Stan, also where nothing reads their value.

Here the value is nan, which makes the log density nan where the target reads it. Where it does not, the call
adds 0 to the target, or nan.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ppl.arrays import Array, Namespace
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import bottom_up, has_effects, surely, used_names, walk, walk_statements
from ppl.records import replace
from ppl.types import REAL


def zero_or_nan(xp: Namespace, x: Array) -> Array:
    """0 for each number, infinite ones included, and nan for nan."""
    return 0.0 * xp.np.arctan(x)


def count_rejections(p: ir.Program) -> ir.Program:
    """The program with a target that is nan where a call rejects the point, whatever reads its value."""
    if not any(map(is_rejecting, walk(p.log_density))):
        return p
    needed = read_by_target(p.log_density)

    def with_checks(s: ir.Stmt) -> Sequence[ir.Stmt]:
        if isinstance(s, ir.Assign | ir.Update) and s.name not in needed:
            return (*checks(s), s)
        return (s,)

    return replace(
        p,
        transformed_parameters=bottom_up(p.transformed_parameters, with_checks),
        model=bottom_up(p.model, with_checks),
    )


def checks(s: ir.Assign | ir.Update) -> Iterator[ir.Stmt]:
    callee = ir.Callee("zero_or_nan", zero_or_nan, "elementwise", "sum")
    for call in filter(is_rejecting, surely(s.value)):
        yield ir.Increment("target", ir.Apply(callee, (call,), REAL), s.span)


def is_rejecting(node: Any) -> bool:
    return isinstance(node, ir.Apply) and node.callee.rejects


def read_by_target(body: ir.Stmts) -> set[str]:
    """The variables that the target, messages and conditions are computed from."""
    setters, needed = list[ir.Setter](), set[str]()
    for s in walk_statements(body):
        match s:
            case ir.Declare() | ir.Assign() | ir.Update() if not has_effects(s):
                setters.append(s)
            case ir.For():
                needed |= used_names((s.lower, s.upper))
            case ir.If() | ir.While():
                needed |= used_names(s.condition)
            case ir.Profile() | ir.CheckDeclared():
                pass
            case _:
                needed |= used_names(s)
    size = -1
    while size < len(needed):
        size = len(needed)
        needed = needed.union(*(used_names(s) for s in setters if s.name in needed))
    return needed
