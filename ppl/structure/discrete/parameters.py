"""The discrete parameters of a program, as declared."""

from collections.abc import Iterable

from ppl.kernel.language import ast
from ppl.programs.rewriting import expr
from ppl.records import dataclass, field
from ppl.source import Span
from ppl.structure.discrete.affine import known, minus, plus


@dataclass(frozen=True)
class Discrete:
    """`array[dims] int<lower=lower, upper=upper> name`."""

    name: str
    dims: tuple[ast.Expr, ...]
    lower: ast.Expr
    upper: ast.Expr
    span: Span = field(repr=False)

    @property
    def size(self) -> ast.Expr:
        """How many values there are."""
        return plus(minus(self.upper, self.lower), 1)

    def position(self, value: ast.Expr) -> ast.Expr:
        """Where a value stands among the values, from 1."""
        return value if known(self.lower) == 1 else plus(minus(value, self.lower), 1)

    def value(self, position: ast.Expr) -> ast.Expr:
        """The value at a position."""
        if known(self.lower) == 1:
            return position
        offset = plus(self.lower, -1)
        if (n := known(offset)) is not None and n < 0:
            return expr(f"a - {-n}", self.span, a=position)
        return expr("a + b", self.span, a=position, b=offset)


def is_discrete(d: ast.Declaration) -> bool:
    return d.type.keyword == "int"


def has_discrete(p: ast.Program) -> bool:
    return any(map(is_discrete, p.parameters))


def discrete_parameters(declarations: Iterable[ast.Declaration]) -> tuple[Discrete, ...]:
    """The records of the discrete ones; the checker has seen that each has both bounds."""
    bounded = ((d, ast.limits(d.type)) for d in declarations if is_discrete(d))
    return tuple(Discrete(d.name, d.type.dims, of["lower"], of["upper"], d.span) for d, of in bounded)
