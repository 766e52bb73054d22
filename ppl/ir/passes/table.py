"""The passes, in the order they run."""

from collections.abc import Callable

from ppl.ir.nodes import Program
from ppl.ir.passes.hoist_data import hoist_data
from ppl.ir.passes.vectorise_loops import vectorise_loops
from ppl.ir.passes.zero_based import count_from_zero

Pass = Callable[[Program], Program]

PASSES: tuple[Pass, ...] = (vectorise_loops, count_from_zero, hoist_data)


def run_passes(program: Program) -> Program:
    for transform in PASSES:
        program = transform(program)
    return program
