"""Densities over rows in two parts, one of which is computed less often.

A record's `parts` say which terms of a density need few of its arguments.  Where those are data, the terms of
all rows are summed when the data arrive; where the others are numbers that all rows share, the terms are
computed for each distinct y.  What is left has the counts as reals.  `prepare_normalisers` adds what that
takes to the prepared data and `split_normalisers` uses it; the checked run that explains a value that is not
finite sees the densities whole.
"""

from collections.abc import Sequence

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import Rewriter, known_data, single_assignments
from ppl.optimise.passes.batch import helper
from ppl.records import dataclass, replace
from ppl.stdlib.record import DensityParts
from ppl.stdlib.special.counts import distinct, tally
from ppl.types import REAL, array_of, axes_of, entry, over_axes, rank

Halves = tuple[ir.Expr, ir.Expr]


def prepare_normalisers(p: ir.Program) -> ir.Program:
    """Terms of densities that depend on data only are computed once, for the pass split-normalisers.

    What densities in two need, added to the prepared data.
    """
    splitting = Splitting.of(p)
    splitting.statements(p.model)
    return replace(p, prepared=(*p.prepared, *splitting.added))


def split_normalisers(p: ir.Program) -> ir.Program:
    """A density over rows becomes its kernel and the terms that were prepared.

    The densities in two; the program as it is where `prepare_normalisers` has not been.
    """
    splitting = Splitting.of(p)
    model = splitting.statements(p.model)
    return p if splitting.added else replace(p, model=model)


@dataclass
class Splitting(Rewriter):
    """`known` names hold data, `prepared` has the names of values; `added` collects what has none yet."""

    known: frozenset[str]
    prepared: dict[ir.Expr, str]
    added: list[ir.Assign]

    @classmethod
    def of(cls, p: ir.Program) -> "Splitting":
        prepared = {s.value: s.name for s in single_assignments(p.prepared)}
        return cls(known_data(p), prepared, [])

    def statement(self, s: ir.Stmt) -> ir.Stmts:
        match s:
            case ir.Increment(what="target", value=ir.Apply() as e):
                halves = self.halves(e, s)
                return (s,) if halves is None else tuple(replace(s, value=half) for half in halves)
            case ir.Profile(body=body):
                return (replace(s, body=self.statements(body)),)
            case _:
                return (s,)

    def halves(self, e: ir.Apply, s: ir.Increment) -> Halves | None:
        """The sum of a density over rows as kernel and term; None where it stays whole."""
        family = e.callee.family
        if family is None or family.parts is None or e.callee.impl is not family.log_density:
            return None
        if e.callee.reduce != "sum" or ir.loops_of(e.type) or not self.has_an_entry_a_row(e):
            return None
        parts, name = family.parts, family.name
        chosen = [k for k, (arg, _) in enumerate(family.args) if arg in parts.of]
        term = self.once(e, s, parts, chosen) or self.by_value(e, s, parts, chosen)
        if term is None:
            return None
        kernel = replace(e.callee, name=f"{name}_kernel_{e.callee.name[-4:]}", impl=parts.kernel, family=None)
        return replace(e, callee=kernel, args=(self.real(e.args[0], s), *e.args[1:]), data_if=None), term

    def has_an_entry_a_row(self, e: ir.Apply) -> bool:
        """Whether y is data, with a number of its own for each term of the sum.

        In a loop over what y does not depend on, each of its numbers stands for as many terms as the loop has
        iterations.
        """
        y = e.args[0]
        if not self.is_data(y) or rank(y.type) == 0:
            return False
        loops = tuple(axis for axis in e.axes if axis != ir.DRAW)
        return not loops or (axes_of(y.type) == loops and e.ranks[0] == max(e.ranks))

    def real(self, counts: ir.Expr, s: ir.Increment) -> ir.Var:
        """Counts as reals: the kernel multiplies them, for which they would be made real every time."""
        t = over_axes(array_of(REAL, rank(entry(counts.type))), *axes_of(counts.type))
        return self.named(ir.Promote(counts, t), s)

    def once(
        self, e: ir.Apply, s: ir.Increment, parts: DensityParts, chosen: Sequence[int]
    ) -> ir.Expr | None:
        """The term of data alone, summed when the data arrive."""
        if not all(self.is_data(e.args[k]) for k in chosen):
            return None
        args = (ir.Const(1.0, REAL), *(e.args[k] for k in chosen))
        return self.named(ir.Apply(_callee(e, parts), args, REAL), s)

    def by_value(
        self, e: ir.Apply, s: ir.Increment, parts: DensityParts, chosen: Sequence[int]
    ) -> ir.Expr | None:
        """The term of each distinct y, as often as it occurs; the rows share its other arguments."""
        y, *shared = (e.args[k] for k in chosen)
        if any(rank(entry(a.type)) or ir.loops_of(a.type) for a in shared):
            return None
        values = self.named(helper(distinct, (y,), array_of(REAL, 1)), s)
        counts = self.named(helper(tally, (y,), array_of(REAL, 1)), s)
        t = over_axes(REAL, *ir.union(*(axes_of(a.type) for a in shared)))
        return ir.Apply(_callee(e, parts), (counts, values, *shared), t)

    def named(self, e: ir.Expr, s: ir.Increment) -> ir.Var:
        """The name of a value that is prepared."""
        if e not in self.prepared:
            self.prepared[e] = f"once_{len(self.added) + 1}__"
            self.added.append(ir.Assign(self.prepared[e], e, s.span, declares=True))
        return ir.Var(self.prepared[e], e.type)

    def is_data(self, e: ir.Expr) -> bool:
        return isinstance(e, ir.Const) or (isinstance(e, ir.Var) and e.name in self.known)


def _callee(e: ir.Apply, parts: DensityParts) -> ir.Callee:
    assert e.callee.family is not None
    return ir.Callee(f"{e.callee.family.name}_term", parts.term, "elementwise", "sum")
