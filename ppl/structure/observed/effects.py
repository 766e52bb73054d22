"""Effects drawn anew for new rows, from their priors: those of new groups, and those with an entry a row."""

from collections.abc import Mapping
from math import prod

from ppl.kernel.language import ast
from ppl.kernel.language.calls import left_and_args
from ppl.programs.entries import DistributedEntry
from ppl.programs.rewriting import Stmts, code, expr, indexed, integer
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.structure.definitions import root
from ppl.structure.factors import sizes_of_variable
from ppl.structure.forward.draw_statements import PLAIN, implied
from ppl.structure.observed.predictive import DrawingReader, Exact, all_hold
from ppl.structure.observed.terms import Around
from ppl.structure.places import Place
from ppl.structure.refused import undrawn


@dataclass
class EffectsReader(DrawingReader):
    """Outcomes are drawn, and the parameters `effects`: entries that the fit has are copied.

    `copied_from` are the name and the shape at the fit.
    """

    effects: Mapping[str, ast.Declaration] = field(default_factory=dict)
    copied_from: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)

    def axes(self, name: str) -> int:
        return len(sizes_of_variable(self.effects[name])) if name in self.effects else super().axes(name)

    def density(self, s: ast.Tilde | ast.Call, around: Around) -> Stmts:
        left, _ = left_and_args(s)
        name = name_of(left)
        if name not in self.effects:
            return super().density(s, around)
        d = self.split_entries(s)
        places = Exact(self.facts, self.factors.definitions, self.effects[name])
        place = self.entry(d, s, places, "parameter")
        draw = self.draw(place, within_bounds(d, s, self.effects[name]), s, around)
        return d.inside(self.or_copied(place, draw, s.span), s.span)

    def or_copied(self, place: Place, draw: Stmts, span: Span) -> Stmts:
        """The entry of the fit, where it has one."""
        own, shape = self.copied_from.get(place.name, ("", ()))
        if prod(shape) == 0 or not place.at or not own:
            return draw
        pairs = zip(place.at, shape, strict=False)
        both = all_hold([expr("i <= n", span, i=i, n=integer(n, span)) for i, n in pairs])
        entry, of_fit = indexed(place.name, place.at, span), indexed(own, place.at, span)
        copy = code("a = b;", span, a=entry, b=of_fit)
        return code("if (c) copy(); else draw();", span, c=both, copy=copy, draw=draw)


def within_bounds(
    d: DistributedEntry, s: ast.Tilde | ast.Call, declared: ast.Declaration
) -> DistributedEntry:
    """The draw between the declared bounds of a parameter; ModelError for structured ones."""
    t = declared.type
    if t.keyword not in (*PLAIN, "simplex"):
        why = f"`{declared.name}` is a {t.keyword}, whose new entries are not drawn"
        raise undrawn(why, declared.name_span)
    cut = {side: getattr(d.truncation, side, None) or ast.limits(t).get(side) for side in ("lower", "upper")}
    support, (_, args) = SUPPORT_OF.get(d.name, ""), left_and_args(s)
    for side, bound in cut.items():
        of_categories = (side, support) == ("upper", "category")
        if bound and (of_categories or implied(side, bound, support, d.name, args)):
            cut[side] = None
    return replace(d, truncation=ast.Truncation(declared.span, **cut))


SUPPORT_OF = {d.name: d.args[0][1] for d in DISTRIBUTIONS}


def name_of(left: ast.Expr) -> str:
    """The variable of which a density is, or of entries of which."""
    base = root(left)
    if isinstance(base, ast.Call) and base.args:
        base = root(base.args[0])
    return base.name if isinstance(base, ast.Variable) else ""
