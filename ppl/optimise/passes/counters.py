"""Loops that carry ints which data alone decide, divided in two (loop distribution).

`if (miss[n] == 1) { k += 1; yy[n] = ym[k]; }` carries k from one iteration to the next.  A first loop runs
the counter alone and stores each value that the other statements read: `k_1[n] = k`.  It depends on data
alone and runs once, when they arrive.  The second loop reads `ym[k_1[n]]`, carries nothing, and may become
arrays.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import int_sum, trips
from ppl.kernel.ir.varying import unknown_in, varies
from ppl.kernel.ir.walk import (
    EXPRESSIONS,
    Fresh,
    assigned_names,
    declared_names,
    fresh_names,
    used_names,
    walk,
    with_blocks,
    with_parts,
)
from ppl.optimise.passes.inline import rename
from ppl.optimise.passes.loop_body import outer_writes
from ppl.optimise.passes.privatise import has_own_entries
from ppl.optimise.passes.recurrence import without_any_continue
from ppl.optimise.passes.sums import accumulated
from ppl.records import dataclass, field, replace
from ppl.types import INT, array_of

Loops = tuple[ir.For, ...]
Halves = tuple[ir.Stmts, ir.Stmts]


class Indivisible(Exception):
    """The counters cannot run alone."""


def distribute_counters(p: ir.Program) -> ir.Program:
    """Ints that a loop carries and that depend on data only are computed in a separate loop."""
    return p.with_density(partial(distributed, unknown=unknown_in(p), fresh=fresh_names()))


def distributed(body: Sequence[ir.Stmt], unknown: Collection[str], fresh: Fresh) -> ir.Stmts:
    """The statements, outermost loops that can be divided so; `unknown` are what parameters decide."""
    inside = partial(distributed, unknown=unknown, fresh=fresh)
    return tuple(out for s in body for out in divided(s, unknown, fresh) or (with_blocks(s, inside),))


def divided(s: ir.Stmt, unknown: Collection[str], fresh: Fresh) -> ir.Stmts:
    """The loop of the counters and that of the rest; none without counters, or if they need the rest."""
    if isinstance(s, ir.For):
        loop = replace(s, body=without_any_continue(s.body))
        if own := counters(loop, unknown):
            with suppress(Indivisible):
                return Division(loop, own, unknown, fresh).divided()
    return ()


def counters(s: ir.For, unknown: Collection[str]) -> frozenset[str]:
    """Ints from outside that data alone decide, and that an iteration leaves for the next."""
    reads = {n.name for n in walk(s.body) if isinstance(n, ir.Var)}
    ints = {n.name for n in walk(s.body) if isinstance(n, ir.Assign | ir.Update) and n.value.type == INT}
    carried = outer_writes(s).keys() & ints & reads - accumulated(s.body)
    return frozenset(name for name in carried if name not in unknown and not has_own_entries(s, name))


@dataclass
class Division:
    """One loop with its counters; `arrays` are the arrays of the values that the rest reads."""

    loop: ir.For
    counters: frozenset[str]
    unknown: Collection[str]
    fresh: Fresh
    arrays: list[ir.Declare] = field(default_factory=list)

    def divided(self) -> ir.Stmts:
        """The arrays, the loop of the counters, and the loop that reads what was kept."""
        s = self.loop
        alone, rest = self.block(s.body, (s,))
        of_both = sorted(self.needed & declared_names(s.body))
        own = {name: self.fresh(f"{name.rstrip('_')}_at") for name in of_both}
        alone = tuple(rename(each, own, {}) for each in alone)
        return (*self.arrays, replace(s, body=alone), replace(s, body=rest))

    @cached_property
    def needed(self) -> frozenset[str]:
        """The counters and what they are computed from in an iteration."""
        inside = assigned_names(self.loop.body)
        needed = self.counters
        while True:
            statements = tuple(setters(self.loop.body, needed))
            grown = needed | (used_names(statements) & inside)
            if grown == needed:
                break
            needed = grown
        not_alone = any(isinstance(n, ir.CallUser | ir.While) for n in walk(statements))
        if not_alone or outer_writes(self.loop).keys() & needed - self.counters:
            raise Indivisible
        return needed

    def block(self, body: Sequence[ir.Stmt], loops: Loops) -> Halves:
        """The statements of the counters, with those that keep what is read of them, and the rest."""
        needed = self.needed
        alone: list[ir.Stmt] = []
        rest: list[ir.Stmt] = []
        for s in body:
            sets = assigned_names((s,))
            match s:
                case ir.If() if sets & needed:
                    keeping, condition = self.store_values(s.condition, s, loops)
                    sides = [self.block(side, loops) for side in (s.then, s.otherwise)]
                    alone += [*keeping, replace(s, then=sides[0][0], otherwise=sides[1][0])]
                    if sides[0][1] or sides[1][1]:
                        rest.append(replace(s, condition=condition, then=sides[0][1], otherwise=sides[1][1]))
                case ir.For() if sets & self.counters:
                    inner, left = self.block(s.body, (*loops, self.steady(s)))
                    alone.append(replace(s, body=inner))
                    rest.append(replace(s, body=left))
                case ir.Assign() | ir.Update() if s.name in self.counters:
                    alone.append(s)
                case ir.Profile() if sets & needed:
                    raise Indivisible
                case _:
                    keeping, changed = self.store_values(s, s, loops)
                    alone += [*keeping, *([s] if sets & needed else [])]
                    rest.append(changed)
        return tuple(alone), tuple(rest)

    def steady(self, s: ir.For) -> ir.For:
        """An inner loop that runs as often in every iteration, so that what it keeps is a rectangle."""
        if used_names((s.lower, s.upper)) & {self.loop.variable, *assigned_names(self.loop.body)}:
            raise Indivisible
        return s

    def store_values(self, node: Any, s: ir.Stmt, loops: Loops) -> tuple[ir.Stmts, Any]:
        """Statements that keep what a node reads of the counters, and the node that reads what they kept.

        The loop of the counters has not what others of this one set.
        """
        stores: dict[ir.Expr, ir.Index] = {}
        others = assigned_names(self.loop.body) - self.needed - {each.variable for each in loops}
        inside = others | assigned_names((s,))

        def change(part: Any, sure: bool = True) -> Any:
            if isinstance(part, EXPRESSIONS) and self.is_value(part, inside, sure):
                return stores.get(part) or stores.setdefault(part, self.place(s, loops))
            if isinstance(part, ir.Var) and part.name in self.counters:
                raise Indivisible
            sure = sure and not isinstance(part, ir.Select | ir.Logical | ir.For | ir.If)
            return with_parts(part, lambda inner: change(inner, sure))

        changed = change(node)
        return tuple(ir.Update(name_of(at), (at.items,), e, s.span) for e, at in stores.items()), changed

    def is_value(self, e: ir.Expr, inside: set[str], sure: bool) -> bool:
        """Whether it is an int of the counters that can be computed before the statement."""
        names = used_names(e)
        if e.type != INT or not names & self.counters:
            return False
        plain = not varies(e, self.unknown) and not any(isinstance(n, ir.CallUser) for n in walk(e))
        return isinstance(e, ir.Var) or (sure and plain and not names & inside)

    def place(self, s: ir.Stmt, loops: Loops) -> ir.Index:
        """The entry of this iteration in a new array."""
        array = ir.Var(self.fresh("counter_at"), array_of(INT, len(loops)))
        sizes = tuple(trips(loop.lower, loop.upper) for loop in loops)
        self.arrays.append(ir.Declare(array.name, array.type, sizes, s.span))
        return ir.Index(array, tuple(ir.At(number(loop)) for loop in loops), INT)


def name_of(entry: ir.Index) -> str:
    assert isinstance(entry.base, ir.Var)
    return entry.base.name


def setters(body: Sequence[ir.Stmt], names: Collection[str]) -> Iterator[Any]:
    """The statements that set some of the variables, and what decides whether they are run."""
    for s in body:
        if not assigned_names((s,)) & set(names):
            continue
        match s:
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                yield condition
                yield from setters((*then, *otherwise), names)
            case ir.For(lower=lower, upper=upper, body=inner):
                yield from (lower, upper)
                yield from setters(inner, names)
            case _:
                yield s


def number(s: ir.For) -> ir.Expr:
    """The number of an iteration, from 1."""
    at = ir.Var(s.variable, INT)
    one = ir.Const(1, INT)
    return at if s.lower == one else int_sum("+", int_sum("-", at, s.lower), one)
