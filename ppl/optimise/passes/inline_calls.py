"""Functions with loops written out where they are called, outside of loops.

What the loop needs of the data alone, its index sets above all, is then seen to be data and computed once.
"""

from collections.abc import Mapping, Sequence

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.names import Fresh, fresh_names
from ppl.kernel.ir.walk import functions_where
from ppl.optimise.passes.inline import Inline, NotInlinable


def inline_calls(p: ir.Program) -> ir.Program:
    """Functions with loops are inlined, so that their index sets are known from data."""
    functions, fresh = looping(p.functions), fresh_names("_out")
    return p.with_density(lambda body: written(body, functions, fresh))


def looping(functions: Sequence[ir.Function]) -> dict[str, ir.Function]:
    """The functions with a loop in them, or in one that they call."""
    names = functions_where(functions, lambda n: isinstance(n, ir.For))
    return {f.name: f for f in functions if f.name in names}


def written(body: Sequence[ir.Stmt], functions: Mapping[str, ir.Function], fresh: Fresh) -> ir.Stmts:
    out: list[ir.Stmt] = []
    for s in body:
        try:
            is_loop = isinstance(s, ir.Loop)  # loops write out what helps them
            out += [s] if is_loop else Inline(functions, fresh).statement(s)
        except NotInlinable:
            out.append(s)
    return tuple(out)
