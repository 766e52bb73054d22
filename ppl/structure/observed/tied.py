"""The density of values that new rows lack and given values depend on, to be drawn from given these."""

from collections.abc import Mapping

from ppl.kernel.language import ast
from ppl.kernel.language.calls import left_and_args
from ppl.programs.entries import DistributedEntry
from ppl.programs.rewriting import Stmts
from ppl.records import dataclass
from ppl.structure.definitions import Exprs, name_of
from ppl.structure.observed.conditioned import ConditionedReader
from ppl.structure.observed.densities import log_density
from ppl.structure.observed.discrete_rows import DiscreteRow
from ppl.structure.observed.terms import Around
from ppl.structure.places import Place


@dataclass(frozen=True)
class Tied:
    """The `unknown` variables whose draws follow the `conditions`, variables that new rows hold."""

    unknown: frozenset[str] = frozenset()
    conditions: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        return self.unknown | self.conditions


UNTIED = Tied()


@dataclass(frozen=True)
class Dependence:
    """The unknown variables that densities are given: of data that are held, of what is drawn."""

    conditions: Mapping[str, set[str]]
    priors: Mapping[str, set[str]]

    def tied(self, start: set[str], scored: set[str]) -> Tied:
        """All that is to be drawn together, if the densities of `start` depend on what is drawn."""
        unknown, conditions = set[str](), set(start)
        while True:
            unknown |= {u for name in conditions for u in self.conditions[name]}
            unknown |= {u for name in unknown for u in self.priors.get(name, ())}
            more = {name for name, of in self.conditions.items() if of & unknown} - scored - conditions
            beyond = {u for name in unknown for u in self.priors.get(name, ())} - unknown
            if not more and not beyond:
                return Tied(frozenset(unknown), frozenset(conditions))
            conditions |= more


@dataclass
class DensitiesReader(ConditionedReader):
    """The densities of what is tied, as increments; all other densities are left out."""

    tied: Tied = UNTIED

    def density(self, s: ast.Tilde | ast.Call, around: Around) -> Stmts:
        left, _ = left_and_args(s)
        if name_of(left) in self.tied.unknown and self.factors.depends(left):
            d = self.split_entries(s)
            return d.inside(self.increments(log_density(d, s, self.facts)), s.span)
        return super().density(s, around)

    def of_value(self, value: ast.Expr, place: Place) -> Stmts:
        return super().of_value(value, place) if place.name in self.tied.names else ()

    def condition(self, density: ast.Expr, place: Place, args: Exprs) -> Stmts:
        return self.terms.add(density, place) if place.name in self.tied.names else ()

    def value(self, row: DiscreteRow) -> Stmts:
        return ()

    def draw(self, place: Place, d: DistributedEntry, s: ast.Tilde | ast.Call, around: Around) -> Stmts:
        return ()

    @staticmethod
    def increments(value: ast.Expr) -> Stmts:
        return (ast.TargetIncrement(value.span, value),)
