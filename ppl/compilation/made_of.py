"""Which parameters each transformed parameter is made of."""

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import assigned_names, used_names


def made_of(program: ir.Program) -> dict[str, frozenset[str]]:
    """The parameters by the name of a transformed parameter, those it has through others included.

    What one statement sets is taken to be made of all that the statement reads.
    """
    sources = {parameter.name: {parameter.name} for parameter in program.parameters}
    for statement in program.transformed_parameters:
        read = set().union(*(sources.get(name, set()) for name in used_names(statement)))
        for name in assigned_names((statement,)):
            sources[name] = sources.get(name, set()) | read
    return {d.name: frozenset(sources.get(d.name, ())) for d in program.transformed_parameter_names}
