"""The terms of the model block by the rows of data that they observe.

A term observes the data that its densities are of: `y[n]` in `normal_lpdf(y[n] | mu, sigma)`, also where the
density was put into a local before, as in `target += log_sum_exp(lp)`. A term that has the density of
parameters alone is a prior, and left out.
"""

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import partial, reduce
from operator import add
from typing import NamedTuple

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.calls import DENSITIES, left_and_args, outcome_of
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.scope import Symbol
from ppl.kernel.language.walk import parts, variables, walk
from ppl.programs.entries import DensityEntries, DistributedEntry, composed, indexed
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import (
    Stmts,
    bound_in,
    expr,
    inner,
    integer,
    loops,
    mentions,
    substituted,
    text_of,
    variable,
    with_blocks,
)
from ppl.records import dataclass, replace
from ppl.source import Span
from ppl.structure.definitions import SIZES, AstLoop, Definition, Exprs, leaving, readings
from ppl.structure.factors import Factors
from ppl.structure.places import Place, in_common
from ppl.structure.refused import unread
from ppl.types import INT, rank

LOG_CUMULATIVE = ("_lcdf", "_lccdf")
CUMULATIVE = (*LOG_CUMULATIVE, "_cdf", "_ccdf")
TARGET = ("_lp", "target")


@dataclass(frozen=True)
class Around:
    """The loops and branches that a statement stands in."""

    loops: tuple[AstLoop, ...] = ()
    branches: tuple[ast.If, ...] = ()


def below(s: ast.Statement, around: Around) -> Around:
    """The branches that a statement below another one stands in, an `if (...) continue;` too."""
    return replace(around, branches=(*around.branches, *leaving(s)))


class Observed(NamedTuple):
    """Observations of an expression: the places of its densities' outcomes; what else it says of data."""

    places: tuple[Place, ...] = ()
    bounds: tuple[Place, ...] = ()
    """Outcomes of cumulative distribution functions alone: a censored row, or the bound itself."""
    literals: int = 0
    """How many densities, or probabilities, are of constants."""
    priors: int = 0
    """How many densities are of parameters."""
    data: tuple[str, ...] = ()
    """Data that are read outside of densities."""


def bounds_only(observed: Observed) -> Observed:
    """Observations of a cumulative distribution function."""
    return observed._replace(places=(), bounds=observed.places)


def items_of(e: ast.Expr) -> Exprs:
    """The items of a literal, `[y[n], x[n]]'`; none of any other expression."""
    match e:
        case ast.Transpose(operand=operand):
            return items_of(operand)
        case ast.RowVectorLiteral(items=items) | ast.ArrayLiteral(items=items):
            return items
        case _:
            return ()


def is_square(e: ast.Expr) -> bool:
    """Whether an expression is a square or a sum of squares."""
    match e:
        case ast.Call(name="square" | "dot_self" | "squared_distance"):
            return True
        case ast.Binary(op="^" | ".^", right=ast.IntLiteral(value=2)):
            return True
        case _:
            return False


def together(parts: Iterable[Observed]) -> Observed:
    """Observations of several expressions together."""
    return reduce(lambda a, b: Observed(*map(add, a, b)), parts, Observed())


