"""Effects drawn anew for new rows, from their priors: those of new groups, and those with an entry a row."""

from collections.abc import Mapping
from math import prod
from typing import NamedTuple

from ppl.kernel.language import ast
from ppl.kernel.language.calls import left_and_args, outcome_of
from ppl.programs.entries import DistributedEntry
from ppl.programs.rewriting import Stmts, code, expr, indexed, integer, text_of
from ppl.records import dataclass, field, replace
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.structure.definitions import name_of, symbols_in
from ppl.structure.factors import sizes_of_variable
from ppl.structure.forward.draw_statements import PLAIN, implied
from ppl.structure.observed.partial_normal import PartialNormal
from ppl.structure.observed.predictive import DrawingReader, Exact, all_hold
from ppl.structure.observed.terms import Around
from ppl.structure.places import Place
from ppl.structure.refused import undrawn
from ppl.types import ROW_VECTOR, core


class OfFit(NamedTuple):
    """A parameter of the fit: its name in the program for new rows, its shape at the fit and in new data."""

    name: str
    shape: tuple[int, ...]
    new: tuple[int, ...]


@dataclass
class EffectsReader(DrawingReader):
    """Outcomes are drawn, and the parameters `effects`: entries that the fit has are copied.

    `draws_others` says whether some are drawn given others.
    """

    effects: Mapping[str, ast.Declaration] = field(default_factory=dict)
    copied_from: Mapping[str, OfFit] = field(default_factory=dict)
    normal: PartialNormal = field(default_factory=lambda: PartialNormal(""))
    draws_others: bool = False

    def axes(self, name: str) -> int:
        return len(sizes_of_variable(self.effects[name])) if name in self.effects else super().axes(name)

    def density(self, s: ast.Tilde | ast.Call, around: Around) -> Stmts:
        left, _ = left_and_args(s)
        name = name_of(left)
        if name not in self.effects:
            return super().density(s, around)
        self.refuse_twice(text_of(left), name, s.span, around)
        d = self.split_entries(s)
        places = Exact(self.facts, self.factors.definitions, self.effects[name])
        place = self.entry(d, s, places, "parameter")
        draw = self.draw(place, within_bounds(d, s, self.effects[name]), s, around)
        return d.inside(self.or_copied(place, draw, d, s), s.span)

    def of_prior(self, term: ast.Tilde | ast.CallStatement | ast.Expr) -> Stmts:
        """Terms beside the density that effects are drawn from would change their distribution."""
        for name, d in self.effects.items():
            if symbols_in(outcome_of(term) or term, self.facts) & self.factors.depending_on([d]):
                why = f"`{name}` is drawn for new rows, and this term depends on it too"
                raise undrawn(why, term.span, f"Write one density of `{name}`.")
        return super().of_prior(term)

    def or_copied(self, place: Place, draw: Stmts, d: DistributedEntry, s: ast.Tilde | ast.Call) -> Stmts:
        """The entry of the fit, where it has one; of a joint density the other entries given those it has."""
        of_fit = self.copied_from.get(place.name)
        if of_fit is None or prod(of_fit.shape) == 0:
            return draw
        axes, span = len(place.at), s.span
        entry, own = (indexed(name, place.at, span) for name in (place.name, of_fit.name))
        copy = code("a = b;", span, a=entry, b=own)
        if of_fit.shape[axes:] != of_fit.new[axes:]:
            turned = core(self.facts.types[left_and_args(s)[0]]) == ROW_VECTOR
            copy = self.others_given(entry, own, of_fit, d, axes, turned)
        if not axes:
            return copy
        pairs = zip(place.at, of_fit.shape, strict=False)
        both = all_hold([expr("i <= n", span, i=i, n=integer(n, span)) for i, n in pairs])
        return code("if (c) copy(); else draw();", span, c=both, copy=copy, draw=draw)

    def others_given(
        self, entry: ast.Expr, own: ast.Expr, of_fit: OfFit, d: DistributedEntry, axes: int, turned: bool
    ) -> Stmts:
        """A vector with the entries of the fit, further ones given these."""
        span = entry.span
        (old, *more), (new, *_) = of_fit.shape[axes:], of_fit.new[axes:]
        if more or (new > old and (not self.normal.takes(d) or d.truncation)):
            why = f"{d.name} does not draw entries of new groups given those of the fit"
            raise undrawn(why, span, "Write a distribution for each entry, or a multivariate normal.")
        sizes = {"m": integer(min(old, new), span), "n": integer(new, span)}
        copy = code("a[1 : m] = b[1 : m];", span, a=entry, b=own, **sizes)
        if new <= old:
            return copy
        self.draws_others = True
        given, k = self.names.fresh("given"), self.names.fresh("k")
        parts = {**sizes, "f": given, "k": k}
        flags = code("array[n] int f; for (k in 1:n) f[k] = k <= m;", span, **parts)
        value, _ = self.normal.conditional(entry, ast.Variable(span, given), d)
        other = ast.Transpose(span, value) if turned else value
        return (ast.Block(span, (*flags, *copy, *code("a = b;", span, a=entry, b=other))),)


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
