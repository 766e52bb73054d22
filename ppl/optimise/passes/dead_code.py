"""What nothing reads: index sets, of a nest over pairs as long as there are pairs, and stores of locals."""

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import used_names, walk_statements, without
from ppl.types import INT, OverAxes


def eliminate_dead_code(p: ir.Program) -> ir.Program:
    """Unused index sets are removed.

    A variable may have been read by another that nothing reads.
    """
    names = dead_names(p)

    def is_dead(s: ir.Stmt) -> bool:
        return isinstance(s, ir.Assign) and s.name in names

    shorter = p.with_density(lambda body: without(body, is_dead), functions=True)
    return p if shorter == p else eliminate_dead_code(shorter)


def dead_names(p: ir.Program) -> set[str]:
    """Index sets, and locals that are other names of variables, that stand nowhere."""
    bodies = (*(f.body for f in p.functions), p.transformed_parameters, p.model)
    outputs = {d.name for d in p.transformed_parameter_names}
    sets = [n for n in walk_statements(bodies) if isinstance(n, ir.Declare | ir.Assign)]
    needed = outputs | {n.name for n in sets if not is_removable(n)}
    return {n.name for n in sets if isinstance(n, ir.Assign)} - needed - used_names(p)


def is_removable(s: ir.Declare | ir.Assign) -> bool:
    """Whether no more than a name is lost: nothing is computed or checked."""
    if isinstance(s, ir.Declare):
        return isinstance(s.shape, tuple)
    is_index_set = (
        isinstance(s.value.type, OverAxes) and s.value.type.element == INT and s.name.endswith("__")
    )
    return is_index_set or (isinstance(s.value, ir.Var) and s.declares and not s.shape)