@dataclass
class TermReader(ABC):
    """Reads the model block less its priors; `of_density`, `of_value` say what its terms of data become."""

    factors: Factors
    names: FreshNames

    @abstractmethod
    def of_density(self, d: DistributedEntry, s: ast.Tilde | ast.Call, place: Place, around: Around) -> Stmts:
        """The statements for `y ~ dist(...)`, or for a density that is added to the target."""

    @abstractmethod
    def of_value(self, value: ast.Expr, place: Place) -> Stmts:
        """The statements for any other term."""

    def of_prior(self, term: ast.Tilde | ast.CallStatement | ast.Expr) -> Stmts:
        """The statements for a term of parameters alone."""
        return ()

    def refuse_normaliser(self, value: ast.Expr, around: Around) -> None:
        """ModelError for a term of parameters alone that may normalise a density in another line."""
        if around.branches or not around.loops or rank(self.facts.types[value]):
            return
        observed = (self.observed(e, around.loops, (), frozenset()) for e in summands(value))
        if all(each == Observed() for each in observed) and self.is_added_by_row(value, around):
            raise unread(
                "this term of parameters is added for each row, and may normalise another density",
                value.span,
                "Write it with the density of its row, `y[n] ~ poisson(lambda) T[1, ]`, or "
                "`target += poisson_lpmf(y[n] | lambda) - log1m_exp(-lambda)`.",
            )

    def is_added_by_row(self, value: ast.Expr, around: Around) -> bool:
        """Whether the same value is added in each iteration of a loop over rows of an outcome."""
        bound = {n.variable for n in around.loops if isinstance(n, ast.For | ast.ForEach)}
        bound |= {n.name for loop in around.loops for n in walk(loop) if isinstance(n, ast.Declaration)}
        rows = {text_of(size) for name in self.factors.outcomes for size in self.factors.sizes[name]}
        return not bound & {v.name for v in variables(value)} and any(
            (isinstance(loop, ast.For) and text_of(loop.upper) in rows)
            or any(
                left is not None and not self.factors.depends(left) for left in map(outcome_of, walk(loop))
            )
            for loop in around.loops
        )

    @property
    def facts(self) -> Facts:
        return self.factors.facts

    def body(self, statements: Sequence[ast.Statement], around: Around) -> Stmts:
        """Statements below an `if (...) continue;` depend on its condition, as if in its other branch."""
        out: list[ast.Statement] = []
        for s in statements:
            out += self.statement(s, around)
            around = below(s, around)
        return tuple(out)

    def statement(self, s: ast.Statement, around: Around) -> Stmts:
        match s:
            case ast.Tilde():
                return self.density(s, around)
            case ast.TargetIncrement(value=value):
                self.refuse_normaliser(value, around)
                return self.increment(value, around)
            case ast.CallStatement(call=call):
                if any(map(self.factors.reads_data, call.args)):
                    raise unread(f"`{call.name}` adds terms of data to the target", s.span)
                return self.of_prior(s)
            case ast.Print() | ast.Skip() | ast.JacobianIncrement():
                return ()
            case ast.For() | ast.ForEach() | ast.While():
                within = replace(around, loops=(*around.loops, s))
                return (with_blocks(s, partial(self.body, around=within)),)
            case ast.If():
                within = replace(around, branches=(*around.branches, s))
                return (with_blocks(s, partial(self.body, around=within)),)
            case ast.Block(statements=body):
                return (replace(s, statements=self.body(body, around)),)
            case ast.Profile(statements=body):
                return self.body(body, around)
            case _:
                refuse_target(s)
                return (s,)

    # --- Terms ---

    def density(self, s: ast.Tilde | ast.Call, around: Around) -> Stmts:
        """`y ~ dist(...)`, or an increment that is one density."""
        left, _ = left_and_args(s)
        if self.factors.depends(left):
            self.refuse_mixed(left)
            return self.of_prior(s)
        d = self.split_entries(s)
        seen = self.outcome(left, s.span, d.at)
        place = self.place(seen, around, s.span)
        if place is None:
            return self.of_prior(s)
        return d.inside(self.of_density(d, s, place, around), s.span)

    def of_several(self, places: Sequence[Place], span: Span) -> Place:
        """The rows of a term that depends on several outcomes."""
        first, second, *_ = sorted({p.name for p in places})
        raise unread(f"this term depends on both `{first}` and `{second}`", span)

    def split_entries(self, s: ast.Tilde | ast.Call) -> DistributedEntry:
        """The density of one value, in loops over the values."""
        return DensityEntries(self.facts, self.names).of(s)

    def increment(self, value: ast.Expr, around: Around) -> Stmts:
        """A term for each summand, and for each entry of a container."""
        axes = rank(self.facts.types[value])
        match value:
            case ast.Binary(op="+", left=left, right=right) if not axes:
                return (*self.increment(left, around), *self.increment(right, around))
            case ast.Call(name="sum", args=(all_,)):
                return self.increment(all_, around)
            case ast.Call(name=name) if name.endswith(DENSITIES):
                return self.density(value, around)
            case ast.Call(name=name, args=(left, *_)) if name.endswith(LOG_CUMULATIVE) and rank(
                self.facts.types[left]
            ):
                if not self.factors.depends(left):
                    return self.cumulative(value, around)
        refuse_target(value)
        by_entry = axes if isinstance(value, ast.Variable) else 0
        lengths = DensityEntries(self.facts, self.names).lengths(value, by_entry) if by_entry else ()
        heads = [(self.names.fresh("k"), integer(1, value.span), n) for n in lengths]
        at = tuple(variable(name, value.span) for name, _, _ in heads)
        seen = self.observed(value, around.loops, at, frozenset())
        place = self.truncated_row(value, around)
        place = place or self.place(seen, around, value.span, self.is_subtracted(value))
        if place is None:
            return self.of_prior(value)
        each = indexed(value, at) if heads else expr("sum(e)", value.span, e=value) if axes else value
        return loops(heads, self.of_value(each, place), value.span)

    def cumulative(self, value: ast.Call, around: Around) -> Stmts:
        """A log probability of censored values: one for each of them."""
        d = self.split_entries(value)
        seen = bounds_only(self.outcome(value.args[0], value.span, d.at))
        place = self.place(seen, around, value.span)
        if place is None:
            return self.of_prior(value)
        each = replace(value, args=(d.left, *d.args)) if d.heads else value
        return d.inside(self.of_value(each, place), value.span)

    def truncated_row(self, value: ast.Expr, around: Around) -> Place | None:
        """The row whose density, with the same arguments, a loop truncates in another statement.

        As in `t[n] ~ weibull(a, s); target += -weibull_lccdf(entry[n] | a, s);`.
        """
        match value:
            case ast.Unary(op="-", operand=ast.Call(name=name, args=(bound, *args))) if (
                name.endswith(LOG_CUMULATIVE) and around.loops and not around.branches
            ):
                own = (name.rpartition("_")[0], *map(text_of, args))
            case _:
                return None
        body, terms, places = inner(around.loops[-1].body), set[ast.Node](), list[Place | None]()
        for n in walk(body):
            match n:
                case ast.Tilde(left=left, distribution=family, args=given, truncation=None):
                    pass
                case ast.TargetIncrement(value=ast.Call(name=word, args=(left, *given))):
                    family = word.rpartition("_")[0]
                case _:
                    continue
            if (family, *map(text_of, given)) == own and text_of(left) != text_of(bound):
                terms.add(n)
                places.append(self.factors.places.one(left))
        texts = {(p.name, *map(text_of, p.at)) for p in places if p}
        if len(texts) != 1 or not all(places) or not any(always_adds(s, terms) for s in body):
            return None
        (row, *_) = filter(None, places)
        return row if row.name in self.factors.outcomes and not mentions(row.at, bound_in(body)) else None

    def is_subtracted(self, e: ast.Expr) -> bool:
        """Whether a log probability is subtracted: of bounds, it truncates a density in another statement."""
        match e:
            case ast.Unary(op="-"):
                return True
            case ast.Binary(op="-", left=left):
                return not any(isinstance(n, ast.Call) and n.name.endswith(CUMULATIVE) for n in walk(left))
            case ast.Binary(op="*" | ".*" | "/", left=left, right=right):
                return self.is_subtracted(left) or self.is_subtracted(right)
            case ast.Call(name="sum", args=(of,)):
                return self.is_subtracted(of)
            case ast.Variable() if e in self.facts.symbols:
                own = self.factors.definitions.get(self.facts.symbols[e], ())
                return any(self.is_subtracted(d.value) for d in own)
            case ast.Indexed(base=base):
                return self.is_subtracted(base)
            case _:
                return False

    # --- Which rows ---

    def place(self, seen: Observed, around: Around, span: Span, is_subtracted: bool = False) -> Place | None:
        """The rows that a term observes; None for a prior."""
        places = seen.places or tuple(p for p in seen.bounds if p.name in self.factors.outcomes)
        if not places and (seen.bounds or seen.literals or seen.data):
            places = self.beside(around)
            if not places and seen.bounds and not around.branches:
                if is_subtracted:
                    raise truncated(seen.bounds[0].name, span)
                places = seen.bounds
        if not places:
            if named := (*seen.data, *(p.name for p in seen.bounds)):
                raise unread(f"this term reads `{named[0]}` and has no density of one row", span)
            if seen.literals and not seen.priors:
                raise unread("the outcome is a constant, and no row of data", span)
            return None
        if len({p.name for p in places}) > 1:
            return self.of_several(places, span)
        return reduce(Place.common, places)

    def beside(self, around: Around) -> tuple[Place, ...]:
        """The row that the conditions around a term, or the terms in the other branches, name."""
        for branch in reversed(around.branches):
            places = self.read_by(branch)
            for n in walk(branch):
                left = outcome_of(n) if n in self.facts.calls else None
                if left is not None and not self.factors.depends(left):
                    places += self.outcome(left, n.span).places
            if len({p.name for p in places}) == 1:
                inside = frozenset(bound_beside(branch, around.loops))
                return tuple(map(Move({}, inside).place, places))
        return ()

    def read_by(self, branch: ast.If) -> list[Place]:
        """The outcomes that a condition reads."""
        single = (v for v in variables(branch.condition) if self.facts.types.get(v) == INT)
        read = map(self.factors.places.one, (*readings(branch.condition, self.facts), *single))
        return [p for p in read if p and p.name in self.factors.outcomes]

    def outcome(self, left: ast.Expr, span: Span, at: Exprs = ()) -> Observed:
        """Observations of a density of data."""
        place = self.factors.places.one(left, at)
        if place:
            return Observed((place,))
        several = [self.factors.places.one(item) for item in items_of(left)]
        if several and all(several):
            return Observed(tuple(filter(None, several)))
        if self.factors.reads_data(left):
            raise unread(f"`{text_of(left)}` is not an entry of one data variable", span)
        return Observed(literals=not any(True for _ in variables(left)))

    def observed(
        self, e: ast.Expr, within: tuple[AstLoop, ...], at: Exprs, seen: frozenset[Symbol]
    ) -> Observed:
        """Observations of entry `at` of an expression inside loops; definitions of `seen` are being read."""
        match e:
            case ast.Call(name=name, args=(left, *_)) if name.endswith((*DENSITIES, *CUMULATIVE)):
                if self.factors.depends(left):
                    self.refuse_mixed(left)
                    return Observed(priors=1)
                out = self.outcome(left, e.span)
                return bounds_only(out) if name.endswith(CUMULATIVE) else out
            case ast.Variable() if e in self.facts.symbols:
                if (symbol := self.facts.symbols[e]) in self.factors.definitions:
                    return self.defined(symbol, within, at, seen)
                return Observed(data=(e.name,) * self.factors.places.is_data(e))
            case ast.Indexed(base=base, indices=indices):
                own = self.observed(base, within, composed(self.facts, indices, at), seen)
                read = filter(self.factors.places.is_data, variables(indices))
                data = tuple(v.name for v in read if self.facts.types[v] != INT)
                return together([own, Observed(data=data)])
            case ast.Call(name=name) if name in SIZES:
                return Observed(data=tuple(v.name for v in variables(e) if self.factors.places.is_data(v)))
            case _ if is_square(e) and self.factors.depends(e) and not self.factors.reads_data(e):
                return Observed(priors=1)  # as of neighbours' differences: Besag et al. (1991)
            case _:
                return together(self.observed(part, within, (), seen) for part in parts(e))

    def defined(
        self, symbol: Symbol, within: tuple[AstLoop, ...], at: Exprs, seen: frozenset[Symbol]
    ) -> Observed:
        """Observations of a variable: those of its definitions, their loops' variables in terms of `at`."""
        out: list[Observed] = []
        for d in self.factors.definitions[symbol] if symbol not in seen else ():
            own, move = self.observed(d.value, d.loops, (), seen | {symbol}), Move.of(d, within, at).place
            out.append(own._replace(places=(*map(move, own.places),), bounds=(*map(move, own.bounds),)))
        return together(out)

    def refuse_mixed(self, left: ast.Expr) -> None:
        """A density of what is computed of data and of parameters: prior or likelihood?"""
        if self.factors.reads_data(left):
            raise unread(f"`{text_of(left)}` is computed of data and of parameters", left.span)


