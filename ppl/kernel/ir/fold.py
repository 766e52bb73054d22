"""Int arithmetic on constants done, and branches that constants decide taken.

A function that calls itself with a constant one less, down to zero, so becomes finitely many statements.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ppl.arrays import NUMPY
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import rewrite
from ppl.stdlib.functions.operators import LARGEST_INT, LOWEST_INT, OPERATORS, require_int
from ppl.types import INT

KNOWN = frozenset(
    o.impl for op in ("+", "-", "*", "==", "!=", "<", "<=", ">", ">=") for o in OPERATORS[op].overloads
)


def folded(body: Sequence[ir.Stmt]) -> ir.Stmts:
    """The statements with what constants decide decided."""
    return decided(tuple(rewrite(s, fold) for s in body))


def fold(node: Any) -> Any:
    match node:
        case ir.Apply(callee=callee, args=args, type=t) if t == INT and callee.impl in KNOWN:
            numbers = [int(a.value) for a in args if isinstance(a, ir.Const) and a.type == INT]
            return ir.Const(int(callee.impl(NUMPY, *numbers)), INT) if len(numbers) == len(args) else node
        case ir.Apply(callee=callee, args=(ir.Const(value=value) as number,)) if callee.impl is require_int:
            return number if LOWEST_INT <= value <= LARGEST_INT else node  # which stops what evaluates it
        case ir.Logical(op=op, left=ir.Const(value=value)) if bool(value) == (op == "or"):
            return ir.Const(int(op == "or"), INT)
        case ir.Select(condition=ir.Const(value=value), then=then, otherwise=otherwise):
            return then if value else otherwise
        case _:
            return node


def decided(body: ir.Stmts) -> ir.Stmts:
    """Branches on constants replaced by what they run; nothing follows a return."""
    out: list[ir.Stmt] = []
    for s in body:
        match s:
            case ir.If(condition=ir.Const(value=value), then=then, otherwise=otherwise):
                out += decided(then if value else otherwise)
            case ir.If(then=then, otherwise=otherwise):
                out.append(replace(s, then=decided(then), otherwise=decided(otherwise)))
            case _:
                out.append(s)
        if out and isinstance(out[-1], ir.Return):
            break
    return tuple(out)
