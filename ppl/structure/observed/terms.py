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
from ppl.structure.definitions import SIZES, AstLoop, Definition, Exprs, leaving, readings, symbols_in
from ppl.structure.factors import Factors
from ppl.structure.places import Place, in_common
from ppl.structure.refused import unread
from ppl.types import INT, rank

LOG_CUMULATIVE = ("_lcdf", "_lccdf")
CUMULATIVE = (*LOG_CUMULATIVE, "_cdf", "_ccdf")
WITH_ITS_DENSITY = (
    "Write it with the density of its row, `y[n] ~ poisson(lambda) T[1, ]`, or "
    "`target += poisson_lpmf(y[n] | lambda) - log1m_exp(-lambda)`."
)
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

    def prior(self, value: ast.Expr, around: Around) -> Stmts:
        """The same for an increment; ModelError where it may normalise a density in another line."""
        if self.subtracts_probability(value) and not self.is_of_parameters(value, around):
            why = "this term subtracts a log probability of parameters, and may normalise any density"
            raise unread(why, value.span, WITH_ITS_DENSITY)
        return self.of_prior(value)

    def subtracts_probability(self, value: ast.Expr) -> bool:
        """Whether a value is less by a log probability, as of a truncation: `-10 * log1m_exp(-lambda)`."""
        return self.is_subtracted(value) and any(map(is_log_probability, self.every_part(value)))

    def has_bounds(self, value: ast.Expr) -> bool:
        """Whether a value is computed of the log probability of data beyond a bound, or up to it."""
        cumulative = (
            n for n in self.every_part(value) if isinstance(n, ast.Call) and n.name.endswith(CUMULATIVE)
        )
        return any(n.args and self.factors.reads_data(n.args[0]) for n in cumulative)

    def every_part(self, value: ast.Expr) -> Iterator[ast.Node]:
        """The nodes of a value, of what it is computed of, and of the functions that it calls."""
        for n in walk(self.factors.computed_of((value,))):
            yield n
            if isinstance(n, ast.Call) and n.name in self.factors.functions:
                yield from walk(self.factors.functions[n.name])

    def is_of_parameters(self, value: ast.Expr, around: Around) -> bool:
        """Whether a term has a density of parameters, as where it truncates a prior, or its loop has."""
        inside = walk([s for loop in around.loops[-1:] for s in inner(loop.body)])
        lefts = filter(None, map(outcome_of, (*self.every_part(value), *inside)))
        return any(map(self.factors.depends, lefts))

    def refuse_normaliser(self, value: ast.Expr, around: Around) -> None:
        """ModelError for a term of parameters alone that may normalise a density in another line."""
        if around.branches or not around.loops or rank(self.facts.types[value]):
            return
        observed = (self.observed(e, around.loops, (), frozenset()) for e in summands(value))
        of_row = self.truncated_row(value, around)
        if (
            not of_row
            and all(each == Observed() for each in observed)
            and self.is_added_by_row(value, around)
        ):
            why = "this term of parameters is added for each row, and may normalise another density"
            raise unread(why, value.span, WITH_ITS_DENSITY)

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
            return self.prior(value, around)
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
        """The row whose density, with the same arguments or parameters, a loop truncates in another line.

        As in `t[n] ~ weibull(a, s); target += -weibull_lccdf(entry[n] | a, s);`, or
        `y[n] ~ poisson(lambda[n]); target += -log1m_exp(-lambda[n]);`.
        """
        if not around.loops or around.branches or rank(self.facts.types[value]):
            return None
        own: tuple[str, ...] = ()
        match value:
            case ast.Unary(op="-", operand=ast.Call(name=name, args=(bound, *args))) if name.endswith(
                LOG_CUMULATIVE
            ):
                own = (name.rpartition("_")[0], *map(text_of, args), text_of(bound))
            case _ if not self.subtracts_probability(value) or self.has_bounds(value):
                return None
        read = symbols_in(self.factors.computed_of((value,)), self.facts)
        if not own and any(symbol.name in self.factors.outcomes for symbol in read):
            return None
        body, terms, places = inner(around.loops[-1].body), set[ast.Node](), list[Place | None]()
        for n, density in densities_added(body):
            left, given = left_and_args(density)
            family = (
                density.distribution if isinstance(density, ast.Tilde) else density.name.rpartition("_")[0]
            )
            if own and ((family, *map(text_of, given)) != own[:-1] or text_of(left) == own[-1]):
                continue
            if own or read & symbols_in(self.factors.computed_of(given), self.facts) & self.factors.dependent:
                terms.add(n)
                places.append(self.factors.places.one(left))
        texts = {(p.name, *map(text_of, p.at)) for p in places if p}
        if len(texts) != 1 or not all(places) or not any(always_adds(s, terms) for s in body):
            return None
        (row, *_) = filter(None, places)
        return row if row.name in self.factors.outcomes and not mentions(row.at, bound_in(body)) else None

    def is_subtracted(self, e: ast.Expr, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a log probability is subtracted: of bounds, it truncates a density in another statement.

        `seen` are the variables and functions that are being read.
        """
        match e:
            case ast.Unary(op="-"):
                return True
            case ast.Binary(op="+", left=left, right=right):
                return self.is_subtracted(left, seen) or self.is_subtracted(right, seen)
            case ast.Binary(op="-", left=left):
                return not any(isinstance(n, ast.Call) and n.name.endswith(CUMULATIVE) for n in walk(left))
            case ast.Binary(op="*" | ".*" | "/", left=left, right=right):
                return self.is_subtracted(left, seen) or self.is_subtracted(right, seen)
            case ast.Call(name="sum" | "rep_vector" | "rep_row_vector" | "rep_array", args=(of, *_)):
                return self.is_subtracted(of, seen)
            case ast.Variable(name=name) if e in self.facts.symbols and name not in seen:
                own = self.factors.definitions.get(self.facts.symbols[e], ())
                return any(self.is_subtracted(d.value, seen | {name}) for d in own)
            case ast.Call(name=name) if name in self.factors.functions and name not in seen:
                returned = (n.value for n in walk(self.factors.functions[name]) if isinstance(n, ast.Return))
                return any(value and self.is_subtracted(value, seen | {name}) for value in returned)
            case ast.Indexed(base=base):
                return self.is_subtracted(base, seen)
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


def densities_added(body: Stmts) -> Iterator[tuple[ast.Statement, ast.Tilde | ast.Call]]:
    """The densities and log probabilities that statements add, each with its statement; no truncated ones."""
    for n in walk(body):
        if isinstance(n, ast.Tilde) and n.truncation is None:
            yield n, n
        elif isinstance(n, ast.TargetIncrement):
            calls = (e for e in summands(n.value) if isinstance(e, ast.Call))
            yield from ((n, e) for e in calls if e.name.endswith((*DENSITIES, *LOG_CUMULATIVE)))


def is_log_probability(n: ast.Node) -> bool:
    """Whether a value is the log of a probability, other than of a parameter or of one such as `log(theta)`.

    The latter are priors, Beta(0, 0) among them, unless they are multiplied by an int.
    """
    match n:
        case ast.Call(name=name) if name.endswith(LOG_CUMULATIVE) or name in ("log1m_exp", "log_diff_exp"):
            return True
        case ast.Call(name="log" | "log1m", args=(of,)):
            return any(isinstance(e, ast.Call) and e.name.endswith(PROBABILITIES) for e in walk(of))
        case ast.Binary(op="*", left=left, right=right):
            factors = {text_of(e).lstrip("-") for e in (left, right)}
            return any(f.isdigit() and int(f) > 1 for f in factors) and any(
                isinstance(e, ast.Call) and e.name in ("log1m", "log_inv_logit", "log1m_inv_logit")
                for e in walk((left, right))
            )
        case _:
            return False


PROBABILITIES = ("exp", "Phi", "Phi_approx", "_cdf", "_ccdf")
"""How functions end whose values, or those less than 1, are probabilities."""


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
