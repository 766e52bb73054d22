"""A program in which branches on parameters take one side at every point.

Whether the terms of the target add up over rows is tried at random points, see ppl/density/rows.py.  Where
these all take the same side of a branch, the other side is tried by this pass.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.varying import unknown_in, unknown_names, varies, varying_arguments
from ppl.kernel.ir.walk import parts_of, walk, with_parts
from ppl.types import INT

Sides = tuple[tuple[int, bool], ...]
"""Branches, by their number in the program, with the side that each takes: whether its condition holds."""
Branch = ir.If | ir.Select


def one_side(p: ir.Program, sides: Sides) -> ir.Program:
    """Some branches on parameters take one side at every point.

    The other branches are left as they are.
    """
    numbered = branches(p)
    conditions = {id(numbered[number]): ir.Const(int(holds), INT) for number, holds in sides}

    def change(n: Any) -> Any:
        if id(n) in conditions:
            n = replace(n, condition=conditions[id(n)])
        return with_parts(n, change)

    return change(p)


def branches(p: ir.Program) -> list[Branch]:
    """Every branch of a program, in the order of the program."""
    return [n for n in walk(p) if isinstance(n, Branch)]


def sides_of(p: ir.Program) -> list[Sides]:
    """For each side of a branch on parameters: this side, and those of the branches around it.

    Branches in `while` loops are not among them: a loop may not end without them.
    """
    numbers = {id(n): number for number, n in enumerate(branches(p))}
    called = varying_arguments(p, p.log_density, unknown_names)
    inside = ((f.body, unknown_names(f.body, called.get(f.name, ()))) for f in p.functions)
    both = [sides_in(statements, names, numbers) for statements, names in inside]
    return [sides for each in (*both, sides_in(p.log_density, unknown_in(p), numbers)) for sides in each]


def sides_in(
    node: Any, unknown: Collection[str], numbers: Mapping[int, int], around: Sides = ()
) -> Iterator[Sides]:
    """The same of a node, or of several, given the sides of the branches around it."""
    match node:
        case ir.While():
            return
        case ir.If() | ir.Select() if varies(node.condition, unknown):
            for holds, side in ((True, node.then), (False, node.otherwise)):
                if side != ():
                    sides = (*around, (numbers[id(node)], holds))
                    yield sides
                    yield from sides_in(side, unknown, numbers, sides)
        case _:
            for part in parts_of(node):
                yield from sides_in(part, unknown, numbers, around)
