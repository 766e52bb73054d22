"""The densities of a program with the data that each is of, and which values depend on parameters or data."""

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from functools import cached_property
from typing import TypeVar

from ppl.kernel.language import ast
from ppl.kernel.language.calls import outcome_of
from ppl.kernel.language.declarations import SQUARE
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.scope import Symbol
from ppl.kernel.language.walk import walk
from ppl.programs.rewriting import text_of
from ppl.records import dataclass
from ppl.structure.definitions import (
    Definition,
    Definitions,
    Exprs,
    definitions_of,
    name_of,
    symbols_in,
    symbols_read,
)
from ppl.structure.places import NoPlace, Places

AnyNode = TypeVar("AnyNode", bound=ast.Node)


@dataclass(frozen=True, eq=False)
class Factors:
    """A checked program by what its statements touch: log likelihoods, predictions, expected values, priors,
    updates, labels and the doctor read it here.
    """

    program: ast.Program
    facts: Facts

    @cached_property
    def definitions(self) -> Definitions:
        """Every value that transformed parameters and the model block give to a variable."""
        return definitions_of((*self.program.transformed_parameters, *self.program.model), self.facts)

    @cached_property
    def all_definitions(self) -> Definitions:
        """The same, and those of transformed data."""
        p = self.program
        return definitions_of((*p.transformed_data, *p.transformed_parameters, *p.model), self.facts)

    @cached_property
    def places(self) -> Places:
        """Which entries of data expressions are."""
        return Places(self.facts, self.definitions)

    # --- What depends on what ---

    def reached(
        self, start: Iterable[ast.Declaration], reads: Callable[[Definition], set[Symbol]]
    ) -> frozenset[Symbol]:
        """The variables declared, and those with a definition that reads one that is reached."""
        those, of = {self.facts.symbols[d] for d in start}, self.definitions
        while more := {s for s in of.keys() - those if any(reads(d) & those for d in of[s])}:
            those |= more
        return frozenset(those)

    def depending_on(self, start: Iterable[ast.Declaration]) -> frozenset[Symbol]:
        """The variables declared, and those that are computed of them, or where they decide."""
        return self.reached(start, lambda d: symbols_in((d.value, *d.at, *d.decided), self.facts))

    @cached_property
    def dependent(self) -> frozenset[Symbol]:
        """The variables that depend on parameters."""
        return self.depending_on(self.program.parameters)

    @cached_property
    def of_data(self) -> frozenset[Symbol]:
        """The variables that are computed of the values of data."""
        return self.reached(self.data.values(), lambda d: symbols_read(d.value, self.facts))

    def depends(self, e: ast.Node) -> bool:
        """Whether a value depends on parameters."""
        return bool(symbols_in(e, self.facts) & self.dependent)

    def reads_data(self, e: ast.Expr) -> bool:
        """Whether a value is computed of the values of data, not only of their sizes or as indices."""
        return bool(symbols_read(e, self.facts) & self.of_data)

    def computed_of(self, nodes: Sequence[AnyNode]) -> Sequence[AnyNode | ast.Expr]:
        """These and the definitions of all variables that they are computed of."""
        every = self.all_definitions
        out: list[AnyNode | ast.Expr] = [*nodes]
        read, new = set[Symbol](), symbols_in(nodes, self.facts)
        while new:
            read |= new
            more = [e for symbol in new for d in every.get(symbol, ()) for e in (d.value, *d.at, *d.decided)]
            out, new = [*out, *more], symbols_in(more, self.facts) - read
        return out

    # --- Data and their densities ---

    @cached_property
    def data(self) -> dict[str, ast.Declaration]:
        """The declarations of data, then of transformed data, by name."""
        statements = (*self.program.data, *self.program.transformed_data)
        return {s.name: s for s in statements if isinstance(s, ast.Declaration)}

    @cached_property
    def sizes(self) -> dict[str, Exprs]:
        """The sizes that each data variable is declared with."""
        return {name: sizes_of_variable(d) for name, d in self.data.items()}

    @cached_property
    def densities(self) -> tuple[tuple[str, ast.Tilde | ast.Call], ...]:
        """The densities of data in the order of the program, each with the variable that it is of."""
        densities = []
        for n in walk((*self.program.transformed_parameters, *self.program.model)):
            if isinstance(n, ast.Tilde | ast.Call) and (left := outcome_of(n)) and not self.depends(left):
                with suppress(NoPlace):
                    densities.append((self.places.of(left).name, n))
        return tuple(densities)

    @cached_property
    def outcomes(self) -> Set[str]:
        """The data variables that some density is of, in order of declaration."""
        names = {name for name, _ in self.densities}
        return {name: d for name, d in self.data.items() if name in names}.keys()

    @cached_property
    def rows(self) -> frozenset[str]:
        """The sizes of outcomes along rows, as text."""
        sizes = (self.sizes[name] for name in self.outcomes)
        return frozenset(text_of(own[0]) for own in sizes if own)

    @cached_property
    def indices(self) -> dict[str, set[str]]:
        """The sizes of the axes that data of ints index, as text: by their upper bound and by use."""
        out = {name: set[str]() for name, d in self.data.items() if d.type.keyword == "int"}
        for name in out:
            if bound := ast.limits(self.data[name].type).get("upper"):
                out[name].add(text_of(bound))
        declared = [n for n in walk(self.program) if isinstance(n, ast.Declaration)]
        sizes = {self.facts.symbols[d]: sizes_of_variable(d) for d in declared if d in self.facts.symbols}
        for n in walk(self.program):
            if isinstance(n, ast.Indexed) and isinstance(n.base, ast.Variable):
                own = sizes.get(self.facts.symbols[n.base], ())
                for index, size in zip(n.indices, own, strict=False):
                    if isinstance(index, ast.SingleIndex) and (name := name_of(index.value)) in out:
                        out[name].add(text_of(size))
        return out

    def groups_within(self, sizes: Set[str]) -> frozenset[str]:
        """These sizes, and those of groups inside their groups: of hospitals, those of patients."""
        out = {*sizes}
        while (
            more := {
                text_of(self.sizes[name][0])
                for name, of in self.indices.items()
                if self.sizes[name] and of & out
            }
            - out
        ):
            out |= more
        return frozenset(out)

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """The functions of the program, by name."""
        return {f.name: f for f in self.program.functions}


def sizes_of_variable(d: ast.Declaration) -> Exprs:
    """All sizes that a variable is declared with, a square matrix twice."""
    square = d.type.keyword in SQUARE and len(d.type.sizes) == 1
    return (*ast.all_sizes(d.type), *(d.type.sizes if square else ()))
