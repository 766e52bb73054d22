"""Emitted code of programs that call solvers."""

from functools import cached_property
from typing import Any

from ppl.arrays import AUTOGRAD, NUMPY
from ppl.kernel.emit.load import Code, load
from ppl.late import LateModule
from ppl.optimise.compiled_calls import CompiledCalls
from ppl.optimise.solver_functions import SolverFunction
from ppl.optimise.tracing.namespace import TRACING
from ppl.optimise.tracing.tracer import refuse
from ppl.records import dataclass

SOLVERS = LateModule("ppl.optimise.solve")


@dataclass(frozen=True)
class SolvingCode(Code):
    """Emitted code whose functions solvers may call."""

    @cached_property
    def solver_functions(self) -> dict[str, SolverFunction]:
        """The functions of the module as solvers call them, by name."""
        plain, traced = (load(self, xp).functions for xp in (NUMPY, AUTOGRAD))
        tracing = load(self, TRACING, print=refuse).functions
        return {
            f.name: SolverFunction(
                plain[f.name],
                plain[f.lifted_name],
                traced[f.lifted_name],
                f.varies,
                CompiledCalls(tracing[f.lifted_name]),
            )
            for f in self.emitted.at_points
        }

    def solve(self, *args: Any) -> Any:
        """The solvers are imported by programs that call them."""
        return SOLVERS.solve(self.solver_functions.__getitem__, *args)
