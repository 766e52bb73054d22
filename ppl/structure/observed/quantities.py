"""Programs of the same parameters with other generated quantities, which are of data."""

from collections.abc import Iterable, Mapping

from ppl.kernel.language import ast
from ppl.kernel.language.declarations import SQUARE
from ppl.programs.rewriting import Stmts, code, copied
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.structure.discrete.live import live
from ppl.structure.observed.flow import Exprs, data_of


@dataclass(frozen=True)
class ByData:
    """`program` has the same parameters; `quantities` are its generated quantities by data variable.

    `tied` are the containers of which a term, at the place, needs all entries together.
    """

    program: ast.Program
    quantities: Mapping[str, str]
    tied: Mapping[str, Span] = field(default_factory=dict)


def with_quantities(
    program: ast.Program, declared: Stmts, names: Iterable[str], body: Stmts, locals: Stmts = ()
) -> ast.Program:
    """The program with the quantities `declared`, and of `body` what computes these `names`."""
    read = tuple(s for name in names for s in code("target += v;", program.span, v=name))
    block = ast.Block(program.span, (*locals, *live(body, read)))
    return copied(replace(program, generated_quantities=(*declared, block)))


def sizes_of(program: ast.Program) -> dict[str, Exprs]:
    """The sizes that each data variable is declared with."""
    return {name: sizes_of_variable(d) for name, d in data_of(program).items()}


def sizes_of_variable(d: ast.Declaration) -> Exprs:
    """All sizes that a variable is declared with, a square matrix twice."""
    square = d.type.keyword in SQUARE and len(d.type.sizes) == 1
    return (*ast.all_sizes(d.type), *(d.type.sizes if square else ()))
