"""Data drawn anew, as a program: the `~` statements of data as draws, in generated quantities.

Gelman et al. (2013), "Bayesian Data Analysis", section 6.3 (posterior predictive checks).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import reduce
from typing import NamedTuple, cast

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.calls import left_and_args, outcome_of
from ppl.kernel.language.scope import BlockName, Symbol
from ppl.kernel.language.walk import parts, variables
from ppl.programs.entries import AXES, DensityEntries, DistributedEntry, between, own_axes_of
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, code, expr, indexed, integer, mentions, one, rewrite, text_of
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.structure.definitions import DATA_BLOCKS, SIZES, Exprs, readings, symbols_in
from ppl.structure.discrete.parameters import has_discrete
from ppl.structure.factors import Factors, sizes_of_variable
from ppl.structure.forward.draw_statements import DRAWS, draw_of
from ppl.structure.observed.densities import log_density
from ppl.structure.observed.discrete_rows import DiscreteRow, DiscreteRows
from ppl.structure.observed.quantities import ByData, with_quantities
from ppl.structure.observed.terms import (
    LOG_CUMULATIVE,
    Around,
    TermReader,
    below,
    densities_added,
    summands,
)
from ppl.structure.places import NoPlace, Place, Places, in_common
from ppl.structure.refused import Refusal, undrawn
from ppl.types import ROW_VECTOR, core, rank

DRAWS_OF_A_ROW = 10_000
"""Draws that are tried for one that lies between the bounds of a truncation."""


def predictive_of(factors: Factors, draws_back: bool = False) -> ByData:
    """The posterior predictive distribution of the data that the program draws.

    What the model block computes of data follows the new data, entry by entry as they are drawn; transformed
    data and transformed parameters stay as they are. `draws_back` is as in `log_lik_of`.

    Raises:
        ModelError: a term of data is no draw; says which, and what to write.
    """
    program, names, data = factors.program, FreshNames.of(factors.program), factors.data
    quantities = {name: names.fresh(f"{name}_rep") for name in factors.outcomes}
    reader = DrawingReader(factors, names)
    body = reader.body(program.model, Around())
    if not reader.drawn:
        raise undrawn("no statement draws data", program.span)
    drawn = {name: quantity for name, quantity in quantities.items() if name in reader.drawn}
    declared = tuple(  # with the data in them, which stay where no statement draws an entry
        replace(plain(data[name]), name=quantity, value=ast.Variable(data[name].span, name))
        for name, quantity in drawn.items()
    )
    quantity = program if draws_back or has_discrete(program) else replace(program, model=())
    return ByData(with_quantities(quantity, declared, drawn.values(), with_names(body, drawn)), drawn)


@dataclass
class DrawingReader(TermReader):
    """Densities of data as draws; `drawn` are the data that were drawn so far, as the statements stand."""

    drawn: set[str] = field(default_factory=set)
    lefts: dict[str, str] = field(default_factory=dict)
    by_value: set[str] = field(default_factory=set)
    """Those drawn by the probability of each value."""
    has_rows: bool = True
    """Whether any statements may be drawn so."""
    refused: Refusal = undrawn
    uncensors: bool = False
    """Whether censored rows, and data of censored rows apart, are read as rows that are not censored."""
    suffix: str = "_rng"
    """How the program's own function for a distribution of its own ends."""

    def axes(self, name: str) -> int:
        """How many axes a variable has."""
        return len(self.factors.sizes[name])

    def body(self, statements: Sequence[ast.Statement], around: Around) -> Stmts:
        types = {name: self.factors.data[name].type.keyword for name in self.factors.outcomes}
        ints = frozenset(name for name, word in types.items() if word == "int" and self.is_drawn(name))
        if not ints or not self.has_rows:
            return super().body(statements, around)
        out: list[ast.Statement] = []
        for s in DiscreteRows(self.factors, self.names, ints, self.draws).among(statements, around):
            if isinstance(s, DiscreteRow):
                out += self.row(s, around)
            else:
                out += self.statement(s, around)
                around = below(s, around)
        return tuple(out)

    def is_drawn(self, name: str) -> bool:
        """Whether an outcome is to be drawn."""
        return True

    def draws(self, s: ast.Statement, around: Around) -> bool:
        """Whether a statement is a draw of its outcome."""
        reader = DrawingReader(self.factors, self.names, drawn={*self.factors.outcomes}, has_rows=False)
        try:
            return bool(reader.statement(s, around))
        except ModelError:
            return False

    def row(self, row: DiscreteRow, around: Around) -> Stmts:
        """The statements for a row whose probability is known at each value."""
        name, span = row.place.name, row.span
        if name in self.drawn:
            raise undrawn(f"`{name}` has two densities, whose product cannot be simulated", span)
        self.refuse_out_of_order(name, row.reads, None, around, span)
        self.drawn.add(name)
        self.by_value.add(name)
        return (*self.of_row(row), *row.without_terms)

    def of_row(self, row: DiscreteRow) -> Stmts:
        """The statements for its value."""
        return self.value(row)

    def value(self, row: DiscreteRow) -> Stmts:
        """The statements that draw a value."""
        before, each = "real u = uniform_rng(0, 1);", "if (below <= u) y = v;"
        return row.tried(self.factors, self.names, before, each, y=row.entry)

    def increment(self, value: ast.Expr, around: Around) -> Stmts:
        """A mixture of two is a draw from one of them, chosen by its share."""
        if (density := self.uncensored(value, around)) is not None:
            return self.density(density, around)
        mixture = two_parts(value, self.factors.outcomes)
        if mixture is None:
            return super().increment(value, around)
        span, parts = value.span, (mixture.first, mixture.second)
        sides = [ast.Block(span, tuple(ast.TargetIncrement(e.span, e) for e in part)) for part in parts]
        branch = ast.If(span, ast.IntLiteral(span, 1), *sides)
        within = replace(around, branches=(*around.branches, branch))
        drawn = []
        for k, part in enumerate(parts):
            reader = self.in_part(mixture.share, k == 1)
            drawn.append(tuple(s for e in part for s in reader.increment(e, within)))
        if not any(drawn):
            return ()
        if not all(drawn):
            raise undrawn("one part of this mixture is of data, the other is not", span)
        return self.mixed(mixture.share, drawn)

    def uncensored(self, value: ast.Expr, around: Around) -> ast.Tilde | ast.Call | None:
        """The density of a row that is not censored, in the other branch: with the same arguments."""
        match value:
            case ast.Call(name=name, args=(left, *args)) if (
                self.uncensors and name.endswith(LOG_CUMULATIVE) and around.branches
            ):
                own = (name.rpartition("_")[0], *map(text_of, (left, *args)))
            case _:
                return None
        place = self.factors.places.one(left)
        if place is None or place.name not in self.factors.outcomes:
            return None
        for _, n in densities_added((around.branches[-1],)):
            family = n.distribution if isinstance(n, ast.Tilde) else n.name.rpartition("_")[0]
            given, more = left_and_args(n)
            if outcome_of(n) is not None and (family, *map(text_of, (given, *more))) == own:
                return n
        return None

    def in_part(self, share: ast.Expr, second: bool) -> "DrawingReader":
        """The reader of a part of a mixture whose first part has that share."""
        return self

    def mixed(self, share: ast.Expr, parts: Sequence[Stmts]) -> Stmts:
        """The statements of a mixture, from those of its parts."""
        span = share.span
        then, otherwise = (one(part, span) for part in parts)
        return (ast.If(span, expr("bernoulli_rng(p)", span, p=share), then, otherwise),)

    def of_value(self, value: ast.Expr, place: Place) -> Stmts:
        if self.uncensors and self.factors.outcomes and place.name not in self.factors.outcomes:
            return ()  # it says something of parameters only
        raise undrawn("this `target +=` does not give a distribution to draw from", value.span)

    def split_entries(self, s: ast.Tilde | ast.Call) -> DistributedEntry:
        whole = super().split_entries(s)
        own = self.factors.functions.get(whole.name + self.suffix)
        if own is None:
            return whole
        axes = [t.dims + AXES.get(t.keyword, 0) for t in (own.returns, *(a.type for a in own.args))]
        return DensityEntries(self.facts, self.names).of(s, axes)

    def of_density(self, d: DistributedEntry, s: ast.Tilde | ast.Call, place: Place, around: Around) -> Stmts:
        text = text_of(left_and_args(s)[0])
        target = self.data_entry(d, s)
        self.refuse_twice(text, target.name, s.span, around)
        if target.name in self.by_value:
            raise undrawn(f"`{target.name}` has two densities, whose product cannot be simulated", s.span)
        entry = Place(target.name) if d.heads else target
        if self.is_chosen_by_data(target, around):
            raise self.own_condition(text, s.span)
        self.refuse_own_condition(entry, text, around, s.span, self.factors.places)
        return self.draw(target, d, s, around)

    def refuse_twice(self, text: str, name: str, span: Span, around: Around) -> None:
        """Refuse a second density of `name[...]`, or one of an entry beside that of the whole."""
        twice = self.lefts.keys() & {text, name} or (text == name and name in self.lefts.values())
        if twice and not around.branches:
            raise undrawn(f"`{text}` has two densities, whose product cannot be simulated", span)
        self.lefts[text] = name

    def refuse_own_condition(self, place: Place, text: str, around: Around, span: Span, of: Places) -> None:
        """Refuse a distribution under a condition on the value itself, an entry that `of` tells."""
        if any(self.reads_entry(b.condition, place, around, set(), of) for b in around.branches):
            raise self.own_condition(text, span)

    def own_condition(self, text: str, span: Span) -> ModelError:
        return self.refused(f"whether `{text}` has this distribution depends on its own value", span)

    def reads_entry(self, e: ast.Expr, place: Place, around: Around, seen: set[Symbol], of: Places) -> bool:
        """Whether a condition reads the entry that is drawn, as in a hurdle model: `if (y[n] == 0)`.

        In `if (y[t - 1] > 0)` it is another one.
        """
        texts = [*map(text_of, place.at)]
        for x in (*readings(e, self.facts), *(() if texts else variables(e))):
            read = of.one(x)
            at = [*map(text_of, read.at)] if read else []
            if read and read.name == place.name and in_common(at, texts) == min(len(at), len(texts)):
                return True
        for symbol in symbols_in(e, self.facts) - seen:
            for d in self.factors.all_definitions.get(symbol, ()):
                values = (d.value, *d.decided)
                if d.loops != around.loops and place.name in {s.name for s in symbols_in(values, self.facts)}:
                    return True
                if any(self.reads_entry(v, place, around, seen | {symbol}, of) for v in values):
                    return True
        return False

    def is_chosen_by_data(self, place: Place, around: Around) -> bool:
        """Whether the values of a variable tell which of them are drawn: `y[pos]` with `pos` where y > 0."""
        bounds = [n for n in around.loops if isinstance(n, ast.For)]
        chosen = self.factors.computed_of((*place.at, *(e for n in bounds for e in (n.lower, n.upper))))
        every = without_sizes(chosen)
        return any(isinstance(n, ast.Variable) and n.name == place.name for n in every)

    def data_entry(self, d: DistributedEntry, s: ast.Tilde | ast.Call) -> Place:
        """The entry of data that a density is of; ModelError where it is of none."""
        return self.entry(d, s, Exact(self.facts, self.factors.definitions), "data variable")

    def entry(self, d: DistributedEntry, s: ast.Tilde | ast.Call, places: Places, what: str) -> Place:
        """The entry that a density is of; ModelError where it is of none."""
        left, _ = left_and_args(s)
        with suppress(NoPlace):
            place = places.of(left, d.at)
            single = len(place.at) - len(parts_in(place))
            if single + rank(self.facts.types[left]) - len(d.heads) == self.axes(place.name):
                return place
        raise undrawn(f"`{text_of(left)}` is not a {what}, nor an entry of one", s.span)

    def draw(self, place: Place, d: DistributedEntry, s: ast.Tilde | ast.Call, around: Around) -> Stmts:
        """The statements that draw one value; ModelError where its distribution has no _rng."""
        (left, given), span = left_and_args(s), s.span
        self.refuse_out_of_order(place.name, given, d, around, span)
        self.drawn.add(place.name)
        target = indexed(place.name, place.at, span)
        turned = rank(self.facts.types[left]) > len(d.heads) and core(self.facts.types[left]) == ROW_VECTOR
        family, name, args = self.facts.library.families.get(d.name), f"{d.name}_rng", d.args
        own = name in self.factors.functions
        if row := self.row_without_rng(place, d, s):
            return self.value(row)
        if not own and d.name not in DRAWS and (family is None or family.rng is None):
            raise undrawn(f"there is no {name}", span)
        if not own and family and family.discrete and own_axes_of(family)[0]:
            args = (*args, expr("sum(y)", span, y=target))  # as many trials as the data have
        value: ast.Expr = ast.Call(span, name, args)
        if d.name in DRAWS and not own and family:
            value = draw_of(family, d.args, span)
        draw = code("a = b;", span, a=target, b=ast.Transpose(span, value) if turned else value)
        t = d.truncation
        checks = [expr("a >= b", span, a=target, b=t.lower)] if t and t.lower else []
        checks += [expr("a <= b", span, a=target, b=t.upper)] if t and t.upper else []
        if not checks:
            return draw
        complaint = "no draw lies between the bounds"
        return (ast.Block(span, between(draw, all_hold(checks), DRAWS_OF_A_ROW, complaint, self.names)),)

    def row_without_rng(
        self, place: Place, d: DistributedEntry, s: ast.Tilde | ast.Call
    ) -> DiscreteRow | None:
        """One int with a distribution of the program's own, which has only its probability."""
        known = d.name in self.facts.library.families or d.name + self.suffix in self.factors.functions
        declared = self.factors.data.get(place.name)
        if (
            known
            or declared is None
            or declared.type.keyword != "int"
            or len(place.at) < self.axes(place.name)
        ):
            return None
        entry = indexed(place.name, place.at, s.span)
        term = ast.TargetIncrement(s.span, log_density(replace(d, left=entry), s, self.facts))
        return DiscreteRow(place, (term,), frozenset([term]), s.span)

    def refuse_out_of_order(
        self, name: str, args: Sequence[ast.Expr], d: DistributedEntry | None, around: Around, span: Span
    ) -> None:
        """Refuse to draw a variable before what it is drawn given."""
        for symbol, inside in given(args, self.factors, around):
            if symbol.block not in DATA_BLOCKS or symbol.name not in self.factors.outcomes:
                continue
            if self.follows(symbol, name):
                continue
            if symbol.name == name and ((d and d.heads) or not inside):
                raise undrawn(
                    f"`{name}` is drawn given itself; write a loop over its entries that computes "
                    "the values on which each entry depends",
                    span,
                )
            if symbol.name != name and symbol.name not in self.drawn:
                raise undrawn(f"`{name}` is drawn given `{symbol.name}`, which is drawn below it", span)

    def follows(self, symbol: Symbol, name: str) -> bool:
        """Whether values of data are known before `name` is drawn, or are seen to be unknown there."""
        return False


