"""The log likelihood by row, as a program: the terms of the model block in generated quantities."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ppl.discrete.normal import normalised_in
from ppl.frontend import ast
from ppl.frontend.entries import Drawn
from ppl.frontend.facts import Facts
from ppl.frontend.fresh_names import FreshNames
from ppl.frontend.rewriting import Stmts, code, indexed, rewrite
from ppl.observed.densities import log_density
from ppl.observed.flow import Exprs, flow_of
from ppl.observed.places import Place
from ppl.observed.quantities import ByData, sizes_of, text_of_quantities
from ppl.observed.refused import unread
from ppl.observed.terms import Around, Reader, outcomes_of
from ppl.source import Span


@dataclass
class Terms:
    """Terms of data as increments, each with the rows that it is of."""

    places: dict[ast.Statement, Place] = field(default_factory=dict)

    def add(self, value: ast.Expr, place: Place) -> Stmts:
        """The increment of a term."""
        made = ast.TargetIncrement(value.span, value)
        self.places[made] = place
        return (made,)

    def summed(self, body: Stmts, sizes: Mapping[str, Exprs], names: FreshNames, span: Span) -> "Summed":
        """The body with each term added to an entry of a quantity, one quantity a data variable."""
        axes: dict[str, int] = {}
        for p in self.places.values():
            axes[p.name] = min(axes.get(p.name, len(p.at)), len(p.at))
        quantities = {name: names.fresh(f"log_lik_{name}") for name in sizes if name in axes}

        def added(n: Any) -> Stmts | None:
            if (p := self.places.get(n)) is None:
                return None
            entry = indexed(quantities[p.name], p.at[: axes[p.name]], n.span)
            return code("a += b;", n.span, a=entry, b=n.value)

        declared = tuple(
            declaration(quantity, sizes[name][: axes[name]], span) for name, quantity in quantities.items()
        )
        return Summed(quantities, declared, rewrite(body, added))


class Summed(NamedTuple):
    """The quantities by data variable, their declarations, and the statements that compute them."""

    quantities: dict[str, str]
    declared: Stmts
    body: Stmts


@dataclass
class LogLikReader(Reader):
    """The terms of data by row."""

    terms: Terms = field(default_factory=Terms)

    def of_density(self, d: Drawn, s: ast.Tilde | ast.Call, place: Place, around: Around) -> Stmts:
        return self.terms.add(log_density(d, s, self.facts), place)

    def of_value(self, value: ast.Expr, place: Place) -> Stmts:
        return self.terms.add(normalised_in(value), place)


def log_lik_of(program: ast.Program, facts: Facts, draws_back: bool = False) -> ByData:
    """The log likelihood by row of a program without discrete parameters.

    Each data variable that is observed has an array of the axes by which its terms can be told apart. With
    `draws_back` the model block stays: discrete data that are missing are drawn back given it.

    Raises:
        ModelError: a term belongs to no row of one variable; says which, and what to write.
    """
    names = FreshNames.of(program)
    flow = flow_of(program, facts)
    reader = LogLikReader(facts, flow, names, outcomes_of(program, flow))
    body = reader.body(program.model, Around())
    if not reader.terms.places:
        raise unread("no statement observes data", program.span)
    sizes = sizes_of(program)
    tied: dict[str, Span] = {}
    for term, p in reader.terms.places.items():
        if sizes[p.name] and not p.at:
            tied.setdefault(p.name, term.span)
    found = reader.terms.summed(body, sizes, names, program.span)
    made = program if draws_back else replace(program, model=())
    text = text_of_quantities(made, found.declared, found.quantities.values(), found.body)
    return ByData(text, found.quantities, tied)


def declaration(name: str, sizes: Exprs, span: Span) -> ast.Statement:
    """A real, a vector or an array of reals, of zeros."""
    parts = {f"n{k}": n for k, n in enumerate(sizes)}
    part_list = ", ".join(parts)
    texts = ("real v = 0;", "vector[n0] v = rep_vector(0, n0);")
    text = (*texts, f"array[{part_list}] real v = rep_array(0.0, {part_list});")[min(len(sizes), 2)]
    (made,) = code(text, span, v=name, **parts)
    return made
