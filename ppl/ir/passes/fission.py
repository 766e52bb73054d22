"""The body of a scan divided into what must wait for the state and what need not.

An expression that does not depend on the state is taken out of the step: before the loop when it is the
same in every step, else into a loop of its own that computes it for all steps at once.  One that stands in
an inner loop becomes an entry of an array over that loop.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ppl.ir import nodes as ir
from ppl.ir.walk import EXPRESSIONS, assigned_names, used_names, walk, with_parts
from ppl.source import Span
from ppl.types import Tuple, array_of, core, rank

Stmts = tuple[ir.Stmt, ...]
Loops = tuple[ir.For, ...]
Ranges = tuple[tuple[str, ir.Expr, ir.Expr], ...]


@dataclass
class Fission:
    """`once` comes before the loop, `before` is the body of a loop of its own; `step` is what is left.

    `state` grows to all names that depend on the state; `moving` are those that differ between steps.
    """

    state: set[str]
    moving: set[str]
    fresh: Callable[[str], str]
    once: list[ir.Stmt] = field(default_factory=list)
    arrays: list[ir.Stmt] = field(default_factory=list)
    same: dict[tuple[ir.Expr, Ranges], ir.Expr] = field(default_factory=dict)
    """What stands for an expression, by the inner loops that its value is kept along."""

    def divide(self, body: Sequence[ir.Stmt]) -> tuple[Stmts, Stmts]:
        """What may run before the scan, and the step."""
        self.spread(body)
        self.moving |= assigned_names(body)
        before, step = self.block(body, ())
        return (*self.arrays, *before), step

    def spread(self, body: Sequence[ir.Stmt]) -> None:
        """All names that depend on the state."""
        known = -1
        while len(self.state) > known:
            known = len(self.state)
            self.follow(body, False)

    def follow(self, body: Sequence[ir.Stmt], under: bool) -> None:
        for s in body:
            match s:
                case ir.If(condition=condition, then=then, otherwise=otherwise):
                    self.follow((*then, *otherwise), under or self.depends(condition))
                case ir.For(lower=lower, upper=upper, body=inner):
                    self.follow(inner, under or self.depends((lower, upper)))
                case ir.Assign() | ir.Update() | ir.Scatter() if under or self.depends(s):
                    self.state.add(s.name)

    def depends(self, node: Any) -> bool:
        return bool(used_names(node) & self.state)

    # --- Statements ---

    def block(self, body: Sequence[ir.Stmt], loops: Loops) -> tuple[Stmts, Stmts]:
        before: list[ir.Stmt] = []
        step: list[ir.Stmt] = []
        for s in body:
            if not (self.depends(s) or assigned_names((s,)) & self.state):
                before.append(s)
                step += [s] if loops else []
                self.forget(assigned_names((s,)))
            elif isinstance(s, ir.For) and self.is_steady(s):
                inner_before, inner_step = self.block(s.body, (*loops, s))
                before += [replace(s, body=inner_before)] if inner_before else []
                step.append(replace(s, body=self.needed(inner_step)))
            elif isinstance(s, ir.For | ir.Declare):
                step.append(s)
            elif isinstance(s, ir.If):
                step.append(replace(s, condition=self.part(s.condition, loops, before, s.span)))
            else:
                step.append(with_parts(s, lambda part: self.part(part, loops, before, s.span)))  # noqa: B023
        return tuple(before), tuple(step)

    def forget(self, names: set[str]) -> None:
        """What is made of variables that have been set anew is another value."""
        self.same = {key: known for key, known in self.same.items() if not used_names(key[0]) & names}

    def is_steady(self, s: ir.For) -> bool:
        """Whether the loop runs over the same range in every step, from 1 or above."""
        steady = not used_names((s.lower, s.upper)) & (self.moving | self.state)
        return steady and isinstance(s.lower, ir.Const) and s.lower.value >= 1

    def needed(self, body: Sequence[ir.Stmt]) -> Stmts:
        """What sets the state, and what that reads."""
        names, out = set(self.state), []
        for s in reversed(body):
            if assigned_names((s,)) & names:
                names |= used_names(s)
                out.append(s)
        return tuple(reversed(out))

    # --- Expressions ---

    def part(self, node: Any, loops: Loops, before: list[ir.Stmt], span: Span) -> Any:
        """The node with the largest expressions that need not wait replaced by names for their values."""
        if isinstance(node, EXPRESSIONS) and not self.depends(node) and is_work(node):
            return self.taken_out(node, loops, before, span)
        if isinstance(node, ir.Select):
            return replace(node, condition=self.part(node.condition, loops, before, span))
        if isinstance(node, ir.Logical):
            return replace(node, left=self.part(node.left, loops, before, span))
        return with_parts(node, lambda part: self.part(part, loops, before, span))

    def taken_out(self, e: ir.Expr, loops: Loops, before: list[ir.Stmt], span: Span) -> ir.Expr:
        used = used_names(e)
        over = tuple(s for s in loops if s.variable in used)
        inner = {s.variable for s in loops}
        waits = bool(used & (self.moving - inner))
        if not over and not waits:
            return self.named(e, self.once, span)
        if not loops:
            return self.named(e, before, span)
        if rank(e.type) > 0:
            return e
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
        declared = ir.Declare(array.name, t, tuple(s.upper for s in over), span)
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


def is_work(e: ir.Expr) -> bool:
    """Whether there is something to compute or to pick, and a name can hold the result."""
    if isinstance(core(e.type), Tuple):
        return False
    calls = ir.Apply | ir.CallUser | ir.Solve
    return any(isinstance(n, calls | ir.Index | ir.Gather | ir.MakeArray) for n in walk(e))
