"""Transformed data of new rows: means, deviations and the like of all rows stay those of the fit.

`x - mean(x)` of new rows would be centred by another mean than that which the coefficients were fitted with.
"""

from collections.abc import Sequence

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.walk import closure, walk
from ppl.programs.entries import indexed
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, code, inner, mentions, one, rewrite, text_of, written
from ppl.records import dataclass, field, replace
from ppl.structure.definitions import Exprs, symbols_read
from ppl.structure.refused import unpredicted
from ppl.types import REAL

OF_ALL_ROWS = (
    *("mean", "sd", "variance", "min", "max", "quantile"),
    *("sum", "prod", "norm1", "norm2", "dot_self"),
)
"""Functions of a container with one real value."""
OF_EACH_OTHER = ("qr_", "svd", "singular_values", "eigen", "sort_", "rank", "crossprod", "tcrossprod")
"""How functions begin whose values depend on all rows, and have no counterpart for new ones."""

Pair = tuple[Stmts, Stmts]


@dataclass
class Fixing:
    """Takes values of all rows out of transformed data; `rows` are the sizes along rows, as text.

    `values` are the variables they are put into, each with the sizes of the loops that it is computed in.
    """

    facts: Facts
    rows: frozenset[str]
    names: FreshNames
    values: dict[str, Exprs] = field(default_factory=dict)

    def body(self, statements: Sequence[ast.Statement], heads: tuple[ast.For, ...] = ()) -> Pair:
        """The statements that also record these values, and those that are given them."""
        pairs = [self.statement(s, heads) for s in statements]
        return tuple(x for first, _ in pairs for x in first), tuple(x for _, second in pairs for x in second)

    def statement(self, s: ast.Statement, heads: tuple[ast.For, ...]) -> Pair:
        match s:
            case ast.For(body=body):
                first, second = self.body(inner(body), (*heads, s))
                return (replace(s, body=one(first, s.span)),), (replace(s, body=one(second, s.span)),)
            case ast.Block(statements=body):
                first, second = self.body(body, heads)
                return (replace(s, statements=first),), (replace(s, statements=second),)
            case ast.Declaration() | ast.Assignment():
                recorded: list[ast.Statement] = []

                def given(n: ast.Node) -> ast.Expr | None:
                    own = self.heads(n, heads)
                    if own is None:
                        return None
                    name = self.names.fresh("fixed")
                    self.values[name] = tuple(h.upper for h in own)
                    at = tuple(ast.Variable(n.span, h.variable) for h in own)
                    entry = indexed(ast.Variable(n.span, name), at)
                    recorded.extend(code("a = b;", n.span, a=entry, b=n))  # type: ignore[arg-type]
                    return entry

                changed = rewrite(s, given)
                return (*recorded, changed), (changed,)
            case _:
                return (s,), (s,)

    def heads(self, n: ast.Node, heads: tuple[ast.For, ...]) -> tuple[ast.For, ...] | None:
        """The loops that a value of all rows depends on; None for any other node, and values of one row."""
        if not isinstance(n, ast.Call) or self.facts.types.get(n) != REAL or not symbols_read(n, self.facts):
            return None
        own = tuple(h for h in heads if mentions(n, {h.variable}))
        of_row = any(text_of(h.upper) in self.rows for h in own)
        return own if n.name in OF_ALL_ROWS and not of_row else None


def without(program: ast.Program, gone: set[str]) -> tuple[Stmts, set[str]]:
    """Transformed data that do not depend on the data `gone`, and the variables that do."""
    lost = closure(
        gone, program.transformed_data, lambda s, lost_so_far: written(s) if mentions(s, lost_so_far) else ()
    )
    left = tuple(s for s in program.transformed_data if not written(s) & lost and not mentions(s, lost))
    return left, lost - gone


def refuse_of_each_other(body: Stmts, facts: Facts) -> None:
    """ModelError where new rows have no counterpart of a value."""
    for n in walk(body):
        if isinstance(n, ast.Call) and n.name.startswith(OF_EACH_OTHER) and symbols_read(n, facts):
            raise unpredicted(f"transformed data compute `{text_of(n)}`, which depends on all rows", n.span)
