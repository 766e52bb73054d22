"""The nodes of a checked program by block and kind: all lints share one walk."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.scope import BlockName, Symbol
from ppl.kernel.language.walk import assigned_variables, base, definitions, walk

DENSITY = (BlockName.TRANSFORMED_PARAMETERS, BlockName.MODEL)
"""The blocks that compute the target."""


def parameters(program: ast.Program) -> dict[str, ast.Declaration]:
    """The declarations of the parameters by name."""
    return {d.name: d for d in program.parameters}


def alone(program: ast.Program) -> set[ast.Declaration]:
    """The parameters that are not declared with others in one statement."""
    count = Counter(d.span for d in program.parameters)
    return {d for d in program.parameters if count[d.span] == 1}


class Nodes:
    """A checked program, its facts and all its nodes, in the order of the text."""

    def __init__(self, program: ast.Program, facts: Facts):
        self.program, self.facts = program, facts
        self.every = list[ast.Node]()
        self.by_kind: dict[tuple[BlockName, type], list[Any]] = defaultdict(list)
        for block in BlockName:
            for node in walk(getattr(program, block.name.lower())):
                self.every.append(node)
                self.by_kind[block, type(node)].append(node)

    def of(self, *kinds: type, blocks: Iterable[BlockName] = BlockName) -> list[Any]:
        """The nodes of some kinds in some blocks, kind by kind."""
        return [n for block in blocks for kind in kinds for n in self.by_kind.get((block, kind), ())]

    def definitions(self) -> Sequence[tuple[ast.Node, ast.Expr]]:
        """The targets and values of all that the blocks of the target assign."""
        return list(definitions(self.of(ast.Assignment, ast.Declaration, blocks=DENSITY)))

    @cached_property
    def parameters(self) -> dict[str, ast.Declaration]:
        return parameters(self.program)

    @cached_property
    def alone(self) -> set[ast.Declaration]:
        return alone(self.program)

    @cached_property
    def read(self) -> set[Symbol]:
        """The variables whose value is needed: all but those that an assignment only writes to."""
        written = {base(s.target) for s in self.of(ast.Assignment) if s.op == "="}
        return self.symbols(v for v in self.of(ast.Variable) if v not in written)

    @cached_property
    def written(self) -> set[Symbol]:
        """The variables that an assignment changes, wholly or in part."""
        return self.symbols(v for s in self.of(ast.Assignment) for v in assigned_variables(s.target))

    def symbols(self, variables: Iterable[ast.Variable]) -> set[Symbol]:
        return {self.facts.symbols[v] for v in variables if v in self.facts.symbols}
