"""The descendants of some variables: what the densities of a program draw given them, directly or not."""

from collections.abc import Collection, Iterator, Sequence, Set
from typing import NamedTuple

from ppl.kernel.language import ast
from ppl.kernel.language.calls import left_and_args, outcome_of
from ppl.kernel.language.scope import Symbol
from ppl.kernel.language.walk import walk
from ppl.structure.definitions import symbols_in, symbols_read
from ppl.structure.factors import Factors
from ppl.structure.observed.terms import summands


class Dependent(NamedTuple):
    """The variables that a term has densities of, and those that it is computed of."""

    variables: Set[Symbol]
    given: Set[Symbol]


def descendants(factors: Factors, terms: Sequence[Dependent], names: Collection[str]) -> frozenset[str]:
    """The data and parameters that depend on variables of these names, less these, by the `dependents`.

    An intervention on the variables changes these and nothing else: Pearl (2009), Causality, section 1.3.
    """
    declared = {**factors.data, **{d.name: d for d in factors.program.parameters}}
    start = {factors.facts.symbols[declared[name]] for name in names}
    reached = set(start)
    while more := {s for term in terms if term.given & reached for s in term.variables} - reached:
        reached |= more
    return frozenset(name for name, d in declared.items() if factors.facts.symbols[d] in reached - start)


def dependents(factors: Factors) -> Iterator[Dependent]:
    """The terms of the model block, of a sum its summands, with the conditions around them."""
    branches = [n for n in walk(factors.program.model) if isinstance(n, ast.If)]
    for s in walk(factors.program.model):
        if isinstance(s, ast.Tilde | ast.TargetIncrement):
            around = [b.condition for b in branches if any(n is s for n in walk(b))]
            for term in (s,) if isinstance(s, ast.Tilde) else summands(s.value):
                yield dependent(factors, term, around)


def dependent(factors: Factors, term: ast.Tilde | ast.Expr, around: Sequence[ast.Expr]) -> Dependent:
    """One term; of a density the variate is not what it is given."""
    lefts: list[ast.Expr]
    given: Sequence[ast.Node]
    match term:
        case ast.Tilde() | ast.Call() if outcome_of(term) is not None:
            left, given = left_and_args(term)
            lefts = [left]
        case _:
            lefts = [e for n in walk(factors.computed_of((term,))) if (e := outcome_of(n)) is not None]
            given = (term,)
    own = {symbol for e in factors.computed_of(lefts) for symbol in symbols_read(e, factors.facts)}
    return Dependent(own, symbols_in(factors.computed_of((*given, *around)), factors.facts))
