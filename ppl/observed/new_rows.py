"""The program that predicts for new rows: parameters of the fit, effects of new groups from their prior."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from ppl.discrete.parameters import is_discrete
from ppl.forward.draw_statements import PLAIN, implied
from ppl.forward.program import as_tilde, is_ready
from ppl.frontend import ast
from ppl.frontend.calls import left_and_args
from ppl.frontend.entries import Drawn
from ppl.frontend.facts import Facts
from ppl.frontend.fresh_names import FreshNames
from ppl.frontend.printer import print_program
from ppl.frontend.rewriting import Stmts, code, copied, expr, indexed, integer, substituted, text_of, variable
from ppl.observed.fixed import Fixing, Pair, refuse_of_each_other, without
from ppl.observed.flow import Exprs, Flow, data_of, flow_of, root
from ppl.observed.places import Place
from ppl.observed.predictive import DrawingReader, Exact, all_hold, plain
from ppl.observed.quantities import sizes_of, text_of_quantities
from ppl.observed.refused import undrawn, unpredicted
from ppl.observed.terms import Around, outcomes_of
from ppl.source import Span
from ppl.stdlib.distributions.table import DISTRIBUTIONS

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class NewRows:
    """A checked program whose data are to be those of new rows."""

    program: ast.Program
    facts: Facts

    @cached_property
    def flow(self) -> Flow:
        return flow_of(self.program, self.facts)

    @cached_property
    def sizes(self) -> dict[str, Exprs]:
        """The sizes that data are declared with."""
        return sizes_of(self.program)

    @cached_property
    def outcomes(self) -> tuple[str, ...]:
        """The data, and transformed data, that the program draws; new data need not have them."""
        found = outcomes_of(self.program, self.flow)
        return tuple(name for name in data_of(self.program) if name in found)

    @cached_property
    def rows(self) -> frozenset[str]:
        """The sizes of outcomes along rows, as text."""
        return frozenset(text_of(self.sizes[name][0]) for name in self.outcomes if self.sizes[name])

    @cached_property
    def names(self) -> FreshNames:
        return FreshNames.of(self.program)

    @property
    def data(self) -> tuple[ast.Declaration, ...]:
        """The declarations of the data that are read."""
        return tuple(d for d in self.program.data if d.name not in self.outcomes)

    @cached_property
    def transformed(self) -> tuple[Stmts, set[str]]:
        """Transformed data that do not depend on outcomes, and the variables that do."""
        return without(self.program, {*self.outcomes})

    @cached_property
    def fixing(self) -> tuple[Fixing, Pair]:
        """Transformed data whose values of all rows are those of the fit."""
        refuse_of_each_other(self.transformed[0], self.facts)
        fixing = Fixing(self.facts, self.rows, self.names)
        return fixing, fixing.body(self.transformed[0])

    @property
    def recording(self) -> str:
        """The program that has those values, at the data of the fit, among its transformed data."""
        fixing, (recording, _) = self.fixing
        span = self.program.span
        declared = tuple(
            ast.Declaration(span, ast.SizedType(span, "real", None, (), dims), name, span)
            for name, dims in fixing.values.items()
        )
        own = ast.Program(span, self.program.functions, self.data, (*declared, *recording))
        return print_program(copied(own))

    # --- With what the fit says ---

    def given(self, values: Shapes) -> ast.Program:
        """The functions and data, with declarations of what the fit gives, of these shapes."""
        span, known = self.program.span, data_of(self.program)
        real = ast.SizedType(span, "real", None, ())
        types = {
            name: known[name].type if name in known else replace(real, dims=(integer(0, span),) * len(shape))
            for name, shape in values.items()
        }
        own = (ast.Declaration(span, literal(t, values[name]), name, span) for name, t in types.items())
        return ast.Program(span, self.program.functions, (*self.data, *own), self.fixing[1][1])

    @property
    def continuous(self) -> tuple[ast.Declaration, ...]:
        """The parameters that are not discrete."""
        return tuple(d for d in self.program.parameters if not is_discrete(d))

    def for_sizes(self, values: Shapes) -> str:
        """The program that tells the sizes of parameters for new data."""
        return print_program(copied(replace(self.given(values), parameters=self.continuous)))

    def by_row(self, d: ast.Declaration) -> bool:
        """Whether a parameter has an entry for each row, which new rows have anew."""
        return is_discrete(d) or any(text_of(e) in self.rows for e in ast.all_sizes(d.type))

    def predicting(self, values: Shapes, old: Shapes, new: Shapes) -> str:
        """The program that draws the outcomes, among its generated quantities under their names.

        `old` and `new` are the shapes of continuous parameters at the fit and for the new data.

        Raises:
            ModelError: an outcome, or an effect that is not of the fit, cannot be drawn.
        """
        p, span = self.program, self.program.span
        changed = {d.name: d for d in p.parameters if self.by_row(d) or old[d.name] != new[d.name]}
        at_fit = {name: self.names.fresh(f"{name}_fit") for name in changed}
        axes = {name: len(own) for name, own in self.sizes.items()}
        axes |= {name: len(new.get(name, d.type.dims)) for name, d in changed.items()}
        copied_from = {name: (at_fit[name], old[name]) for name, d in changed.items() if not self.by_row(d)}
        known = (self.facts, self.flow, self.names, frozenset(self.outcomes))
        functions = {f.name: f for f in p.functions}
        reader = EffectsReader(*known, axes, functions, effects=changed, copied_from=copied_from)
        body = tuple(
            out
            for s in in_order([*p.transformed_parameters, *self.model(changed)])
            for out in (local(s) if s in p.transformed_parameters else reader.statement(s, Around()))
        )
        for name, d in changed.items():
            if name not in reader.drawn:
                raise undrawn(f"`{name}` has no `~` statement, so its new entries have no prior", d.name_span)
        drawn = [name for name in self.outcomes if name in reader.drawn]
        if not drawn:
            raise undrawn("no statement draws data", span)
        declared = data_of(p)
        outputs = tuple(replace(plain(declared[name]), value=None) for name in drawn)
        effects = tuple(replace(plain(d), value=None) for d in changed.values())
        of_fit = {name: variable(own, span) for name, own in at_fit.items()}
        types = {d.name: substituted(literal(d.type, old[d.name]), of_fit) for d in self.continuous}
        parameters = tuple(
            replace(d, name=at_fit.get(d.name, d.name), type=types[d.name]) for d in self.continuous
        )
        made = replace(self.given(values), parameters=parameters)
        return text_of_quantities(made, outputs, drawn, body, effects)

    def model(self, changed: Mapping[str, ast.Declaration]) -> list[ast.Statement]:
        """The statements of the model block less priors of what the fit gives."""

        def is_prior(s: ast.Statement) -> bool:
            left = tilde.left if isinstance(tilde := as_tilde(s), ast.Tilde) else None
            return left is not None and self.flow.depends(left) and name_of(left) not in changed

        return [s for s in self.program.model if not is_prior(s)]


def local(s: ast.Statement) -> Stmts:
    """A statement of transformed parameters where it computes for new rows."""
    if isinstance(s, ast.JacobianIncrement):
        return ()
    return (plain(s) if isinstance(s, ast.Declaration) else s,)


@dataclass
class EffectsReader(DrawingReader):
    """Outcomes are drawn, and the parameters `effects`: entries that the fit has are copied.

    `copied_from` are the name and the shape at the fit.
    """

    effects: Mapping[str, ast.Declaration] = field(default_factory=dict)
    copied_from: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)

    def density(self, s: ast.Tilde | ast.Call, around: Around) -> Stmts:
        left, _ = left_and_args(s)
        name = name_of(left)
        if name not in self.effects:
            return super().density(s, around)
        d = self.split_entries(s)
        place = self.entry(d, s, Exact(self.facts, self.flow.definitions, name), "parameter")
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


def within_bounds(d: Drawn, s: ast.Tilde | ast.Call, declared: ast.Declaration) -> Drawn:
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


def in_order(body: Sequence[ast.Statement]) -> list[ast.Statement]:
    """Statements, each as soon as all that it reads is drawn or computed, otherwise as written."""
    pending, shadows, out = list(body), list(map(as_tilde, body)), list[ast.Statement]()
    while pending:
        k = next((k for k in range(len(pending)) if is_ready(shadows, k)), None)
        if k is None:
            raise unpredicted("it depends on a statement that depends on it", pending[0].span)
        out.append(pending.pop(k))
        shadows.pop(k)
    return out


def literal(t: ast.DeclaredType, shape: tuple[int, ...]) -> ast.DeclaredType:
    """The declared type with sizes that are known."""
    sizes = tuple(ast.IntLiteral(t.span, n) for n in shape)
    dims = sizes[: len(t.dims)]
    if isinstance(t, ast.SizedTuple):
        return replace(t, dims=dims)
    return replace(t, dims=dims, sizes=sizes[len(dims) :][: len(t.sizes)])
