"""Scratch variables declared inside the loop that uses them.

`array[K] real acc;` declared once and filled anew in every iteration ties the iterations together only by
name.  Where each iteration reads no entry that it has not set, and nothing after the loop reads any, the
declaration moves into the loop, so that the loop may become arrays.
"""

from collections.abc import Sequence
from dataclasses import replace

from ppl.ir import nodes as ir
from ppl.ir.passes.definite_assignment import Definition, mentions, mentions_in_bounds
from ppl.ir.walk import assigned_names, used_names, with_blocks

Stmts = tuple[ir.Stmt, ...]


def privatise(p: ir.Program) -> ir.Program:
    """The pass."""
    outputs = {
        d.name for d in (*p.transformed_data_names, *p.transformed_parameter_names, *p.generated_names)
    }
    return replace(
        p,
        functions=tuple(replace(f, body=pushed(f.body, set())) for f in p.functions),
        transformed_data=pushed(p.transformed_data, outputs),
        transformed_parameters=pushed(p.transformed_parameters, outputs),
        model=pushed(p.model, outputs),
        generated_quantities=pushed(p.generated_quantities, outputs),
    )


def pushed(body: Sequence[ir.Stmt], outputs: set[str]) -> Stmts:
    """The statements with every declaration that can go moved into the loops after it, as deep as it goes."""
    out = list(body)
    for s in body:
        if isinstance(s, ir.Declare) and s.name not in outputs and isinstance(s.shape, tuple):
            at = next(k for k, other in enumerate(out) if other is s)
            users = [k for k in range(at + 1, len(out)) if mentions(out[k], s.name)]
            if users and all(is_private(out[k], s) for k in users):
                for k in users:
                    loop = out[k]
                    assert isinstance(loop, ir.For)
                    out[k] = replace(loop, body=(s, *loop.body))
                del out[at]
    return tuple(with_blocks(s, lambda body: pushed(body, outputs)) for s in out)


def is_private(s: ir.Stmt, d: ir.Declare) -> bool:
    """Whether the statement is a loop whose every iteration sets what it reads of the variable."""
    if not isinstance(s, ir.For) or mentions_in_bounds(s, d.name):
        return False
    if used_names(d.shape) & (assigned_names((s,)) | {s.variable}):
        return False
    return Definition(d, s).runs(s.body)
