"""Hoist what every step of a recurrence computes alike from its index sets: once, before it."""

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import (
    Fresh,
    Rewriter,
    assigned_names,
    fresh_names,
    rewrite,
    surely,
    used_names,
    with_blocks,
)
from ppl.kernel.ir.zero_based import zero_based
from ppl.optimise.passes.lift import DIVISIONS
from ppl.records import dataclass, field, replace
from ppl.stdlib import batching
from ppl.types import INT, element_type


def hoist_step_invariants(p: ir.Program) -> ir.Program:
    """Computations on index sets that are the same in every step of a recurrence are done once."""
    return p.with_density(Invariants().statements, functions=True)


@dataclass
class Invariants(Rewriter):
    """`known` are the variables of the recurrence at hand, by their values."""

    fresh: Fresh = field(default_factory=fresh_names)
    known: dict[ir.Expr, ir.Var] = field(default_factory=dict)

    def statement(self, s: ir.Stmt) -> ir.Stmts:
        return self.scan(s) if isinstance(s, ir.Scan) else (with_blocks(s, self.statements),)

    def scan(self, s: ir.Scan) -> ir.Stmts:
        """The recurrence, behind what its steps need not compute."""
        self.known = {}
        step, after = self.body(s, s.step, s.next)
        batch, batch_after = self.body(s, s.batch, s.batch_next)
        before = tuple(ir.Assign(v.name, e, s.span, declares=True) for e, v in self.known.items())
        scan = replace(s, step=step, next=after, batch=batch, batch_next=batch_after)
        read = used_names((step, after, batch, batch_after))
        fixed = tuple(v for v in (*s.fixed, *self.known.values()) if v.name in read)
        return (*before, replace(scan, fixed=fixed))

    def body(
        self, s: ir.Scan, body: ir.Stmts, after: tuple[ir.Expr, ...]
    ) -> tuple[ir.Stmts, tuple[ir.Expr, ...]]:
        own = {*s.carried, *s.inputs} | assigned_names(body)
        sure = {n for n in surely((body, after)) if isinstance(n, ir.Apply) and is_index(n)}

        def change(n: object) -> object:
            if isinstance(n, ir.Apply) and not used_names(n) & own and (is_of_indices(n) or n in sure):
                return self.variable(n)
            return n

        return tuple(rewrite(x, change) for x in body), tuple(rewrite(x, change) for x in after)

    def variable(self, e: ir.Apply) -> ir.Var:
        if e not in self.known:
            self.known[e] = ir.Var(self.fresh("fixed"), e.type)
        return self.known[e]


def is_of_indices(e: ir.Apply) -> bool:
    """Whether ints are computed from ints, which nothing can keep from being computed."""
    if e.callee.impl is batching.batch_size:
        return isinstance(e.args[0], ir.Var)
    ints = all(element_type(a.type) == INT for a in (e, *e.args))
    may_fail = e.callee.name in DIVISIONS or is_index(e)
    return ints and e.callee.batch == "elementwise" and not e.callee.implicit and not may_fail


def is_index(e: ir.Apply) -> bool:
    """Whether it is an index of an entry, which is checked."""
    return e.callee.impl is zero_based
