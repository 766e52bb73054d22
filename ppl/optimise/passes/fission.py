"""The body of a scan divided into what must wait for the state and what need not.

An expression that does not depend on the state is taken out of the step: before the loop when it is the
same in every step, else into a loop of its own that computes it for all steps at once.  One that stands in
an inner loop becomes an entry of an array over that loop.
"""

from collections.abc import Sequence
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import trips
from ppl.kernel.ir.walk import (
    EXPRESSIONS,
    Fresh,
    assigned_names,
    used_names,
    walk,
    with_parts,
    with_sure_parts,
)
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.types import INT, array_of, is_tuple, rank

Loops = tuple[ir.For, ...]
Halves = tuple[ir.Stmts, ir.Stmts]
Names = frozenset[str]
Ranges = tuple[tuple[str, ir.Expr, ir.Expr], ...]
ONE = ir.Const(1, INT)


@dataclass
class Fission:
    """`once` comes before the loop, `before` is the body of a loop of its own; `step` is what is left.

    `state` grows to all names that depend on the state; `moving` are those that differ between steps.
    """

    state: set[str]
    moving: set[str]
    fresh: Fresh
    once: list[ir.Stmt] = field(default_factory=list)
    arrays: list[ir.Stmt] = field(default_factory=list)
    same: dict[tuple[ir.Expr, Ranges], ir.Expr] = field(default_factory=dict)
    """The variable for an expression, by the inner loops that its value is kept along."""
    stale: set[str] = field(default_factory=set)
    """Variables that the step reads before they are set again: only their last values precede the scan."""

    def divide(self, body: Sequence[ir.Stmt]) -> Halves:
        """The statements that may run before the scan, and the step."""
        self.moving |= assigned_names(body)
        while True:
            self.spread(body)
            before, step = self.block(body, ())
            if not self.stale:
                return (*self.arrays, *before), step
            self.state |= self.stale
            self.stale, self.once, self.arrays, self.same = set(), [], [], {}

    def spread(self, body: Sequence[ir.Stmt]) -> None:
        """All names that depend on the state."""
        known = -1
        while len(self.state) > known:
            known = len(self.state)
            self.follow(body, False)

    def follow(self, body: Sequence[ir.Stmt], under: bool) -> None:
        for s in body:
            match s:
                case ir.If(then=then, otherwise=otherwise):
                    self.follow((*then, *otherwise), under or self.is_part_of_step(s))
                case ir.For(body=inner):
                    self.follow(inner, under or self.is_part_of_step(s))
                case ir.Assign() | ir.Update() | ir.Scatter() if under or self.depends(s):
                    self.state.add(s.name)

    def is_part_of_step(self, s: ir.If | ir.For) -> bool:
        """Whether all of it stands in the step: then all that it sets is known there alone."""
        if isinstance(s, ir.For) and self.is_steady(s):
            return False
        heads = s.condition if isinstance(s, ir.If) else (s.lower, s.upper)
        return self.depends(heads) or bool(assigned_names((s,)) & self.state)

    def depends(self, node: Any) -> bool:
        return bool(used_names(node) & self.state)

    # --- Statements ---

    def block(self, body: Sequence[ir.Stmt], loops: Loops, later: Names = frozenset()) -> Halves:
        """The statements divided; `later` are the names that are set again after all of them."""
        before: list[ir.Stmt] = []
        step: list[tuple[ir.Stmt, Names]] = []
        for s, again in zip(body, set_after(body, later), strict=False):
            if not (self.depends(s) or assigned_names((s,)) & self.state):
                before.append(s)
                self.forget(assigned_names((s,)))
            elif isinstance(s, ir.For) and self.is_steady(s):
                self.forget(assigned_names(s.body))
                inner_before, inner_step = self.block(s.body, (*loops, s), again | set_by((s,)))
                self.forget(assigned_names(s.body))
                before += [replace(s, body=inner_before)] if inner_before else []
                step.append((replace(s, body=inner_step), again))
            elif isinstance(s, ir.For | ir.Declare):
                step.append((s, again))
            elif isinstance(s, ir.If):
                condition = self.part(s.condition, loops, before, s.span)
                step.append((replace(s, condition=condition), again))
            else:
                changed = with_parts(s, lambda part: self.part(part, loops, before, s.span))  # noqa: B023
                step.append((changed, again))
        return tuple(before), self.needed(step)

    def forget(self, names: set[str]) -> None:
        """Forget values computed from variables that have been set anew."""
        self.same = {key: known for key, known in self.same.items() if not used_names(key[0]) & names}

    def is_steady(self, s: ir.For) -> bool:
        """Whether the loop runs over the same range in every step, from 1 or above."""
        steady = not used_names((s.lower, s.upper)) & (self.moving | self.state)
        return steady and isinstance(s.lower, ir.Const) and s.lower.value >= 1

    def needed(self, step: Sequence[tuple[ir.Stmt, Names]]) -> ir.Stmts:
        """Statements that set the state; `stale` are variables that they read and that are set again."""
        moves = [(s, again) for s, again in step if assigned_names((s,)) & self.state]
        self.stale |= {name for s, again in moves for name in used_names(s) & again - self.state}
        return tuple(s for s, _ in moves)

    # --- Expressions ---

    def part(self, node: Any, loops: Loops, before: list[ir.Stmt], span: Span) -> Any:
        """The node with the largest expressions that need not wait replaced by names for their values."""
        if isinstance(node, EXPRESSIONS) and not self.depends(node) and is_work(node):
            return self.taken_out(node, loops, before, span)
        return with_sure_parts(node, lambda part: self.part(part, loops, before, span))

    def taken_out(self, e: ir.Expr, loops: Loops, before: list[ir.Stmt], span: Span) -> ir.Expr:
        used = used_names(e)
        over = tuple(s for s in loops if s.variable in used)
        inner = {s.variable for s in loops}
        waits = bool(used & (self.moving - inner))
        if not over and not waits:
            return self.named(e, self.once, span)
        if not loops:
            return self.named(e, before, span)
        if rank(e.type) > 0 or (isinstance(e, ir.Index) and not waits):
            return e  # an entry of what is the same in every step is read as fast where it stands
        return self.entry(e, loops if waits else over, before if waits else None, span)

    def named(self, e: ir.Expr, out: list[ir.Stmt], span: Span) -> ir.Expr:
        """A variable for the value; one for equal expressions."""
        if (e, ()) not in self.same:
            name = self.fresh("known")
            out.append(ir.Assign(name, e, span, declares=True))
            self.same[e, ()] = ir.Var(name, e.type)
        return self.same[e, ()]

    def entry(self, e: ir.Expr, over: Loops, before: list[ir.Stmt] | None, span: Span) -> ir.Expr:
        """An entry of an array over the inner loops, filled before the scan."""
        key = e, tuple((s.variable, s.lower, s.upper) for s in over)
        if key in self.same:
            return self.same[key]
        t = array_of(e.type, len(over))
        array = ir.Var(self.fresh("known"), t)
        places = tuple(ir.At(ir.Var(s.variable, s.lower.type)) for s in over)
        declared = ir.Declare(array.name, t, tuple(trips(ONE, s.upper) for s in over), span)
        filled: ir.Stmt = ir.Update(array.name, (places,), e, span)
        if before is None:
            for s in reversed(over):
                filled = replace(s, body=(filled,))
            self.once += [declared, filled]
        else:
            self.arrays.append(declared)
            before.append(filled)
        self.same[key] = ir.Index(array, places, e.type)
        return self.same[key]


def set_after(body: Sequence[ir.Stmt], later: Names) -> list[Names]:
    """For each statement, the names that are set after it."""
    sets = [later]
    for s in reversed(body[1:]):
        sets.append(sets[-1] | set_by((s,)))
    return sets[::-1]


def set_by(body: Sequence[ir.Stmt]) -> Names:
    """Variables that the statements set, less those of loops, which are known inside these alone."""
    return frozenset(assigned_names(body) - {n.variable for n in walk(tuple(body)) if isinstance(n, ir.For)})


def is_work(e: ir.Expr) -> bool:
    """Whether there is something to compute or to pick, and a name can hold the result."""
    if is_tuple(e.type):
        return False
    return any(isinstance(n, ir.Call | ir.Index | ir.Gather | ir.MakeArray) for n in walk(e))
