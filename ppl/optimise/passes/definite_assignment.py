"""Whether an iteration sets every entry of a variable that it reads (definite assignment).

A variable is followed as a whole, entry by entry where these are numbered, and by rows: x[a], ..., x[b] are
set after `x[a] = ...; for (t in (a + 1):b) x[t] = ...`, whatever a and b are.
"""

import re
from collections.abc import Iterator
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import Linear, linear
from ppl.kernel.ir.walk import (
    assigned_names,
    is_invariant,
    leaves_early,
    mentions,
    parts_of,
    used_names,
    walk,
)
from ppl.records import dataclass, field, replace
from ppl.types import INT

ONE = Linear(1, frozenset())
NAMES = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class RowRange:
    """The rows from `first` to `last` are set; where these cross, it may be none."""

    first: Linear
    last: Linear


@dataclass(frozen=True)
class State:
    """Facts at a statement: `facts` are sums that are not negative."""

    whole: bool = False
    entries: frozenset[int] = frozenset()
    rows: RowRange | None = None
    facts: tuple[Linear, ...] = ()


@dataclass
class Definition:
    """Follows one iteration of `around`, which the variable is declared before, `unset` or with a value."""

    variable: ir.Declare
    around: ir.For
    unset: bool = True
    state: State = field(default_factory=State)

    @property
    def name(self) -> str:
        return self.variable.name

    @property
    def shape(self) -> tuple[ir.Expr, ...]:
        assert isinstance(self.variable.shape, tuple)
        return self.variable.shape

    def runs(self, body: ir.Stmts) -> bool:
        """Whether no statement reads an entry that is not set."""
        return all(map(self.allows, body))

    def allows(self, s: ir.Stmt) -> bool:
        if not mentions(s, self.name):
            self.forget(assigned_names((s,)))
            return True
        if self.state.whole:
            return not any(isinstance(n, ir.Declare) and n.name == self.name for n in walk(s))
        match s:
            case ir.Assign(name=name, value=value):
                return self.reads_what_is_set(value) and self.assign(name)
            case ir.Update(name=name):
                return self.reads_what_is_set((s.path, s.value)) and self.update(s)
            case ir.Increment(value=value):
                return self.reads_what_is_set(value)
            case ir.For() if not mentions_in_bounds(s, self.name):
                return self.loop(s)
            case ir.If():
                return self.branches(s)
            case _:
                return False

    # --- Reading ---

    def reads_what_is_set(self, node: Any) -> bool:
        """Whether every entry of the variable that is read is one that is set."""
        return all(map(self.is_set, reads(node, self.name)))

    def is_set(self, read: ir.Expr) -> bool:
        match read:
            case ir.Index(items=(ir.At(ir.Const(k)),)) if len(self.shape) == 1 and k in self.state.entries:
                return True
            case ir.Index(items=(ir.At(index=index), *_)) if index.type == INT:
                row, rows = self.linear(index), self.state.rows
                return row is not None and rows is not None and self.lies_in(row, rows)
            case _:
                return False

    def lies_in(self, row: Linear, rows: RowRange) -> bool:
        return self.is_not_negative(row + -rows.first) and self.is_not_negative(rows.last + -row)

    def is_not_negative(self, x: Linear) -> bool:
        """Whether it follows from at most two of the facts."""
        facts = (Linear(0, frozenset()), *self.state.facts)
        left = (x + -one + -other for one in facts for other in facts)
        return any(not rest.terms and rest.constant >= 0 for rest in left)

    def linear(self, e: ir.Expr) -> Linear | None:
        """An int as a sum of variables, and of entries that the loop around does not change."""
        return linear(e, lambda entry: is_invariant(entry, self.around.body))

    # --- Setting ---

    def assign(self, name: str) -> bool:
        self.forget({name})
        if name == self.name:
            self.state = replace(self.state, whole=True)
        return True

    def update(self, s: ir.Update) -> bool:
        if s.name != self.name:
            self.forget({s.name})
            return True
        match s.path:
            case ((ir.At(index=index),),) if index.type == INT:
                return self.set_row(index)
            case _:
                return False

    def set_row(self, index: ir.Expr) -> bool:
        """One more row; with all entries of a fixed size the variable is whole."""
        state = self.state
        if isinstance(index, ir.Const):
            state = replace(state, entries=state.entries | {int(index.value)})
            match self.shape:
                case (ir.Const(value=size),):
                    state = replace(state, whole=state.entries == set(range(1, int(size) + 1)))
        row, rows = self.linear(index), self.linear(self.shape[0])
        if row is not None and rows is not None:
            valid = (row + -ONE, rows + -row)  # or the statement would have been refused
            state = replace(state, rows=with_row(state.rows, row), facts=(*state.facts, *valid))
        self.state = state
        return True

    def forget(self, names: set[str]) -> None:
        """Variables that are given other values: what was known in terms of them is known no more."""
        rows, facts = self.state.rows, self.state.facts
        if rows is not None and (names_in(rows.first) | names_in(rows.last)) & names:
            rows = None
        self.state = replace(self.state, rows=rows, facts=tuple(f for f in facts if not names_in(f) & names))

    # --- Control flow ---

    def loop(self, s: ir.For) -> bool:
        if self.fills(s) and (self.is_over_all(s) or self.is_only_setter(s)):
            self.state = replace(self.state, whole=True)
            return True
        self.forget(assigned_names((s,)))  # another iteration may have set them
        row = self.row_filled_by(s)
        return self.fills_row(s, row) if row is not None else self.steps(s)

    def fills(self, s: ir.For) -> bool:
        """Whether every iteration sets the entry of its variable, from the first to the last, and no more."""
        match [x for x in s.body if mentions(x, self.name)]:
            case [ir.Update(path=((ir.At(index=ir.Var(name=entry)),),), value=value)]:
                named = entry == s.variable and self.name not in used_names(value)
                return named and not leaves_early(s.body)
            case _:
                return False

    def is_over_all(self, s: ir.For) -> bool:
        """Whether a loop runs over all entries."""
        return s.lower == ir.Const(1, INT) and self.shape == (s.upper,)

    def is_only_setter(self, s: ir.For) -> bool:
        """Whether all iterations of the loop around set the same entries; the others are never set."""
        sets = sum(isinstance(n, ir.Setter) and n.name == self.name for n in walk(self.around.body))
        return self.unset and sets == 1 and is_invariant((s.lower, s.upper), (self.around,))

    def row_filled_by(self, s: ir.For) -> ir.Expr | None:
        """The row of which the loop sets every entry, from the first to the last."""
        updates = [x for x in s.body if isinstance(x, ir.Update) and x.name == self.name]
        every = s.lower == ir.Const(1, INT) and self.shape[1:] == (s.upper,) and not leaves_early(s.body)
        match updates:
            case [ir.Update(path=((ir.At(row), ir.At(ir.Var(entry))),))] if every and entry == s.variable:
                return row if row.type == INT and is_invariant(row, (s,)) else None
            case _:
                return None

    def fills_row(self, s: ir.For, row: ir.Expr) -> bool:
        """Such a loop, which may read what was set before it."""
        before = self.state
        allowed = all(
            self.reads_what_is_set(x.value)
            if isinstance(x, ir.Update) and x.name == self.name
            else self.allows(x)
            for x in s.body
        )
        self.state = before
        return allowed and self.set_row(row)

    def steps(self, s: ir.For) -> bool:
        """A loop that may not run at all; one that sets the row after the last in each step adds them all."""
        before, within = self.state, self.state
        t, lower, upper = (self.linear(e) for e in (ir.Var(s.variable, INT), s.lower, s.upper))
        if t and lower and upper and is_invariant((s.lower, s.upper), (s,)):
            within = replace(before, facts=(*before.facts, t + -lower, upper + -t))
            first = before.rows.first if before.rows and before.rows.last + ONE == lower else lower
            self.state = replace(within, rows=RowRange(first, t + -ONE))
            allowed = self.runs(s.body)
            grown = self.state.rows == RowRange(first, t) and not leaves_early(s.body)
            if allowed and grown:
                self.state = replace(before, rows=RowRange(first, upper))
                return True
        self.state = within
        allowed = self.runs(s.body)  # by what was set before it alone
        self.state = before
        return allowed

    def branches(self, s: ir.If) -> bool:
        if not self.reads_what_is_set(s.condition):
            return False
        before, ends = self.state, []
        for side in (s.then, s.otherwise):
            self.state = before
            if not self.runs(side):
                return False
            ends.append(self.state)
        one, other = ends
        self.state = State(
            whole=one.whole and other.whole,
            entries=one.entries & other.entries,
            rows=one.rows if one.rows == other.rows else before.rows,
            facts=tuple(f for f in one.facts if f in other.facts),
        )
        self.forget(assigned_names((s,)) - {self.name})
        return True


def names_in(x: Linear) -> set[str]:
    """The names in a sum, those in its entries included."""
    return {name for term, _ in x.terms for name in NAMES.findall(term)}


def with_row(rows: RowRange | None, row: Linear) -> RowRange:
    """The rows and one more: a run of rows can only grow at its end."""
    if rows is None:
        return RowRange(row, row)
    return replace(rows, last=row) if rows.last + ONE == row else rows


def reads(node: Any, name: str) -> Iterator[ir.Expr]:
    """Where the variable is read: entries of it, or the variable itself."""
    match node:
        case ir.Index(base=ir.Var(name=base), items=items) if base == name:
            yield node
            yield from reads(items, name)
        case ir.Var(name=base) if base == name:
            yield node
        case _:
            for part in parts_of(node):
                yield from reads(part, name)


def mentions_in_bounds(s: ir.For, name: str) -> bool:
    return name in used_names((s.lower, s.upper))
