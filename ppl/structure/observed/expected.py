"""Expected values of data, as a program: the mean that each `~` statement of data has at its arguments."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ppl.kernel.language import ast
from ppl.kernel.language.calls import left_and_args
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.walk import walk
from ppl.programs.entries import DensityEntries, DistributedEntry
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, code, expr, indexed, variable
from ppl.records import dataclass, field, replace
from ppl.stdlib.record import Distribution
from ppl.stdlib.signatures import Match
from ppl.stdlib.supports import SUPPORTS
from ppl.structure.definitions import Exprs, root
from ppl.structure.discrete.parameters import has_discrete
from ppl.structure.factors import Factors
from ppl.structure.observed.densities import log_density
from ppl.structure.observed.discrete_rows import DiscreteRow
from ppl.structure.observed.partial_normal import PartialNormal
from ppl.structure.observed.predictive import DrawingReader, plain
from ppl.structure.observed.quantities import ByData, with_quantities
from ppl.structure.observed.terms import Around
from ppl.structure.places import Place
from ppl.structure.refused import unexpected
from ppl.types import ROW_VECTOR, VECTOR, core, rank

OF_CATEGORIES = ("c", "alpha", "theta", "beta")
"""Arguments by which a distribution of categories tells their number: cut points, one fewer, come first."""
MEAN = "_mean"
"""How the program's own function for the mean of its own distribution ends."""


def expected_of(factors: Factors, draws_back: bool = False) -> ByData:
    """The mean of each outcome given the parameters and the data that its `~` statement reads.

    Of categories it is their probabilities. `draws_back` is as in `log_lik_of`.

    Raises:
        ModelError: a term of data has no mean that is known; says which, and what to write.
    """
    program = factors.program
    means = means_of(factors, FreshNames.of(program))
    bare = program if draws_back or has_discrete(program) else replace(program, model=())
    computed = with_quantities(bare, means.declared, means.quantities.values(), means.body)
    return ByData(computed, means.quantities)


class Means(NamedTuple):
    """The quantities by outcome, their declarations, and the model block as statements that compute them."""

    quantities: dict[str, str]
    declared: Stmts
    body: Stmts


def means_of(
    factors: Factors,
    names: FreshNames,
    flags: Mapping[str, str] = {},
    normal: PartialNormal | None = None,
) -> Means:
    """The means of the outcomes of a program, given all that it declares but generated quantities.

    `flags` are the data that say which entries of outcomes are given.
    """
    program = factors.program
    reader = ExpectedReader(factors, names, flags=flags, normal=normal or PartialNormal(""))
    body = reader.body(program.model, Around())
    if not reader.declared:
        raise unexpected("no statement has a distribution of data", program.span)
    quantities = {name: reader.declared[name] for name in factors.data if name in reader.declared}
    return Means({name: d.name for name, d in quantities.items()}, tuple(quantities.values()), body)


