"""Programs of the same parameters with other generated quantities, which are of data."""

from collections.abc import Iterable, Mapping

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.programs.rewriting import Stmts, code, copied
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.structure.definitions import Exprs
from ppl.structure.discrete.live import live


@dataclass(frozen=True)
class ByData:
    """`program` has the same parameters; `quantities` are its generated quantities by data variable.

    `tied` are the containers of which a term, at the place, needs all entries together; `unread` are data
    with a term that cannot be read, and why.
    """

    program: ast.Program
    quantities: Mapping[str, str]
    tied: Mapping[str, Span] = field(default_factory=dict)
    unread: Mapping[str, ModelError] = field(default_factory=dict)


def with_quantities(
    program: ast.Program, declared: Stmts, names: Iterable[str], body: Stmts, locals: Stmts = ()
) -> ast.Program:
    """The program with the quantities `declared`, and of `body` what computes these `names`."""
    read = tuple(s for name in names for s in code("target += v;", program.span, v=name))
    block = ast.Block(program.span, (*locals, *live(body, read)))
    return copied(replace(program, generated_quantities=(*declared, block)))


def declaration(name: str, sizes: Exprs, span: Span) -> ast.Statement:
    """A real, a vector or an array of reals, of zeros."""
    parts = {f"n{k}": n for k, n in enumerate(sizes)}
    part_list = ", ".join(parts)
    texts = ("real v = 0;", "vector[n0] v = rep_vector(0, n0);")
    text = (*texts, f"array[{part_list}] real v = rep_array(0.0, {part_list});")[min(len(sizes), 2)]
    (statement,) = code(text, span, v=name, **parts)
    return statement
