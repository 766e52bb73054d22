"""The passes, in the order they run."""

from collections.abc import Callable

from ppl.ir.nodes import Program
from ppl.ir.passes.counters import count_by_loops
from ppl.ir.passes.fills import fill_whole
from ppl.ir.passes.hoist_data import hoist_data
from ppl.ir.passes.idle import without_idle
from ppl.ir.passes.pairs import lay_out_pairs
from ppl.ir.passes.privatise import privatise
from ppl.ir.passes.share import share
from ppl.ir.passes.vectorise_loops import vectorise_loops
from ppl.ir.passes.write_out import write_out
from ppl.ir.passes.zero_based import count_from_zero

Pass = Callable[[Program], Program]

PREPARING: tuple[Pass, ...] = (write_out, count_by_loops, privatise)
"""What makes more loops independent."""

ARRAYS: tuple[Pass, ...] = (vectorise_loops, fill_whole, lay_out_pairs, without_idle)
"""From loops to operations on arrays."""

RESOLVING: tuple[Pass, ...] = (*PREPARING, *ARRAYS, count_from_zero)
PASSES: tuple[Pass, ...] = (*RESOLVING, hoist_data, share)

REQUIRED: tuple[Pass, ...] = (count_from_zero,)
"""Without them nothing can be emitted, as indices count from one; every other may be left out."""


def run_passes(program: Program, passes: tuple[Pass, ...] = PASSES) -> Program:
    """The program after the passes; RESOLVING leaves data-only work where it stands."""
    for transform in passes:
        program = transform(program)
    return program
