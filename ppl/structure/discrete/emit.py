"""The statements that sum out one parameter, and those that draw it back.

The terms fill tables where they stand.  `finish` adds the sum to the target: over the table itself for
entries that meet no other of their own (a mixture), over forward messages along a chain (Rabiner 1989,
equations 18 to 20, in logarithms).  `backward` draws each entry from its conditional given what has been
drawn before (forward filtering, backward sampling; Carter and Kohn 1994, equation 10).
"""

from collections.abc import Callable, Sequence
from functools import cached_property, reduce

from ppl.kernel.language import ast
from ppl.programs.rewriting import (
    Stmts,
    bottom_up,
    code,
    expr,
    indexed,
    integer,
    loops,
    names_in,
    rewrite,
    substituted,
    variable,
)
from ppl.records import dataclass, replace
from ppl.source import Span
from ppl.structure.discrete.affine import plus, tidy
from ppl.structure.discrete.parameters import Discrete
from ppl.structure.discrete.steps import (
    Elimination,
    Neighbour,
    covers,
    is_scattered,
    latest,
    neighbour,
    scope_of,
)
from ppl.structure.discrete.terms import Ref, Term, with_values

Head = tuple[str, ast.Expr, ast.Expr]
Heads = list[Head]
Exprs = tuple[ast.Expr, ...]


@dataclass(frozen=True)
class Way:
    """How values are put together, and one chosen: sums and draws, or the largest and where it is."""

    join: str
    choose: str


SUM = Way("log_sum_exp(e)", "categorical_rng(softmax(e))")
MAXIMUM = Way("max(e)", "sort_indices_desc(e)[1]")