def without_sizes(nodes: Iterable[ast.Node]) -> Iterator[ast.Node]:
    """All nodes of some expressions, without calls that only take the size of a variable."""
    for n in nodes:
        if not (isinstance(n, ast.Call) and n.name in SIZES):
            yield n
            yield from without_sizes(parts(n))


class Mixture(NamedTuple):
    """The densities of two parts, and the probability of the first."""

    share: ast.Expr
    first: Exprs
    second: Exprs


def two_parts(e: ast.Expr, outcomes: Set[str]) -> Mixture | None:
    """A mixture written as `log_mix(t, a, b)` or `log_sum_exp(log(t) + a, log1m(t) + b)`."""
    match e:
        case ast.Call(name="log_mix", args=(share, a, b)) if not mentions(share, outcomes):
            (first, of_first), (second, of_second) = part_of(a, outcomes), part_of(b, outcomes)
            if first and second and not of_first and not of_second:
                return Mixture(share, first, second)
        case ast.Call(name="log_sum_exp", args=(a, b)):
            (first, of_first), (second, of_second) = part_of(a, outcomes), part_of(b, outcomes)
            if first and second:
                logit = expr("a - b", e.span, a=total(of_first, a.span), b=total(of_second, b.span))
                return Mixture(expr("inv_logit(x)", e.span, x=logit), first, second)
    return None


