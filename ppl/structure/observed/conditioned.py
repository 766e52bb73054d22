"""Data of new rows: entries that are given are conditioned on, all others are drawn."""

from collections.abc import Mapping
from typing import NamedTuple

from ppl.kernel.language import ast
from ppl.kernel.language.calls import left_and_args
from ppl.kernel.language.scope import Symbol
from ppl.programs.entries import DistributedEntry, own_axes_of
from ppl.programs.rewriting import Stmts, code, indexed, rewrite, substituted, text_of
from ppl.records import dataclass, field, replace
from ppl.structure.definitions import Exprs, name_of, symbols_in
from ppl.structure.discrete.normal import normalised_in
from ppl.structure.observed.densities import log_density
from ppl.structure.observed.discrete_rows import DiscreteRow
from ppl.structure.observed.effects import EffectsReader
from ppl.structure.observed.log_lik import RowReader
from ppl.structure.observed.predictive import two_parts
from ppl.structure.observed.terms import Around, TermReader
from ppl.structure.places import Place
from ppl.structure.refused import undrawn
from ppl.types import INT, ROW_VECTOR, core, element_type, rank


class ConditionedData(NamedTuple):
    """The modelled data that new rows hold, by name."""

    wholly: frozenset[str] = frozenset()
    partly: frozenset[str] = frozenset()
    """Some of their entries are missing."""


NOTHING = ConditionedData()


class Factor(NamedTuple):
    """A density of a variable given others."""

    name: str
    args: Exprs


