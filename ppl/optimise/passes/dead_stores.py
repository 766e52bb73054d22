"""Variables declared without a value that are set whole before they are read, or never read.

Loops that became arrays leave them behind; in the steps of a recurrence they would be made anew at each.
A declaration stays where its size might be negative, which is an error of its own.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import (
    assigned_names,
    changing_names,
    mentions,
    used_names,
    walk_statements,
    with_blocks,
    without,
)
from ppl.stdlib import batching
from ppl.stdlib.functions.fills import TRANSPARENT
from ppl.types import INT, OverAxes, entry, rank


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


def eliminate_dead_stores(p: ir.Program) -> ir.Program:
    """Variables that are set as a whole before they are read are not initialised."""
    shared = (*p.transformed_data, *p.transformed_parameters, *p.model, *p.generated_quantities)
    sizes = frozenset(d.name for d in p.data if is_bounded_below(d)) - assigned_names(shared)
    left = partial(without_dead_stores, sizes=sizes | counts(shared, sizes))
    return p.with_bodies(left, lambda body: without_dead_stores(body, counts(body, frozenset())))


def is_bounded_below(d: ir.Declared) -> bool:
    """Whether it is an int that is declared to be 0 or more."""
    match d.arguments:
        case (ir.Const(value=int() as least), *_):
            return d.type == INT and d.constraint.startswith("lower") and least >= 0
    return False


def counts(body: Sequence[ir.Stmt], sizes: frozenset[str]) -> frozenset[str]:
    """Local ints that are set once, to what is 0 or more."""
    reads = sizes
    for n in walk_statements(tuple(body)):
        if isinstance(n, ir.Assign) and n.value.type == INT and is_size(n.value, reads):
            reads |= {n.name}
    return reads - changing_names(body)


def is_size(e: ir.Expr, sizes: frozenset[str]) -> bool:
    """Whether it is 0 or more, as far as is known."""
    match e:
        case ir.Const(value=int() as value):
            return value >= 0
        case ir.Var(name=name):
            return name in sizes
        case ir.Apply(callee=callee, type=t):
            return t == INT and (callee.impl in (*TRANSPARENT, batching.batch_size, batching.trips))
        case _:
            return False


def without_dead_stores(
    body: Sequence[ir.Stmt], sizes: frozenset[str], outputs: frozenset[str] = frozenset()
) -> ir.Stmts:
    live: list[ir.Stmt] = []
    left, inside = list(body), partial(without_dead_stores, sizes=sizes)
    for k, s in enumerate(left):
        match s:
            case ir.Declare(name=name) if is_allocated(s, sizes):
                first = next((j for j in range(k + 1, len(left)) if mentions(left[j], name)), None)
                if first is None and name not in outputs:
                    continue
                if first is not None and (whole := declared_by(left[first], s)):
                    left[first] = whole
                    continue
                live.append(s)
            case ir.Scan(step=step, batch=batch):
                live.append(replace(s, step=inside(step), batch=inside(batch)))
            case _:
                live.append(with_blocks(s, inside))
    return tuple(live)


def is_allocated(s: ir.Declare, sizes: frozenset[str]) -> bool:
    """Whether a declaration cannot fail: no size is negative."""
    return isinstance(s.shape, tuple) and all(is_size(size, sizes) for size in s.shape)


def declared_by(s: ir.Stmt, declared: ir.Declare) -> ir.Stmt | None:
    """A statement that sets a variable whole and does not read it, as its declaration; None of others."""
    name = declared.name
    match s:
        case ir.Assign(value=value, declares=declares, shape=shape) if s.name == name:
            if name in used_names((value, shape)):
                return None
            return s if declares else replace(s, declares=True, shape=own_sizes(declared))
    return None


def own_sizes(s: ir.Declare) -> tuple[ir.Expr, ...]:
    """The sizes that a value must have, those of its axes included; none of a number."""
    return s.shape if rank(entry(s.type)) and isinstance(s.shape, tuple) else ()
