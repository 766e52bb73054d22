"""Rows of int outcomes whose distribution is known value by value: hurdles, zero inflation, any mixture.

All terms of a row together are the log probability of its value, also those under conditions on that value.
Values are tried from the lower bound up, until their probabilities add up to 1.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.walk import closure, heads, walk
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import (
    Stmts,
    bound_in,
    code,
    expr,
    indexed,
    integer,
    mentions,
    rewrite,
    text_of,
    variable,
    written,
)
from ppl.records import dataclass
from ppl.source import Span
from ppl.structure.definitions import Definition, Exprs
from ppl.structure.discrete.live import without_empty
from ppl.structure.factors import Factors
from ppl.structure.observed.log_lik import LogLikReader
from ppl.structure.observed.terms import Around, always_adds, below
from ppl.structure.places import Place
from ppl.types import rank

VALUES_TRIED = 20_000
"""Values of an outcome without an upper bound that are tried, at most."""
TRIED_AT_LEAST = 1_000
"""As many are tried before the probabilities are taken to add up to less than 1."""


class DiscreteRow(NamedTuple):
    """The statements that have the probability of one entry of an int outcome.

    `terms` are those of its log probability among the statements `body`.
    """

    place: Place
    body: Stmts
    terms: frozenset[ast.Node]
    span: Span

    @property
    def entry(self) -> ast.Expr:
        return indexed(self.place.name, self.place.at, self.span)

    @property
    def reads(self) -> Exprs:
        """The variables, and entries of them, that the probability is computed of."""
        return tuple(n for n in walk(self.body) if isinstance(n, ast.Variable | ast.Indexed))

    @property
    def without_terms(self) -> Stmts:
        """The statements without their terms."""
        return without_empty(rewrite(self.body, lambda n: () if n in self.terms else None))

    def at_value(self, value: str, log_p: str) -> Stmts:
        """The statements that add the log probability of a value to `log_p`."""
        text = text_of(self.entry)

        def changed(n: ast.Node) -> ast.Expr | Stmts | None:
            if isinstance(n, ast.TargetIncrement) and n in self.terms:
                return code("a += b;", n.span, a=log_p, b=rewrite(n.value, changed))
            is_entry = isinstance(n, ast.Variable | ast.Indexed) and text_of(n) == text
            return variable(value, n.span) if is_entry else None

        return rewrite(self.body, changed)

    def tried(self, factors: Factors, names: FreshNames, before: str, each: str, **parts: ast.Expr) -> Stmts:
        """The statements that try the values in turn: `before` them, and at `each`, whose probability is `p`,
        with what is `below`.

        The program stops where the probabilities do not add up to 1.
        """
        own = {word: names.fresh(word) for word in ("v", "p", "below", "log_p", "last", "falls", "u")}
        lower, upper = self.bounds(factors)
        text = (
            "{ int v = lo - 1; int falls = -1; real p = 0, below = 0, log_p = 0; real last; "
            f"{before} "
            "while (v < hi && ((below <= 1 - 1e-6 && v <= lo + few) || falls < 2 || p >= 1e-16)) { "
            f"v += 1; last = log_p; log_p = 0; body(); p = exp(log_p); {each} below += p; "
            "falls = log_p >= last && log_p > negative_infinity() ? 0 : falls + 1; } "
            "if (!(abs(below - 1) <= 1e-6)) "
            'fatal_error("complaint", lo, " to ", v, " add up to ", below, ", not to 1"); }'
        )
        complaint = f"the probabilities of the values of {self.place.name} from "
        statements = code(
            text.replace("complaint", complaint),
            self.span,
            lo=lower,
            hi=upper or expr("a + n", self.span, a=lower, n=integer(VALUES_TRIED, self.span)),
            few=integer(TRIED_AT_LEAST, self.span),
            body=self.at_value(own["v"], own["log_p"]),
            **own,
            **parts,
        )
        return statements

    def bounds(self, factors: Factors) -> tuple[ast.Expr, ast.Expr | None]:
        """The declared bounds of the entry; without a lower one values begin at 0."""
        declared = ast.limits(factors.data[self.place.name].type)

        def own(side: str) -> ast.Expr | None:
            bound = declared.get(side)
            axes = rank(factors.facts.types[bound]) if bound else 0
            at = tuple(ast.SingleIndex(self.span, e) for e in self.place.at[-axes:])
            return ast.Indexed(self.span, bound, at) if bound and axes else bound

        return own("lower") or integer(0, self.span), own("upper")


@dataclass(frozen=True)
class DiscreteRows:
    """Finds rows of these int outcomes; a statement that `draws` accepts stays as it is."""

    factors: Factors
    names: FreshNames
    outcomes: frozenset[str]
    draws: Callable[[ast.Statement, Around], bool]

    def among(
        self, statements: Sequence[ast.Statement], around: Around
    ) -> Sequence[ast.Statement | DiscreteRow]:
        """The statements, those together that have the probability of one entry of an int outcome."""
        at: dict[tuple[str, ...], list[int]] = {}
        around_each = [*accumulate(statements, lambda before, s: below(s, before), initial=around)]
        for k, s in enumerate(statements):
            if row := self.terms([s], around_each[k]):
                at.setdefault((row.place.name, *map(text_of, row.place.at)), []).append(k)
        for (name, *_), own in at.items():
            if len(own) == 1 and self.draws(statements[own[0]], around_each[own[0]]):
                continue
            first, last = beginning(statements, own[0], own[-1], name), own[-1] + 1
            if row := self.row(statements[first:last], around_each[first]):
                later = self.among(statements[last:], around_each[last])
                return [*self.among(statements[:first], around), row, *later]
        return statements

    def terms(self, statements: Sequence[ast.Statement], around: Around) -> DiscreteRow | None:
        """The terms of statements, where all are of one entry of an int outcome."""
        reader = LogLikReader(self.factors, self.names)
        try:
            body = reader.body(statements, around)
        except ModelError:
            return None
        distinct = {(p.name, *map(text_of, p.at)): p for p in reader.terms.places.values()}
        if len(distinct) != 1 or reader.unread:
            return None
        (place,) = distinct.values()
        if place.name not in self.outcomes:
            return None
        is_entry = len(place.at) == len(self.factors.sizes[place.name])
        if not is_entry or mentions(place.at, bound_in(body)):
            return None
        return DiscreteRow(place, body, frozenset(reader.terms.places), statements[0].span)

    def row(self, statements: Sequence[ast.Statement], around: Around) -> DiscreteRow | None:
        """The statements as a row; None where more than its entry is read or set at each value.

        Or where an entry may come twice.
        """
        row = self.terms(statements, around)
        if row is None or any(isinstance(n, JUMPS) for n in walk(statements)):
            return None
        if not any(always_adds(s, row.terms) for s in row.body):
            return None  # without a term the probability of a value is unknown
        loops = [s.variable if isinstance(s, ast.For) else "" for s in around.loops]
        if sorted(map(text_of, row.place.at)) != sorted(loops):
            return None
        value, log_p = self.names.fresh("v"), self.names.fresh("log_p")
        own = {n for s in statements for n in declared_in(s)}
        body = row.at_value(value, log_p)
        outside = (*(s.condition for s in around.branches), *(e for s in around.loops for e in heads(s)))
        others = computed_of(row.place.name, self.factors) - own
        sets = {n for s in body for n in written(s)} - own - {log_p}
        return None if sets or mentions((*body, *outside), others) else row


JUMPS = (ast.Break, ast.Continue, ast.Return, ast.Reject, ast.While, ast.ForEach, ast.CallStatement)


def beginning(statements: Sequence[ast.Statement], first: int, last: int, name: str) -> int:
    """The first statement that computes something of an outcome for its terms, or declares it."""
    for k in range(first - 1, -1, -1):
        within = statements[first : last + 1]
        missing = {n for s in within for n in written(s) - declared_in(s)}
        if mentions(statements[k], {name}) or missing & declared_in(statements[k]):
            first = k
    return first


def declared_in(s: ast.Statement) -> set[str]:
    return {n.name for n in walk(s) if isinstance(n, ast.Declaration)}


def computed_of(name: str, factors: Factors) -> set[str]:
    """The names of a data variable and of what is computed of it."""
    definitions = [(s.name, d) for s, own in factors.all_definitions.items() for d in own]

    def more(pair: tuple[str, Definition], names: set[str]) -> Iterable[str]:
        d = pair[1]
        read = (d.value, *d.at, *d.decided, *(e for s in d.loops for e in heads(s)))
        return {pair[0]} if mentions(read, names) else ()

    return closure({name}, definitions, more)