@dataclass(frozen=True)
class Move:
    """Places inside a definition as places where the variable is read."""

    values: dict[str, ast.Expr]
    hidden: frozenset[str]
    """Names that mean nothing there."""

    @classmethod
    def of(cls, d: Definition, within: tuple[AstLoop, ...], at: Exprs) -> "Move":
        left = d.loops[in_common(d.loops, within) :]
        hidden = {s.variable for s in left if isinstance(s, ast.For | ast.ForEach)}
        hidden |= {n.name for s in left for n in walk(s) if isinstance(n, ast.Declaration)}
        values = {
            own.name: use
            for own, use in zip(d.at, at, strict=False)
            if isinstance(own, ast.Variable) and own.name in hidden
        }
        return cls(values, frozenset(hidden) - {*values})

    def place(self, p: Place) -> Place:
        out: list[ast.Expr] = []
        for e in p.at:
            if any(v.name in self.hidden for v in variables(e)):
                break
            out.append(substituted(e, self.values))
        return Place(p.name, tuple(out))


def bound_beside(branch: ast.If, loops_here: tuple[AstLoop, ...]) -> Iterator[str]:
    """The names that a branch binds elsewhere than in the loops that a term of it stands in."""
    for n in walk(branch):
        match n:
            case ast.For(variable=name) | ast.ForEach(variable=name) if not any(n is s for s in loops_here):
                yield name
            case ast.Declaration(name=name):
                yield name


