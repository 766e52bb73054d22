"""The density of an outcome as the program has it, and where it stands."""

from collections.abc import Sequence
from functools import cached_property

from ppl.kernel.language import ast
from ppl.kernel.language.calls import left_and_args
from ppl.kernel.language.parser import parse
from ppl.kernel.language.printer import expression
from ppl.programs.fresh_names import FreshNames
from ppl.records import dataclass, field, replace
from ppl.source import SourceText, Span
from ppl.types import Type


@dataclass(frozen=True, eq=False)
class Site:
    """Where a density stands: its `node` in the `program` of a `file`; `alone` if no other is of the outcome.

    `size` is that of a one-dimensional outcome as declared, else ""; `types` are those of the arguments.
    A prior has neither.
    """

    node: ast.Tilde | ast.Call
    program: ast.Program
    file: str
    alone: bool
    size: str
    types: tuple[Type, ...]
    is_prior: bool = False

    @cached_property
    def taken(self) -> frozenset[str]:
        """The names that the program has."""
        return frozenset(FreshNames.of(self.program).taken)


@dataclass(frozen=True)
class Lines:
    """Lines that take the place of a statement."""

    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(line.strip() for line in self.lines)


@dataclass(frozen=True)
class Statement:
    """The first density of an outcome as the program has it: `left ~ distribution(args)`.

    `at` is the index of the left side, `[n]` in a loop and "" of a whole vector.
    """

    span: Span
    distribution: str
    left: str
    args: tuple[str, ...]
    at: str = ""
    site: Site | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        return f"{self.left} ~ {self.distribution}({', '.join(self.args)});"

    def fresh(self, name: str) -> str:
        """The name, with a number if the program has it."""
        return FreshNames(set(self.site.taken if self.site else ())).fresh(name)


def restated(s: Statement, distribution: str, args: Sequence[str]) -> Statement:
    """The statement with another distribution and arguments, each with no more parentheses than it needs."""
    statement = parse(SourceText(f"model {{ {s.left} ~ {distribution}({', '.join(args)}); }}")).model[0]
    assert isinstance(statement, ast.Tilde)
    return replace(s, distribution=distribution, args=tuple(map(expression, statement.args)))


def statement_of(s: ast.Tilde | ast.Call) -> Statement:
    """The density as text."""
    left, _ = left_and_args(s)
    index = expression(left).removeprefix(expression(left.base)) if isinstance(left, ast.Indexed) else ""
    name, args = density_of(s)
    return Statement(s.span, name, expression(left), args, index)


def density_of(node: ast.Tilde | ast.Call) -> tuple[str, tuple[str, ...]]:
    """The distribution of a statement, or of a call such as `normal_rng`, and its arguments as text."""
    name = node.distribution if isinstance(node, ast.Tilde) else node.name.rpartition("_")[0]
    return name, tuple(map(expression, arguments_of(node)))


def arguments_of(node: ast.Tilde | ast.Call) -> tuple[ast.Expr, ...]:
    """The arguments of the distribution, without its variate."""
    return node.args if isinstance(node, ast.Call) and node.name.endswith("_rng") else left_and_args(node)[1]