def part_of(e: ast.Expr, outcomes: Set[str]) -> tuple[Exprs, Exprs]:
    """The densities of a part, none where a weight depends on what is drawn; the logs of its weights."""
    own = tuple(s for s in summands(e) if is_drawn(s, outcomes))
    weights = tuple(s for s in summands(e) if not is_drawn(s, outcomes))
    return () if mentions(weights, outcomes) else own, weights


def is_drawn(e: ast.Expr, outcomes: Set[str]) -> bool:
    """Whether a value can be drawn from a summand."""
    is_density = isinstance(e, ast.Call) and e.name.endswith(("_lpdf", "_lpmf"))
    return is_density or two_parts(e, outcomes) is not None


def total(terms: Exprs, span: Span) -> ast.Expr:
    """Their sum; 0 of none."""
    return reduce(lambda a, b: expr("a + b", span, a=a, b=b), terms, integer(0, span))


def all_hold(conditions: Sequence[ast.Expr]) -> ast.Expr:
    """One condition, that all of these hold."""
    return reduce(lambda a, b: expr("a && b", a.span, a=a, b=b), conditions)


def given(nodes: Sequence[ast.Node], factors: Factors, around: Around) -> set[tuple[Symbol, bool]]:
    """The variables that values are computed of in the model; whether inside the loops around."""
    symbols = set[tuple[Symbol, bool]]()
    left = [(s, True) for s in symbols_in(nodes, factors.facts)]
    while left:
        symbol, inside = state = left.pop()
        if state in symbols:
            continue
        symbols.add(state)
        for d in factors.definitions.get(symbol, []) if symbol.block is BlockName.MODEL else []:
            within = inside and d.loops[: len(around.loops)] == around.loops
            left += [(s, within) for s in symbols_in((d.value, *d.decided), factors.facts)]
    return symbols


