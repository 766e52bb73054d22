"""Program text to Python: the phases in order, and nothing else."""

from collections.abc import Callable, Sequence

from ppl.kernel.emit.emit import emit
from ppl.kernel.emit.load import Code
from ppl.kernel.ir.lower import lower
from ppl.kernel.ir.nodes import Program
from ppl.kernel.ir.zero_based import count_from_zero
from ppl.kernel.language.check import analyse
from ppl.records import dataclass
from ppl.source import SourceText

Pass = Callable[[Program], Program]
"""A function from a program to one that means the same."""
REQUIRED: tuple[Pass, ...] = (count_from_zero,)
"""The only pass that a program needs; `optimise.forms` has the others, and their order."""


@dataclass(frozen=True)
class Compiled:
    """A program as IR and as Python code."""

    program: Program
    code: Code


def compiled(source: SourceText, passes: Sequence[Pass] = REQUIRED) -> Compiled:
    """Parse, check, lower, rewrite, emit.

    Raises:
        ModelError: the program is refused; the error has line and column.

    Example:
        >>> m = compiled(SourceText("parameters { real x; } model { x ~ normal(0, 1); }"))
        >>> m.code.emitted.text.splitlines()[0]
        'def read_data(d, read):'
    """
    program = lower(*analyse(source))
    for each in passes:
        program = each(program)
    return Compiled(program, Code.of(emit(program), source.name))
