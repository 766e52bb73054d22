"""Statements that a discrete value decides about as a whole: all that they add to the target is one term.

What stands in them and does not itself depend on a discrete parameter is added for each of its values too, so
that it must be an increment with all its constants.
"""

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.programs.rewriting import Stmts, expr, mentions, rewrite
from ppl.structure.discrete.normal import density_of, normalised_in
from ppl.structure.discrete.terms import is_whole
from ppl.types import rank


def with_increments(body: Stmts, names: set[str], facts: Facts) -> Stmts:
    """The statements with plain increments inside those that are one term."""

    def within(n: ast.Node) -> ast.Node | None:
        if isinstance(n, ast.TargetIncrement) and mentions(n, names):
            return increments(n, facts)
        if not isinstance(n, ast.For | ast.ForEach | ast.If | ast.Block) or not mentions(n, names):
            return None
        return increments(n, facts) if is_whole(n, names) else None

    return rewrite(body, within)


def increments(s: ast.Statement, facts: Facts) -> ast.Statement:
    def increment(n: ast.Node) -> ast.Node | None:
        match n:
            case ast.Tilde():
                return ast.TargetIncrement(n.span, density_of(n, facts))
            case ast.TargetIncrement(value=value) if value in facts.types and rank(facts.types[value]):
                return ast.TargetIncrement(n.span, expr("sum(e)", n.span, e=value))
            case _:
                return None

    return normalised_in(rewrite(s, increment))
