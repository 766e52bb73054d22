"""Transformed parameters that depend on discrete parameters: they move to where those have values.

In the model block they are local variables; the values of the fit are computed in generated quantities.
"""

from collections.abc import Sequence
from dataclasses import replace

from ppl.kernel.language import ast
from ppl.kernel.language.declarations import CONSTRAINED, SQUARE
from ppl.programs.rewriting import Stmts, assigned, rewrite
from ppl.structure.discrete.live import without_empty
from ppl.structure.discrete.normal import dependent_names
from ppl.types import NAMED

KEYWORDS = {t: keyword for keyword, t in NAMED.items()}


def divided(body: Sequence[ast.Statement], discrete: set[str]) -> tuple[Stmts, Stmts]:
    """The statements for the variables that do not depend on discrete parameters, and for those that do."""
    dependent = dependent_names(body, discrete) - discrete
    own = {s.name for s in body if isinstance(s, ast.Declaration)}
    moving = own & dependent
    if not moving:
        return tuple(body), ()
    return less(tuple(body), moving), less(tuple(body), own - moving)


def less(body: Stmts, names: set[str]) -> Stmts:
    """The statements less those that declare or set some of the block's own variables."""

    def dropped(n: ast.Node) -> Stmts | None:
        match n:
            case ast.Declaration(name=name) if name in names:
                return ()
            case ast.Assignment(target=target) if assigned(target) and assigned(target) <= names:
                return ()
            case _:
                return None

    return without_empty(rewrite(body, dropped))


def plain_declarations(body: Stmts) -> Stmts:
    """As local variables, which have no constraints."""
    return tuple(
        replace(s, type=unconstrained(s.type)) if isinstance(s, ast.Declaration) else s for s in body
    )


def unconstrained(t: ast.DeclaredType) -> ast.DeclaredType:
    if isinstance(t, ast.SizedTuple):
        return replace(t, items=tuple(map(unconstrained, t.items)))
    keyword = KEYWORDS[CONSTRAINED[t.keyword]] if t.keyword in CONSTRAINED else t.keyword
    sizes = t.sizes * 2 if t.keyword in SQUARE and len(t.sizes) == 1 else t.sizes
    return replace(t, keyword=keyword, bounds=None, sizes=sizes)
