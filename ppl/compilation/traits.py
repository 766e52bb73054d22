"""Traits of a program that decide how its log density is best computed."""

from collections.abc import Iterator
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.records import dataclass

CALLS = (ir.Apply, ir.CallUser, ir.Index, ir.Gather)
"""Nodes that cost a call each time they are run."""


@dataclass(frozen=True)
class Traits:
    """Of what the log density may run."""

    calls_of_a_step: int
    """How many functions a step of a recurrence calls, at most; 0 where there is none."""
    solves_equations: bool
    """Whether there are differential equations."""
    calls_by_row: bool
    """Whether a function of the program is called once for each row of the data."""
    calls: int
    """How many calls are written in the program: 1,000 of 1,000 statements for a scalar each."""


def traits_of(program: ir.Program) -> Traits:
    """The traits of a program in the form of values."""
    steps = ((n.step, n.next) for n in _nodes(program) if isinstance(n, ir.Scan))
    return Traits(
        max((sum(isinstance(n, CALLS) for n in walk(step)) for step in steps), default=0),
        any(isinstance(n, ir.Solve) and "ode" in n.solver for n in _nodes(program)),
        any(isinstance(n, ir.CallUser) and n.batch != "whole" for n in _nodes(program)),
        sum(isinstance(n, CALLS) for n in _nodes(program)),
    )


def _nodes(p: ir.Program) -> Iterator[Any]:
    return walk((p.functions, p.transformed_parameters, p.model))
