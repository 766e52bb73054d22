"""The law for programs that nobody looks at: no run costs a higher power of the rows than the program does
as it is written.

A random program may well go through all pairs of rows.  What its loops cost one iteration after the other,
by no pass but those that nothing runs without, is what its forms may cost.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from laws.cost.counting import Counted, TooManyLines, counted
from laws.cost.law import RUNS, Growth, growths_by, points
from laws.cost.programs import Repeatable
from laws.passes import NONE

import ppl
from ppl.errors import PPLError
from ppl.kernel.ir.rows import row_sizes
from ppl.posterior import Posterior
from ppl.records import dataclass

TIMES = (1, 2, 4)
TWICE = (2, 4, 8)
FEWEST = 4
"""Entries of a size before they are repeated, at least."""


@dataclass(frozen=True)
class Written(Repeatable):
    """A program as it is written."""

    @cached_property
    def model(self) -> Counted:
        return counted(ppl.compile_model(self.text, without=NONE))


def variables(p: Posterior) -> Any:
    return p.param_constrain(points(p)[0], include_tp=True, include_gq=True)


WRITTEN = {
    "density": RUNS["density"],
    "gradient": RUNS["gradient"],
    "parameters": lambda p: points(p)[0] + 0.0,
    "variables": variables,
}

ALLOWED_BY: Mapping[str, tuple[str, ...]] = {
    "gradient": ("gradient", "parameters"),
    "gradients of many points": ("gradient", "parameters"),
    "prepare": ("density", "gradient", "variables"),
    "variables of draws": ("variables",),
}
"""The runs as written whose powers a run may have; of the others the density.

An assignment on a tape copies what is assigned to, so that the gradient as written may be steeper. A gradient
has an entry for each parameter, also for those of an array of which the program reads little.
"""


def steeper_than_written(name: str, text: str, data: Mapping[str, Any]) -> list[Growth]:
    """What grows by more than the program as written, with each of its sizes repeated by itself."""
    program, written = Repeatable(name, text, data), Written(name, text, data)
    sizes = [size for size in row_sizes(program.model.lowered) if size in data]
    return [g for size in sizes for g in steeper_by(program, written, {size: max(FEWEST, data[size])})]


def steeper_by(program: Repeatable, written: Repeatable, way: Mapping[str, int]) -> list[Growth]:
    """The same for one size; nothing where data with more entries are no data of the program.

    Where another way is taken from some size on, a run may seem steeper: it is so at twice the sizes too.
    """
    runs = {name: run for name, run in RUNS.items() if name != "condition"}
    steeper = list[Growth]()
    for times in (TIMES, TWICE):
        try:
            as_written = growths_by(written, way, WRITTEN, times)
            found = growths_by(program, way, runs, times)
        except (PPLError, TooManyLines, ValueError):
            return steeper
        steeper = [growth for growth in found if growth.breaks(allowed(growth.run, as_written))]
        runs = {growth.run: runs[growth.run] for growth in steeper}
        if not runs:
            break
    return steeper


def allowed(run: str, as_written: list[Growth]) -> float:
    """The power that a run may have."""
    by = ALLOWED_BY.get(run, ("density",))
    return max(1.0, *(growth.exponent for growth in as_written if growth.run in by))