@dataclass
class ConditionedReader(EffectsReader, RowReader):
    """Draws what is not given; the densities of what is given are `terms`, by row.

    `flags` are the data that say which entries are given, of variables that are given in part.
    """

    given: ConditionedData = field(default_factory=ConditionedData)
    flags: Mapping[str, str] = field(default_factory=dict)
    conditions: list[Factor] = field(default_factory=list)
    """Densities of given data."""
    priors: list[Factor] = field(default_factory=list)
    """Densities that something is drawn from."""
    in_mixture: bool = False
    uncensors: bool = True

    def split_entries(self, s: ast.Tilde | ast.Call) -> DistributedEntry:
        """A series in one statement, `y[2:N] ~ normal(b * y[1:N - 1], s)`: arguments follow the draws."""
        d = super().split_entries(s)
        left, args = left_and_args(s)
        own = symbols_in(left, self.facts)
        if not d.before or not any(own & symbols_in(a, self.facts) for a in args):
            return d
        lazy = {b.name: b.value for b in d.before if isinstance(b, ast.Declaration) and b.value}
        return replace(d, args=substituted(d.args, lazy), before=())

    def increment(self, value: ast.Expr, around: Around) -> Stmts:
        seen = self.observed(value, around.loops, (), frozenset())
        places = (*seen.places, *seen.bounds) or (self.beside(around) if seen.literals else ())
        names = {p.name for p in places}
        if names and names <= self.given.wholly:
            return RowReader.increment(self, value, around)
        if two_parts(value, self.factors.outcomes) is None:
            return super().increment(value, around)
        terms = TermReader.increment(self, value, around) if names & self.given.partly else ()
        self.priors += [Factor(name, (value,)) for name in names]
        self.in_mixture, before = True, self.in_mixture
        drawn = super().increment(value, around)
        self.in_mixture = before
        return (*terms, *drawn)

    def of_density(self, d: DistributedEntry, s: ast.Tilde | ast.Call, place: Place, around: Around) -> Stmts:
        args = left_and_args(s)[1]
        if place.name in self.given.wholly:
            return self.condition(log_density(d, s, self.facts), place, args)
        drawn = super().of_density(d, s, place, around)
        if place.name not in self.flags:
            return drawn
        own = rank(self.facts.types[left_and_args(s)[0]]) - len(d.heads)
        at = self.data_entry(d, s).at
        term = () if self.in_mixture else self.condition(log_density(d, s, self.facts), place, args)
        flags = indexed(self.flags[place.name], at, s.span)
        if not own:
            return code("if (f) term(); else draw();", s.span, f=flags, term=term, draw=drawn)
        some = self.some_given(Place(place.name, at), d, s, flags)
        return code(
            "if (min(to_array_1d(f))) term(); else if (max(to_array_1d(f)) == 0) draw(); else some();",
            s.span, f=flags, term=term, draw=drawn, some=some,
        )  # fmt: skip

    def uncensored(self, value: ast.Expr, around: Around) -> ast.Tilde | ast.Call | None:
        """Not of variables that are given in part: given values may be censored."""
        density = super().uncensored(value, around)
        if density is not None and name_of(left_and_args(density)[0]) in self.flags:
            why = f"`{text_of(left_and_args(density)[0])}` may be censored, and some values are given"
            raise undrawn(why, value.span, "Give all values, or none of them.")
        return density

    def is_drawn(self, name: str) -> bool:
        return name not in self.given.wholly

    def of_row(self, row: DiscreteRow) -> Stmts:
        """Its value is drawn where it is not given."""
        drawn, name = super().of_row(row), row.place.name
        self.priors.append(Factor(name, row.reads))
        if name not in self.flags:
            return drawn
        term = rewrite(
            row.body, lambda n: self.condition(n.value, row.place, row.reads) if n in row.terms else None
        )
        flag = indexed(self.flags[name], row.place.at, row.span)
        return code("if (f) term(); else draw();", row.span, f=flag, term=term, draw=drawn)

    def of_value(self, value: ast.Expr, place: Place) -> Stmts:
        if place.name in self.given.wholly:
            return self.condition(normalised_in(value), place, (value,))
        if place.name in self.flags and len(place.at) == self.axes(place.name):
            flag = indexed(self.flags[place.name], place.at, value.span)
            term = self.condition(normalised_in(value), place, (value,))
            return code("if (f) term();", value.span, f=flag, term=term)
        return super().of_value(value, place)

    def some_given(
        self, place: Place, d: DistributedEntry, s: ast.Tilde | ast.Call, flags: ast.Expr
    ) -> Stmts:
        """A vector of which some entries are given: the others given these."""
        entry, left = indexed(place.name, place.at, s.span), left_and_args(s)[0]
        if not self.normal.takes(d):
            complaint = f"{d.name} does not draw some entries of {text_of(left)} given the others"
            return code(f'reject("{complaint}");'.replace("[", "(").replace("]", ")"), s.span)
        turned = core(self.facts.types[left]) == ROW_VECTOR
        value, density = self.normal.conditional(entry, flags, d)
        draw = code("a = b;", s.span, a=entry, b=ast.Transpose(s.span, value) if turned else value)
        return (*self.condition(density, place, left_and_args(s)[1]), *draw)

    def condition(self, density: ast.Expr, place: Place, args: Exprs) -> Stmts:
        self.conditions.append(Factor(place.name, args))
        return self.terms.add(density, place)

    def draw(self, place: Place, d: DistributedEntry, s: ast.Tilde | ast.Call, around: Around) -> Stmts:
        family = self.facts.library.families.get(d.name)
        if family and family.discrete and own_axes_of(family)[0]:
            why = f"the number of trials of {family.name} follows from its outcome only"
            raise undrawn(why, s.span)
        self.priors.append(Factor(place.name, left_and_args(s)[1]))
        return super().draw(place, d, s, around)

    def follows(self, symbol: Symbol, name: str) -> bool:
        """A real entry that is not drawn yet is nan, which no distribution takes."""
        if symbol.name in self.given.wholly:
            return True
        return symbol.name == name and symbol.type is not None and element_type(symbol.type) != INT

    # --- What conditions say of what is drawn ---

    def unknown_in(
        self, factors: list[Factor], unknown: Mapping[str, ast.Declaration]
    ) -> dict[str, set[str]]:
        """By the name of each factor's variable, the unknown ones that its arguments are computed of."""
        holes: dict[str, set[str]] = {}
        for name, declared in unknown.items():
            reach = self.factors.depending_on([declared])
            for f in factors:
                if symbols_in(f.args, self.facts) & reach:
                    holes.setdefault(f.name, set()).add(name)
        return holes