@dataclass(frozen=True)
class Exact(Places):
    """Places of expressions that are entries themselves, not functions of them: of data, or one parameter."""

    parameter: ast.Declaration | None = None

    def is_data(self, e: ast.Expr) -> bool:
        if self.parameter is None:
            return super().is_data(e)
        return isinstance(e, ast.Variable) and e.name == self.parameter.name

    def rows_of(self, e: ast.Expr) -> ast.Expr:
        """As declared: an assigned parameter must not be read in its own index."""
        sizes = self.parameter.type.sizes if self.parameter and self.is_data(e) else ()
        return sizes[0] if sizes else super().rows_of(e)

    def of(self, e: ast.Expr, at: Exprs = ()) -> Place:
        """Entries of an axis that one joint density has together stay as the program names them."""
        place = super().of(e, at)
        match e:
            case ast.Indexed(base=ast.Variable() as base, indices=indices) if self.is_data(base):
                return replace(place, at=cast(Exprs, (*place.at, *indices[len(place.at) :])))
            case ast.Call(name="segment" | "head" as name, args=(ast.Variable() as first, *rest)) if not at:
                text = {"segment": "y[a : a + n - 1]", "head": "y[ : n]"}[name]
                part = expr(text, e.span, y=first, a=rest[0], n=rest[-1])
                return self.of(part)
        return place

    def of_only(self, e: ast.Expr, at: Exprs) -> Place:
        raise NoPlace


def parts_in(place: Place) -> list[ast.Index]:
    """Which of the indices of a place name several entries."""
    return [i for i in place.at if isinstance(i, ast.SingleIndex | ast.RangeIndex)]


def with_names(body: Stmts, quantities: Mapping[str, str]) -> Stmts:
    """The statements with what is drawn anew in place of the data."""

    def renamed(n: ast.Node) -> ast.Node | None:
        match n:
            case ast.Variable(name=name) if name in quantities:
                return replace(n, name=quantities[name])
            case ast.Call(name=name) if name in SIZES:
                return n
            case _:
                return None

    return rewrite(body, renamed)


def plain(d: ast.Declaration) -> ast.Declaration:
    """The declaration without constraints, by all sizes of its variable."""
    t = d.type
    if not isinstance(t, ast.SizedType):
        return d
    own = sizes_of_variable(d)[len(t.dims) :]
    keyword = t.keyword if t.keyword == "row_vector" or not own else ("vector", "matrix")[len(own) - 1]
    return replace(d, type=replace(t, keyword=keyword, bounds=None, sizes=own))
