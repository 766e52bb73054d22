"""The functions of the program that solvers work on, lifted over the points where a solver asks for them.

A point is to the function what a draw is to the program; its arguments that may depend on parameters have one
value for each point too.  One that cannot be lifted is called once for each point.
"""

from dataclasses import replace

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.varying import varying_arguments, varying_names
from ppl.kernel.ir.walk import walk
from ppl.optimise.passes.batch import Dependent
from ppl.optimise.passes.draws_axis import functions_of
from ppl.types import over_axes


def solver_functions(p: ir.Program) -> ir.Program:
    """The functions that solvers work on are evaluated at many points at once."""
    solved = {n.function: n for n in walk(p) if isinstance(n, ir.Solve)}
    if not solved:
        return p
    functions, body = functions_of(p), (*p.log_density, *p.generated_quantities)
    varying = varying_arguments(p, body, varying_names)
    alone: list[ir.Function] = []
    at_points = []
    for name, call in solved.items():
        f = functions.plain[name]
        own = varying.get(name, set(f.args[: call.points]))
        mask = tuple(a in own for a in f.args)
        try:
            at_points.append(ir.AtPoints(name, functions.over(name, mask), mask))
        except Dependent:
            alone.append(once_each(f, call, mask))
            at_points.append(ir.AtPoints(name, alone[-1].name, mask))
    every = (*functions.lifted.values(), *alone)
    return replace(p, functions=(*p.functions, *every), at_points=tuple(at_points))


def once_each(f: ir.Function, call: ir.Solve, mask: tuple[bool, ...]) -> ir.Function:
    """The function called for one point after the other."""
    args = tuple(
        ir.Var(a, over_axes(x.type, ir.DRAW) if m else x.type)
        for a, x, m in zip(f.args, call.args, mask, strict=True)
    )
    value = ir.CallUser(f.name, args, over_axes(call.type, ir.DRAW), batch="none")
    return replace(f, name=f"{f.name}each__", body=(ir.Return(value, f.span),))
