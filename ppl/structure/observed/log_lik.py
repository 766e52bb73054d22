"""The log likelihood by row, as a program: the terms of the model block in generated quantities."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.calls import outcome_of
from ppl.kernel.language.walk import walk
from ppl.programs.entries import DistributedEntry
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, bound_in, code, indexed, mentions, rewrite, text_of
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.structure.definitions import Exprs, symbols_in, symbols_read
from ppl.structure.discrete.normal import normalised_in
from ppl.structure.factors import Factors
from ppl.structure.observed.densities import log_density
from ppl.structure.observed.outcome_names import JOINED
from ppl.structure.observed.quantities import ByData, declaration, with_quantities
from ppl.structure.observed.terms import Around, Observed, TermReader, summands
from ppl.structure.places import Place, in_common
from ppl.structure.refused import unread
from ppl.types import rank


@dataclass
class Terms:
    """Terms of data as increments, each with the rows that it is of."""

    places: dict[ast.Statement, Place] = field(default_factory=dict)

    def add(self, value: ast.Expr, place: Place) -> Stmts:
        """The increment of a term."""
        increment = ast.TargetIncrement(value.span, value)
        self.places[increment] = place
        return (increment,)

    def summed(self, body: Stmts, sizes: Mapping[str, Exprs], names: FreshNames, span: Span) -> "Summed":
        """The body with each term added to an entry of a quantity, one quantity an outcome.

        Outcomes that a term depends on together are one, and so are all of their terms.
        """
        groups = joined_outcomes((p.name for p in self.places.values()), [*sizes])
        own = {group: [sizes[name] for name in group.split(JOINED)] for group in groups.values()}
        shapes = {group: shared_sizes(each) for group, each in own.items()}
        tied: dict[str, Span] = {}
        for term, p in self.places.items():
            group = groups[p.name]
            if len(p.at) < len(shapes[group]):
                shapes[group] = shapes[group][: len(p.at)]
            if not shapes[group] and any(own[group]):
                tied.setdefault(group, term.span)
        in_order = sorted(shapes, key=lambda group: [*sizes].index(group.partition(JOINED)[0]))
        words = {group: group.replace(JOINED, "_and_") for group in in_order}
        quantities = {group: names.fresh(f"log_lik_{word}") for group, word in words.items()}

        def added(n: Any) -> Stmts | None:
            if (p := self.places.get(n)) is None:
                return None
            group = groups[p.name]
            entry = indexed(quantities[group], p.at[: len(shapes[group])], n.span)
            return code("a += b;", n.span, a=entry, b=n.value)

        declared = tuple(declaration(quantity, shapes[group], span) for group, quantity in quantities.items())
        axes = {group: len(shapes[group]) for group in in_order}
        return Summed(quantities, declared, rewrite(body, added), tied, axes)


def joined_outcomes(places: Iterable[str], order: Sequence[str]) -> dict[str, str]:
    """The outcomes that each name of a place belongs to, those that terms join as one, in that order."""
    groups: list[set[str]] = []
    distinct = [*dict.fromkeys(places)]
    for own in (set(name.split(JOINED)) for name in distinct):
        touched = [group for group in groups if group & own]
        groups = [*(group for group in groups if not group & own), own.union(*touched)]

    def group_of(name: str) -> str:
        (group,) = (group for group in groups if {*name.split(JOINED)} <= group)
        return JOINED.join(sorted(group, key=order.index))

    return {name: group_of(name) for name in distinct}


def shared_sizes(sizes: Sequence[Exprs]) -> Exprs:
    """The leading sizes that all of several outcomes have."""
    first, *others = sizes
    common = [in_common([*map(text_of, first)], [*map(text_of, other)]) for other in others]
    return first[: min(common, default=len(first))]


class Summed(NamedTuple):
    """The quantities by outcome, their declarations, and the statements that compute them.

    `tied` are the outcomes whose entries are one row, and the place of a term that makes them one; `axes`
    how many indices a row of each has.
    """

    quantities: dict[str, str]
    declared: Stmts
    body: Stmts
    tied: dict[str, Span]
    axes: dict[str, int]


@dataclass
class RowReader(TermReader):
    """Terms of data are `terms`, each with its row."""

    terms: Terms = field(default_factory=Terms)

    def increment(self, value: ast.Expr, around: Around) -> Stmts:
        """Terms of parameters alone, such as `log1m(theta)`, belong to the row that the others observe.

        Or to the row whose outcome decides whether they are added. Beside priors they may be Jacobians of
        these, and are left out.
        """
        if rank(self.facts.types[value]) or self.truncated_row(value, around):
            return super().increment(value, around)
        seen = {e: self.observed(e, around.loops, (), frozenset()) for e in summands(value)}
        alone = [e for e, observed in seen.items() if observed == Observed()]
        if not alone or any(observed.priors for observed in seen.values()):
            return super().increment(value, around)
        others = tuple(out for e in seen if e not in alone for out in self.increment(e, around))
        rows = (self.terms.places[n] for n in walk(others) if n in self.terms.places)
        row = next(rows, self.deciding(around))
        whole = (
            row is not None
            and bool(row.at or not self.factors.sizes.get(row.name, (row,)))
            and not mentions(row.at, bound_in(others))
        )
        if not whole and (name := self.decided_by(around)):
            raise unread(f"whether this term of parameters is added depends on `{name}`", value.span)
        own = (self.of_value(e, row) if row and whole else self.prior(e, around) for e in alone)
        return (*others, *(out for each in own for out in each))

    def decided_by(self, around: Around) -> str:
        """An outcome of whose values a condition around is computed; "" for none."""
        conditions = self.factors.computed_of([branch.condition for branch in around.branches])
        read = (symbol.name for e in conditions for symbol in symbols_read(e, self.facts))
        return next((name for name in read if name in self.factors.outcomes), "")

    def deciding(self, around: Around) -> Place | None:
        """The one outcome that the nearest condition on outcomes reads; else a row of other branches."""
        read = next(filter(None, map(self.read_by, reversed(around.branches))), [])
        if read:
            return reduce(Place.common, read) if len({p.name for p in read}) == 1 else None
        row = reduce(Place.common, beside) if (beside := self.beside(around)) else None
        return row if row and row.at else None


@dataclass
class LogLikReader(RowReader):
    """The terms of data by row; `unread` are outcomes with a term that cannot be read, and why."""

    unread: dict[str, ModelError] = field(default_factory=dict)

    def statement(self, s: ast.Statement, around: Around) -> Stmts:
        """A density that cannot be read is of the outcomes that it reads; the others are read without it.

        Any other such term may belong to every outcome, as the constant of a density in another line.
        """
        try:
            return super().statement(s, around)
        except ModelError as error:
            if error.code != unread.code or not (names := self.outcomes_in(s, around)):
                raise
            self.unread |= dict.fromkeys(names, error)
            return self.of_unread(s)

    def outcomes_in(self, s: ast.Statement, around: Around) -> Sequence[str]:
        """The outcomes that a statement depends on; none if a summand is computed of no density of data."""
        terms = summands(s.value) if isinstance(s, ast.TargetIncrement) else (s,)
        lefts = [[*self.lefts_of_data(term)] for term in terms]
        if not all(lefts):
            return ()
        conditions = (branch.condition for branch in around.branches)
        every = symbols_in(self.factors.computed_of((s, *conditions)), self.facts)
        values = self.factors.computed_of([left for each in lefts for left in each])
        own = {symbol for e in values for symbol in symbols_read(e, self.facts)}
        return [
            name
            for name, d in self.factors.data.items()
            if (symbol := self.facts.symbols[d]) in own or (symbol in every and name in self.factors.outcomes)
        ]

    def lefts_of_data(self, term: ast.Node) -> Iterator[ast.Expr]:
        """The variates, computed of data, of the densities that a term is computed of."""
        for n in walk(self.factors.computed_of((term,))):
            if (left := outcome_of(n)) is not None and self.factors.reads_data(left):
                yield left

    def of_unread(self, s: ast.Statement) -> Stmts:
        """The statements for a term that cannot be read."""
        return ()

    def of_several(self, places: Sequence[Place], span: Span) -> Place:
        """Rows of several outcomes belong together where one term has the density of both."""
        names = dict.fromkeys(p.name for p in places)
        return replace(reduce(Place.common, places), name=JOINED.join(names))

    def of_density(self, d: DistributedEntry, s: ast.Tilde | ast.Call, place: Place, around: Around) -> Stmts:
        return self.terms.add(log_density(d, s, self.facts), place)

    def of_value(self, value: ast.Expr, place: Place) -> Stmts:
        return self.terms.add(normalised_in(value), place)


def log_lik_of(factors: Factors, draws_back: bool = False) -> ByData:
    """The log likelihood by row of a program without discrete parameters.

    Each data variable that is observed has an array of the axes by which its terms can be told apart; several
    that one term has the density of have an array together. With
    `draws_back` the model block stays: discrete data that are missing are drawn back given it.

    Raises:
        ModelError: a term belongs to no row of one variable, and may be of any outcome; says which, and what
            to write.
    """
    program, names = factors.program, FreshNames.of(factors.program)
    reader = LogLikReader(factors, names)
    body = reader.body(program.model, Around())
    summed = reader.terms.summed(body, factors.sizes, names, program.span)
    omitted = dict(reader.unread)
    for group in summed.quantities:
        parts = group.split(JOINED)
        if why := next(filter(None, map(reader.unread.get, parts)), None):
            omitted = {**dict.fromkeys(parts, why), **omitted}
    quantities = {g: own for g, own in summed.quantities.items() if g.partition(JOINED)[0] not in omitted}
    if not quantities:
        raise next(iter(omitted.values()), unread("no statement observes data", program.span))
    bare = program if draws_back else replace(program, model=())
    computed = with_quantities(bare, summed.declared, quantities.values(), summed.body)
    return ByData(computed, quantities, summed.tied, omitted)