def always_adds(s: ast.Statement, terms: Container[ast.Node]) -> bool:
    """Whether a statement adds one of the terms whatever its conditions are."""
    match s:
        case ast.If(then=then, otherwise=otherwise) if otherwise:
            return always_adds(then, terms) and always_adds(otherwise, terms)
        case ast.Block(statements=body):
            return any(always_adds(each, terms) for each in body)
        case _:
            return s in terms


def summands(e: ast.Expr) -> Exprs:
    """The terms of a sum."""
    match e:
        case ast.Binary(op="+", left=left, right=right):
            return (*summands(left), *summands(right))
        case _:
            return (e,)


def truncated(bound: str, span: Span) -> ModelError:
    """The error for a truncation by bounds that are no outcome, apart from the density that it truncates."""
    return unread(
        f"this term subtracts a log probability of `{bound}`, and may truncate any density",
        span,
        f"Write it with the density that it truncates: `y[n] ~ normal(mu, sigma) T[{bound}[n], ]`, or "
        f"`target += normal_lpdf(y[n] | mu, sigma) - normal_lccdf({bound}[n] | mu, sigma)`.",
    )


def refuse_target(node: ast.Node) -> None:
    """A value that is computed of the target itself, or adds to it."""
    for n in walk(node):
        if isinstance(n, ast.Call) and n.name.endswith(TARGET):
            raise unread(f"`{n.name}` reads or changes the target", n.span)
