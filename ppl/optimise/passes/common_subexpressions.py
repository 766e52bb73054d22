"""Expressions of the log joint that stand more than once, computed once.

Only what is sure to be evaluated counts, and only if nothing in it changes between one place and the next.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import (
    Fresh,
    changing_names,
    fresh_names,
    surely,
    used_names,
    walk,
    with_blocks,
    with_sure_parts,
)
from ppl.records import dataclass, field
from ppl.types import INT, is_tuple

PLAIN = (ir.Assign, ir.Update, ir.Scatter, ir.Increment, ir.Return)
"""Statements whose expressions are all evaluated."""
Shareable = ir.Apply | ir.Gather


def eliminate_common_subexpressions(p: ir.Program) -> ir.Program:
    """An expression that occurs more than once in the log joint, or a function, is computed once.

    It runs after data-only work has been hoisted.
    """
    shared = p.with_density(Sharing(changing_names(p.log_density)).block)
    return shared.with_functions(lambda body: Sharing(changing_names(body)).block(body))


@dataclass
class Sharing:
    """`changing` names are in no shared expression."""

    changing: frozenset[str]
    fresh: Fresh = field(default_factory=fresh_names)

    def block(self, body: Sequence[ir.Stmt]) -> ir.Stmts:
        """The statements of one block, each after the shared expressions that it is the first to use."""
        seen = Counter(e for s in body if isinstance(s, PLAIN) for e in self.candidates(s))
        known: dict[ir.Expr, ir.Var] = {}
        out: list[ir.Stmt] = []
        for s in body:
            if isinstance(s, PLAIN):
                out += self.shared(s, seen, known)
            else:
                out.append(with_blocks(s, self.block))
        return tuple(out)

    def shared(self, s: ir.Stmt, seen: Counter[ir.Expr], known: dict[ir.Expr, ir.Var]) -> ir.Stmts:
        before: list[ir.Stmt] = []

        def put(node: Any, uses: int = 1) -> Any:
            if isinstance(node, Shareable) and seen[node] > uses and self.may_share(node):
                if node not in known:
                    value = with_sure_parts(node, partial(put, uses=seen[node]))
                    known[node] = ir.Var(self.fresh("shared"), node.type)
                    before.append(ir.Assign(known[node].name, value, s.span, declares=True))
                return known[node]
            return with_sure_parts(node, partial(put, uses=uses))

        changed = with_sure_parts(s, put)
        return (*before, changed)

    def candidates(self, s: ir.Stmt) -> Iterator[ir.Expr]:
        """The expressions in a statement that are sure to be evaluated and may be shared."""
        return (e for e in surely(s) if isinstance(e, Shareable) and self.may_share(e))

    def may_share(self, e: Shareable) -> bool:
        plain = not (e.type == INT or is_tuple(e.type))
        if isinstance(e, ir.Apply):
            plain &= not (e.callee.implicit or e.callee.reduce)
        varies = ir.CallUser | ir.Solve | ir.TargetSoFar
        return plain and not used_names(e) & self.changing and not any(isinstance(n, varies) for n in walk(e))