@dataclass(frozen=True)
class Emit:
    """The statements of one step."""

    step: Elimination
    way: Way
    tilt: ast.Expr | None = None
    """The first content of the table in place of zeros: a log weight for each value of each entry."""
    own: frozenset[str] = frozenset()
    """The variables of the block, which a term that is to stand elsewhere must not read."""

    @cached_property
    def of_each(self) -> list[Term]:
        """The terms that stand in loops over all entries and can be computed entry by entry in one loop."""
        return [t for t in self.step.terms if self.step.each and self.is_of_each(t)]

    @property
    def has_table(self) -> bool:
        """Whether there is a table of all entries."""
        s = self.step
        gathered = len(self.of_each) + sum(is_scattered(self.d, t) for t in s.terms)
        return not self.by_entry or self.tilt is not None or gathered < len(s.terms)

    @property
    def by_entry(self) -> bool:
        """Whether the values of an entry are put together entry by entry."""
        return bool(self.of_each) or bool(self.step.each and self.step.flat)

    @property
    def d(self) -> Discrete:
        return self.step.parameter

    @property
    def span(self) -> Span:
        return self.d.span

    # --- Tables ---

    def declarations(self) -> Stmts:
        """The tables, at the head of the block."""
        s = self.step
        tables = self.table(s.table, self.sizes, "vector") if self.has_table else ()
        for scope, name in s.scopes.items():
            few = (s.neighbours[k].parameter.size for k in scope)
            tables += self.table(name, (*self.d.dims, *few), "vector")
        if self.tilt is not None:
            tables += self.tilted(self.tilt)
        if s.flat:
            tables += self.flat_table()
        if s.order and not s.steady:
            tables += self.table(s.pairs, self.sizes, "matrix")
        return tables

    @property
    def sizes(self) -> Exprs:
        """How many entries the parameter has, and how many values each neighbour."""
        return (*self.d.dims, *(n.parameter.size for n in self.step.neighbours))

    def local(
        self, keyword: str, name: str, own: Exprs, dims: Exprs = (), value: ast.Expr | None = None
    ) -> ast.Declaration:
        t = ast.SizedType(self.span, keyword, None, own, dims)
        return ast.Declaration(self.span, t, name, self.span, value)

    def flat_table(self) -> Stmts:
        """A row of zeros, one for each value of each entry."""
        n = reduce(lambda a, b: ast.Binary(self.span, "*", a, b), (*self.sizes, self.d.size))
        return (self.local("vector", self.step.flat, (n,), value=expr("rep_vector(0, n)", self.span, n=n)),)

    def place(self, indices: Exprs, axes: Exprs, position: ast.Expr) -> ast.Expr:
        """Where the table in one row has an entry."""
        before = plus(indices[0], -1)
        for index, size in zip((*indices[1:], *axes), self.sizes[1:], strict=True):
            before = expr("a * n + b", self.span, a=before, n=size, b=plus(index, -1))
        at = expr("a * n + b", self.span, a=before, n=self.d.size, b=position)
        return indexed(self.step.flat, (at,), self.span)

    def tilted(self, weights: ast.Expr) -> Stmts:
        """The weights added to the table, for all values of the neighbours."""
        s = self.step
        at = tuple(ast.SingleIndex(self.span, variable(i, self.span)) for i in s.at)
        each = ast.Indexed(self.span, weights, at) if at else weights
        table = indexed(s.table, (*self.entry(None), *self.value_axes()), self.span)
        heads = [*self.entry_heads(), *self.value_heads()]
        return loops(heads, code("a += b;", self.span, a=table, b=each), self.span)

    def table(self, name: str, sizes: Exprs, keyword: str) -> Stmts:
        """A table of zeros: a vector or matrix over the values for each of `sizes`."""
        span, k = self.span, self.d.size
        own = (k,) if keyword == "vector" else (k, k)
        value = expr(f"rep_{keyword}(0, {', '.join('k' for _ in own)})", span, k=k)
        if sizes:
            value = ast.Call(span, "rep_array", (value, *sizes))
        return (self.local(keyword, name, own, sizes, value),)

    # --- Terms, where they stand ---

    def fills(self) -> dict[int, Stmts]:
        """The statement of each term: its value for all values of its entries, added to a table.

        Terms that may stand later, as they read no variable of the block but finished tables, are gathered in
        one statement for each table.
        """
        gathered: dict[tuple[int, ...], list[Term]] = {}
        beside = {id(t.statement) for t in self.of_each}
        out: dict[int, Stmts] = {}
        for t in self.step.terms:
            if id(t.statement) in beside:
                out[id(t.statement)] = ()
            elif self.step.order == 0 and is_movable(t, self.own):
                gathered.setdefault(scope_of(self.step, t), []).append(t)
                out[id(t.statement)] = ()
            else:
                out[id(t.statement)] = self.filling([t])
        for terms in gathered.values():
            out[id(terms[-1].statement)] = self.filling(terms)
        return out

    def is_of_each(self, t: Term) -> bool:
        (r,) = t.of(self.d.name)
        loops_of = {loop.variable for loop in t.loops}
        plain = isinstance(t.statement, ast.TargetIncrement) and not t.guarded
        reads = names_in(t.statement) - loops_of
        alone = len(loops_of) == len(self.d.dims) and all(isinstance(i, ast.Variable) for i in r.known)
        return plain and alone and not reads & self.own and covers(self.step, t)

    def value_of_each(self, t: Term) -> ast.Expr:
        """The value of such a term, in the names of the step."""
        s = self.step
        (r,) = t.of(self.d.name)
        statement = with_values(t.statement, t.parameters, {r.text: self.value(s.value, self.d)})
        assert isinstance(statement, ast.TargetIncrement)
        at = {
            i.name: variable(k, self.span)
            for i, k in zip(r.known, s.at, strict=True)
            if isinstance(i, ast.Variable)
        }
        return substituted(statement.value, at)

    def filling(self, terms: Sequence[Term]) -> Stmts:
        """The statements of terms that touch the same entries, for all values of these."""
        s, t = self.step, terms[-1]
        if t is s.steady:
            return ()
        last = latest(s, t)
        scope = scope_of(s, t)
        scattered = is_scattered(self.d, t)
        table = s.table if scattered else s.scopes.get(scope, s.table)
        near = [s.neighbours[k] for k in scope] if scope in s.scopes and not scattered else list(s.neighbours)
        heads = [self.head(n.value, n.parameter) for n in near]
        axes = tuple(variable(n.value, self.span) for n in near)
        own: Exprs = (variable(s.value, self.span),)
        own_heads = [self.head(s.value, self.d)]
        if len(t.of(self.d.name)) > 1:
            table = s.pairs
            own = (variable(s.before, self.span), *own)
            own_heads = [self.head(s.before, self.d), *own_heads]
        target = indexed(table, (*last.known, *axes, *own), self.span)
        if scattered:
            target = self.place(last.known, axes, own[0])
        statements = [self.with_loop_values(term, last) for term in terms]
        if len(statements) > 1:
            whole = sum_of([x.value for x in statements if isinstance(x, ast.TargetIncrement)])
            statements = [ast.TargetIncrement(t.statement.span, whole)]
        return loops([*heads, *own_heads], redirected(statements[0], target), t.statement.span)

    def with_loop_values(self, t: Term, last: Ref) -> ast.Statement:
        """The statement of a term with loop variables for its entries."""
        s = self.step
        values: dict[str, ast.Expr] = {
            r.text: self.value(s.value if r == last else s.before, self.d) for r in t.of(self.d.name)
        }
        for text, n in self.values_of(t):
            values[text] = self.value(n.value, n.parameter)
        return tidied(with_values(t.statement, t.parameters, values))

    def values_of(self, t: Term) -> list[tuple[str, Neighbour]]:
        """The entries of other parameters that a term touches, and the neighbours that they are."""
        s = self.step
        out = []
        for r in t.refs:
            if r.name != self.d.name:
                next_index = neighbour(s, t, r).text
                out.append((r.text, next(n for n in s.neighbours if n.text == next_index)))
        return out

    # --- The sum ---

    def at(self, name: str, time: ast.Expr | None, axes: Exprs, *more: ast.Expr) -> ast.Expr:
        """An entry of a table at the indices of the step, or at another time along the chain."""
        return indexed(name, (*self.entry(time), *axes, *more), self.span)

    def head(self, name: str, d: Discrete) -> Head:
        """A loop over the positions of a parameter's values."""
        return name, integer(1, self.span), d.size

    def value(self, name: str, d: Discrete) -> ast.Expr:
        """The value at the position of such a loop."""
        return d.value(variable(name, self.span))

    def heads(self) -> Heads:
        """Loops over the entries, less along a chain."""
        heads = self.entry_heads()
        if self.step.order:
            del heads[self.step.chain_axis]
        return heads

    def entry_heads(self) -> Heads:
        """Loops over all entries."""
        one_ = integer(1, self.span)
        return [(name, one_, size) for name, size in zip(self.step.at, self.d.dims, strict=True)]

    def value_heads(self) -> Heads:
        return [self.head(n.value, n.parameter) for n in self.step.neighbours]

    def value_axes(self) -> Exprs:
        return tuple(variable(n.value, self.span) for n in self.step.neighbours)

    def entry_axes(self) -> Exprs:
        """The positions of the values that the neighbours have."""
        return tuple(
            n.parameter.position(indexed(n.parameter.name, n.indices, self.span))
            for n in self.step.neighbours
        )

    def finish(self) -> Stmts:
        """The messages, and the target's share: a term of the neighbours."""
        if not self.step.order:
            return (*self.combined(), *self.over_entries(self.added))
        last = self.at(self.step.forward, self.d.dims[self.step.chain_axis], self.entry_axes())
        return (*self.combined(), *self.messages(), *loops(self.heads(), self.added(last), self.span))

    def combined(self) -> Stmts:
        """The tables of some neighbours added to that of all."""
        s, span = self.step, self.span
        if not s.scopes and not (s.flat and not s.each):
            return ()
        position = variable(s.value, span)
        parts = []
        for scope, name in s.scopes.items():
            few = tuple(variable(s.neighbours[k].value, span) for k in scope)
            parts.append(self.at(name, None, few, position))
        if s.flat and not s.each:
            parts.append(self.place(self.entry(None), self.value_axes(), position))
        target = self.at(s.table, None, self.value_axes(), position)
        heads = [*self.entry_heads(), *self.value_heads(), self.head(s.value, self.d)]
        return loops(heads, code("a += b;", span, a=target, b=sum_of(parts)), span)

    def over_entries(self, use: Callable[[ast.Expr], Stmts]) -> Stmts:
        """The statements on the table of each entry, given those of the neighbours."""
        s, span = self.step, self.span
        if not self.by_entry:
            return loops(self.heads(), use(self.at(s.table, None, self.entry_axes())), span)
        position = variable(s.value, span)
        parts = [self.value_of_each(t) for t in self.of_each]
        if s.flat:
            parts = [self.place(self.entry(None), (), position), *parts]
        if self.has_table:
            parts = [self.at(s.table, None, (), position), *parts]
        target = indexed(s.each, (position,), span)
        fill = code("a = b;", s.terms[0].statement.span, a=target, b=sum_of(parts))
        inside = (
            self.local("vector", s.each, (self.d.size,)),
            *loops([self.head(s.value, self.d)], fill, span),
            *use(variable(s.each, span)),
        )
        return loops(self.heads(), inside, span)

    def added(self, table: ast.Expr) -> Stmts:
        total = expr(self.way.join, self.span, e=table)
        return code("target += e;", self.span, e=total)

    def messages(self) -> Stmts:
        """The forward messages along a chain."""
        s, span = self.step, self.span
        time, one_ = variable(s.at[s.chain_axis], span), integer(1, span)
        axes = self.value_axes()
        start = code("a = b;", span, a=self.at(s.forward, one_, axes), b=self.at(s.table, one_, axes))
        k = variable(s.value, span)
        column = self.column(k, axes)
        before = self.at(s.forward, plus(time, -1), axes)
        total = expr(self.way.join, span, e=expr("a + b", span, a=before, b=column))
        here, own = self.at(s.forward, None, axes, k), self.at(s.table, None, axes, k)
        move = code("a = b + c;", span, a=here, b=own, c=total)
        inner_heads = [*self.heads(), *self.value_heads()]
        along: Head = (s.at[s.chain_axis], integer(2, span), self.d.dims[s.chain_axis])
        return (
            *self.steady(),
            self.local("vector", s.forward, (self.d.size,), self.sizes),
            *loops(inner_heads, start, span),
            *loops([along, *inner_heads, self.head(s.value, self.d)], move, span),
        )

    def column(self, position: ast.Expr, axes: Exprs, later: ast.Expr | None = None) -> ast.Expr:
        """The terms between an entry, of all values, and the one after it, of the value."""
        s, span = self.step, self.span
        base = variable(s.pairs, span) if s.steady else self.at(s.pairs, later, axes)
        return expr("m[, k]", span, m=base, k=position)

    def steady(self) -> Stmts:
        """The terms between neighbours, where they are the same all along."""
        s, span = self.step, self.span
        if s.steady is None:
            return ()
        k = self.d.size
        last = latest(s, s.steady)
        values: dict[str, ast.Expr] = {
            r.text: self.value(s.value if r is last else s.before, self.d) for r in s.steady.refs
        }
        statement = with_values(s.steady.statement, s.steady.parameters, values)
        assert isinstance(statement, ast.TargetIncrement)
        positions = tuple(variable(name, span) for name in (s.before, s.value))
        target = indexed(s.pairs, positions, span)
        heads: Heads = [self.head(name, self.d) for name in (s.before, s.value)]
        body = code("a = b;", s.steady.statement.span, a=target, b=statement.value)
        return (self.local("matrix", s.pairs, (k, k)), *loops(heads, body, span))

    # --- Drawing back ---

    def backward(self) -> Stmts:
        """Each entry from its conditional given those of the neighbours, and of the later ones of a chain."""
        s, span = self.step, self.span
        if not s.order:
            return self.over_entries(lambda table: self.chosen(table, None))
        time = variable(s.at[s.chain_axis], span)
        last = self.d.dims[s.chain_axis]
        axes = self.entry_axes()
        end = loops(self.heads(), self.chosen(self.at(s.forward, last, axes), last), span)
        later = plus(time, 1)
        after = self.d.position(indexed(self.d.name, self.entry(later), span))
        here = expr("a + b", span, a=self.at(s.forward, None, axes), b=self.column(after, axes, later))
        steps = self.chosen(here, None)
        back = ast.Variable(span, s.left)
        body = (
            *code("int t = n - s;", span, t=s.at[s.chain_axis], n=last, s=back),
            *loops(self.heads(), steps, span),
        )
        return (*end, *loops([(s.left, integer(1, span), plus(last, -1))], body, span))

    def entry(self, time: ast.Expr | None) -> Exprs:
        s = self.step
        indices: list[ast.Expr] = [variable(i, self.span) for i in s.at]
        if time is not None:
            indices[s.chain_axis] = time
        return tuple(indices)

    def chosen(self, table: ast.Expr, time: ast.Expr | None) -> Stmts:
        position = expr(self.way.choose, self.span, e=table)
        target = indexed(self.d.name, self.entry(time), self.span)
        return code("a = b;", self.span, a=target, b=self.d.value(position))


def is_movable(t: Term, own: frozenset[str]) -> bool:
    """Whether a term may stand later in the block: it stands in no loop or branch and reads none of `own`."""
    plain = isinstance(t.statement, ast.TargetIncrement) and not t.loops and not t.guarded
    return plain and not names_in(t.statement) & own


def sum_of(parts: Sequence[ast.Expr]) -> ast.Expr:
    return reduce(lambda a, b: ast.Binary(b.span, "+", a, b), parts)


def tidied(s: ast.Statement) -> ast.Statement:
    """The statement with the constants in its indices gathered."""

    def index(n: ast.Node) -> ast.Node:
        return replace(n, value=tidy(n.value)) if isinstance(n, ast.SingleIndex) else n

    return bottom_up(s, index)


def redirected(s: ast.Statement, target: ast.Expr) -> Stmts:
    """The statement with what it adds to the target added to a table's entry."""

    def added(n: ast.Node) -> Stmts | None:
        match n:
            case ast.TargetIncrement(value=value):
                return code("a += b;", n.span, a=target, b=value)
            case ast.Tilde():
                raise AssertionError("whole.py makes every `~` in a term an increment")
            case _:
                return None

    return rewrite((s,), added)