@dataclass
class ExpectedReader(DrawingReader):
    """Densities of data as assignments of their means.

    Inside a mixture the means are added up, by the `weights` of the parts around; the first part, not
    `later`, begins the sum.
    """

    declared: dict[str, ast.Declaration] = field(default_factory=dict)
    weights: tuple[ast.Expr, ...] = ()
    later: bool = False
    uncensors: bool = True
    suffix: str = MEAN
    flags: Mapping[str, str] = field(default_factory=dict)
    normal: PartialNormal = field(default_factory=lambda: PartialNormal(""))

    def in_part(self, share: ast.Expr, second: bool) -> "ExpectedReader":
        own = expr("1 - p", share.span, p=share) if second else share
        return replace(self, weights=(*self.weights, own), later=self.later or second)

    def mixed(self, share: ast.Expr, parts: Sequence[Stmts]) -> Stmts:
        return tuple(s for part in parts for s in part)

    def draw(self, place: Place, d: DistributedEntry, s: ast.Tilde | ast.Call, around: Around) -> Stmts:
        left, _ = left_and_args(s)
        if (row := self.row_without_rng(place, d, s)) and not self.weights:
            return self.value(row)
        span, own = s.span, rank(self.facts.types[left]) - len(d.heads)
        value = self.mean(place, DensityEntries(self.facts, self.names).in_words_of_family(d), s)
        if own and place.name in self.flags and self.normal.takes(d):
            flags = indexed(self.flags[place.name], place.at, span)
            value = self.normal.mean(indexed(place.name, place.at, span), flags, d)
        mean = indexed(self.mean_name(place.name, s), place.at, span)
        if own == 1:
            turned = {VECTOR: "to_vector", ROW_VECTOR: "to_row_vector"}.get(core(self.facts.types[left]))
            value = ast.Call(span, turned or "to_array_1d", (value,))
        for weight in self.weights:
            value = expr("w * v", span, w=weight, v=value)
        return code("a += b;" if self.later else "a = b;", span, a=mean, b=value)

    def value(self, row: DiscreteRow) -> Stmts:
        """Of counts, not of categories."""
        named = (n for n in walk(row.body) if isinstance(n, ast.Call | ast.Tilde) and n in self.facts.calls)
        for family in filter(None, map(self.family, named)):
            if family.moments.probabilities:
                raise unexpected(f"a mixture of {family.name} has no known probabilities", row.span)
        mean = indexed(self.mean_name(row.place.name), row.place.at, row.span)
        summed = self.names.fresh("m")
        tried = row.tried(self.factors, self.names, "", "m += v * p;", m=variable(summed, row.span))
        return code("{ real m = 0; tried(); a = m; }", row.span, m=summed, tried=tried, a=mean)

    def mean(self, place: Place, d: DistributedEntry, s: ast.Tilde | ast.Call) -> ast.Expr:
        """The mean of one value, or the probabilities of its categories."""
        if function := self.factors.functions.get(d.name + self.suffix):
            return ast.Call(s.span, function.name, d.args)
        family = self.facts.library.families.get(d.name)
        if family is None:
            own = f"{d.name}{self.suffix}"
            raise unexpected(f"{d.name} is a distribution of the program; define {own}, a function", s.span)
        return mean_of(family, d, s, indexed(place.name, place.at, s.span), self.facts)

    def family(self, s: ast.Tilde | ast.Call) -> Distribution | None:
        """The library's distribution that a statement names."""
        called = self.facts.calls[s]
        record = called.callee.record if isinstance(called, Match) else None
        return record if isinstance(record, Distribution) else None

    def mean_name(self, name: str, s: ast.Tilde | ast.Call | None = None) -> str:
        """The declared name of the means of an outcome: nan where no statement has one."""
        if name not in self.declared:
            declared, family = plain(self.factors.data[name]), self.family(s) if s else None
            t = declared.type
            assert isinstance(t, ast.SizedType)
            if s and family and family.moments.probabilities:
                t = replace(t, keyword="vector", sizes=(self.categories(name, family, left_and_args(s)[1]),))
            elif t.keyword == "int":
                t = replace(t, keyword="real")
            own = self.names.fresh(f"{name}{MEAN}")
            self.declared[name] = replace(declared, name=own, type=t, value=None)
        return self.declared[name].name

    def categories(self, name: str, family: Distribution, args: Exprs) -> ast.Expr:
        """How many categories an outcome has: its declared bound, or the size of a global argument."""
        own = self.factors.data[name]
        if bound := ast.limits(own.type).get("upper"):
            return bound
        given = dict(zip((arg for arg, _ in family.args[1:]), args, strict=False))
        word = next(arg for arg in OF_CATEGORIES if arg in given)
        base = root(given[word])
        declared = globals_of(self.factors.program).get(base.name) if isinstance(base, ast.Variable) else None
        if declared is None or not ast.all_sizes(declared.type):
            why = f"the number of categories of `{name}` is not declared, int<lower=1, upper=K>"
            raise unexpected(why, own.name_span)
        return expr("n + 1" if word == "c" else "n", own.span, n=ast.all_sizes(declared.type)[-1])


def globals_of(program: ast.Program) -> dict[str, ast.Declaration]:
    """The declarations of data, parameters and what is computed of them, by name."""
    p = program
    blocks = (p.data, p.transformed_data, p.parameters, p.transformed_parameters)
    return {s.name: s for block in blocks for s in block if isinstance(s, ast.Declaration)}


def mean_of(
    family: Distribution, d: DistributedEntry, s: ast.Tilde | ast.Call, variate: ast.Expr, facts: Facts
) -> ast.Expr:
    """The mean of a distribution at the arguments of a density, or the probabilities of its categories."""
    span, m = s.span, family.moments
    given: dict[str, ast.Expr] = {
        name: expr("1.0 * e", span, e=e) if SUPPORTS[support].discrete else e
        for (name, support), e in zip(family.args[1:], d.args, strict=False)
    }
    given.setdefault("N", expr("1.0 * sum(y)", span, y=variate))
    if "S" in given:
        given["K"] = expr("rows(e)", span, e=given["S"])

    def computed(text: str, **more: ast.Expr) -> ast.Expr:
        parts = {**given, **more}
        return expr(renamed(text), span, **{renamed(name): e for name, e in parts.items()})

    if m.without:
        raise unexpected(f"{family.name} has no mean: {m.without}", span)
    value = computed(m.probabilities or m.mean)
    if m.if_mean:
        value = expr("m * (c ? 1 : not_a_number())", span, m=value, c=computed(m.if_mean))
    t = d.truncation
    if t is None or not (t.lower or t.upper):
        return value
    if not m.beyond:
        raise unexpected(f"the mean of a truncated {family.name} is not known", span)
    terms = []
    for bound, sign in ((t.lower, "+"), (t.upper, "-")):
        if bound is not None:
            at = expr("1.0 * b", span, b=bound)
            density = log_density(replace(d, left=bound if family.discrete else at), s, facts)
            beyond = computed(m.beyond, y=at)
            if family.discrete and sign == "-":
                beyond = expr("e + m - b", span, e=beyond, m=value, b=bound)
            terms.append((sign, beyond, density))
    for sign, beyond, density in terms:
        value = expr(f"m {sign} (e == 0 ? 0 : e * exp(p))", span, m=value, e=beyond, p=density)
    return value


def renamed(text: str) -> str:
    """The formula with names that are no words of the language."""
    return text.replace("lower", "lower_").replace("upper", "upper_")
