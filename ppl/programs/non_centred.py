"""Centred hierarchies, and the declaration that makes each non-centred."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ppl.errors import Fix
from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.printer import expression
from ppl.kernel.language.scope import BlockName
from ppl.kernel.language.walk import variables
from ppl.programs.density_lints import densities, parameter, redeclaration, with_bounds
from ppl.programs.lints import Lint, funnel
from ppl.programs.nodes import Nodes
from ppl.source import Span
from ppl.types import INT, REAL

CONTAINERS = ("real", "vector", "row_vector", "matrix")
FAMILIES = ("normal", "student_t")
"""Location and scale are their last arguments."""
DECLARED_BEFORE = (BlockName.DATA, BlockName.TRANSFORMED_DATA, BlockName.PARAMETERS)


class Centred(NamedTuple):
    """A parameter with several entries whose scale depends on parameters, and the statement `~` that says so.

    `bounds` are the offset and multiplier that make it non-centred; `in_order` is whether it is declared
    after all that they name.
    """

    declaration: ast.Declaration
    statement: ast.Tilde
    scale: str
    bounds: str
    in_order: bool

    @property
    def non_centred(self) -> str:
        """The declaration to write in its place."""
        return with_bounds(self.declaration, self.bounds)


def centred(p: Nodes) -> Iterator[Centred]:
    """The parameters whose entries and scale are both estimated, in the centred form.

    Papaspiliopoulos, Roberts and Skold (2007), "A general framework for the parametrization of hierarchical
    models".
    """
    facts = p.facts
    priors = Counter(d for s, _ in densities(p) if (d := parameter(p, s.left)))
    for s, family in densities(p):
        d = parameter(p, s.left)
        if d is None or priors[d] > 1 or family.name not in FAMILIES or not is_plain_container(d.type):
            continue
        location, scale = s.args[-2:]
        named = [facts.symbols[v] for v in variables((location, scale))]
        estimated = any(parameter(p, v) for v in variables(scale))
        declarable = all(v.block in DECLARED_BEFORE and v.name != d.name for v in named)
        if estimated and declarable and all(is_bound_of(d, e, facts) for e in (location, scale)):
            offset = "" if is_zero(location) else f"offset={expression(location)}, "
            in_order = all(place(v.span) < place(d.span) for v in named)
            yield Centred(d, s, expression(scale), f"{offset}multiplier={expression(scale)}", in_order)


def below_named(c: Centred, fix: Fix, parameters: tuple[ast.Declaration, ...], facts: Facts) -> Fix | None:
    """The declaration below the last one that it names; None where another names it or has a comment."""
    d = c.declaration
    named = {facts.symbols[v].name for v in variables(c.statement.args[-2:])}
    last = max((other.span for other in parameters if other.name in named), key=place)
    if last.source is not d.span.source:
        return None
    whole = Span(d.span.source, d.span.line, d.span.column, last.end_line, last.end_column)
    rest = whole.text[len(d.span.text) :].lstrip()
    if "//" in rest or "/*" in rest or re.search(rf"\b{d.name}\b", rest):
        return None
    line = d.span.source.line(d.span.line)
    indent = line[: len(line) - len(line.lstrip())]
    return Fix(whole, rest + (f"\n{indent}" if last.line > d.span.line else " ") + fix.text)


def is_plain_container(t: ast.DeclaredType) -> bool:
    """Whether it is of several entries, without bounds or a structure."""
    return t.keyword in CONTAINERS and not t.bounds and bool(ast.all_sizes(t))


def is_bound_of(d: ast.Declaration, e: ast.Expr, facts: Facts) -> bool:
    """Whether an offset or multiplier of the declaration may be `e`: one number, or one for each entry."""
    return facts.types[e] in (INT, REAL, facts.symbols[d].type)


def place(span: Span) -> tuple[int, int]:
    return span.line, span.column


def is_zero(e: ast.Expr) -> bool:
    return isinstance(e, ast.IntLiteral | ast.RealLiteral) and float(expression(e)) == 0


def funnels(p: Nodes) -> Iterator[Lint]:
    """A centred hierarchy, which is a funnel where data are few."""
    for c in centred(p):
        fix = redeclaration(p.alone, c.declaration, c.bounds)
        fix = below_named(c, fix, p.program.parameters, p.facts) if fix and not c.in_order else fix
        yield funnel(c.declaration.name, c.scale, c.non_centred, c.statement.left.span, fix)
