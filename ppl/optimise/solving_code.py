"""Emitted code of programs that call solvers."""

from functools import cached_property
from typing import Any

from ppl.arrays import AUTOGRAD, NUMPY
from ppl.kernel.emit.load import Code, Module, load
from ppl.late import LateModule
from ppl.records import dataclass
from ppl.stdlib.solvers.field import SolverFunction

SOLVERS = LateModule("ppl.optimise.solve")


@dataclass(frozen=True)
class SolvingCode(Code):
    """Emitted code whose functions solvers may call."""

    @cached_property
    def in_both(self) -> tuple[Module, Module]:
        """The module in NumPy and under autograd."""
        return load(self, NUMPY), load(self, AUTOGRAD)

    def solver_function(self, name: str) -> SolverFunction:
        """A function of the module as solvers call it."""
        plain, traced = (module.functions for module in self.in_both)
        f = next(f for f in self.emitted.at_points if f.name == name)
        return SolverFunction(plain[name], plain[f.lifted_name], traced[f.lifted_name], f.varies)

    def solve(self, *args: Any) -> Any:
        """The solvers are imported by programs that call them."""
        return SOLVERS.solve(self.solver_function, *args)
