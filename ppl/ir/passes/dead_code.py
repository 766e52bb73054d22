"""Index sets that nothing reads any more: of a nest over pairs they are as long as there are pairs."""

from collections.abc import Sequence
from dataclasses import replace

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import INDICES
from ppl.ir.walk import used_names, walk, with_blocks


def eliminate_dead_code(p: ir.Program) -> ir.Program:
    """The pass; a set may have been read by another that nothing reads."""
    names = dead_index_sets(p)
    shorter = replace(
        p,
        functions=tuple(replace(f, body=kept(f.body, names)) for f in p.functions),
        transformed_parameters=kept(p.transformed_parameters, names),
        model=kept(p.model, names),
    )
    return p if shorter == p else eliminate_dead_code(shorter)


def dead_index_sets(p: ir.Program) -> set[str]:
    """Names that loops made for index sets, and that stand nowhere."""
    bodies = (*(f.body for f in p.functions), p.transformed_parameters, p.model)
    sets = (n for n in walk(bodies) if isinstance(n, ir.Assign) and n.value.type == INDICES)
    return {n.name for n in sets if n.name.endswith("__")} - used_names(p)


def kept(body: Sequence[ir.Stmt], names: set[str]) -> tuple[ir.Stmt, ...]:
    """The statements but for those that set one of the names; the steps of a scan are left alone."""
    found: list[ir.Stmt] = []
    for s in body:
        if not (isinstance(s, ir.Assign) and s.name in names):
            found.append(with_blocks(s, lambda body: kept(body, names)))
    return tuple(found)
