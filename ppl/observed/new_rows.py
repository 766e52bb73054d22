"""The program that predicts for new rows: parameters of the fit, effects of new groups from their prior."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from ppl.discrete.live import live
from ppl.discrete.parameters import is_discrete
from ppl.forward.draw_statements import PLAIN
from ppl.forward.program import as_tilde, is_ready
from ppl.frontend import ast
from ppl.frontend.entries import Drawn, indexed
from ppl.frontend.facts import Facts
from ppl.frontend.fresh_names import FreshNames
from ppl.frontend.printer import print_program
from ppl.frontend.rewriting import Stmts, code, copied, expr, rewrite, text_of
from ppl.observed.fixed import Fixing, Pair, refuse_of_each_other, without
from ppl.observed.flow import Exprs, Flow, flow_of, root
from ppl.observed.log_lik import data_order, sizes_of, sizes_of_variable
from ppl.observed.places import NoPlace
from ppl.observed.predictive import DrawingReader, Exact, plain
from ppl.observed.refused import undrawn, unpredicted
from ppl.observed.terms import Around, outcomes_of
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.types import ROW_VECTOR, core, rank

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
        return tuple(name for name in data_order(self.program) if name in found)

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
        body = (*declared, *recording)
        return self.text(replace(self.empty, data=self.data, transformed_data=body))

    @property
    def empty(self) -> ast.Program:
        return ast.Program(self.program.span, functions=self.program.functions)

    def text(self, program: ast.Program) -> str:
        return print_program(copied(program))

    # --- With what the fit says ---

    def given(self, values: Shapes) -> tuple[ast.Declaration, ...]:
        """Declarations of what the fit gives, of these shapes."""
        types = {d.name: d.type for d in self.program.transformed_data if isinstance(d, ast.Declaration)}
        span = self.program.span
        real = ast.SizedType(span, "real", None, ())
        out = []
        for name, shape in values.items():
            t = types.get(name, replace(real, dims=tuple(ast.IntLiteral(span, 0) for _ in shape)))
            out.append(ast.Declaration(span, literal(t, shape), name, span))
        return tuple(out)

    def for_sizes(self, values: Shapes) -> str:
        """The program that tells the sizes of parameters for new data."""
        made = replace(
            self.empty,
            data=(*self.data, *self.given(values)),
            transformed_data=self.fixing[1][1],
            parameters=tuple(d for d in self.program.parameters if not is_discrete(d)),
        )
        return self.text(made)

    def by_row(self, d: ast.Declaration) -> bool:
        """Whether a parameter has an entry for each row, which new rows have anew."""
        return is_discrete(d) or any(text_of(e) in self.rows for e in ast.all_sizes(d.type))

    def predicting(self, values: Shapes, old: Shapes, new: Shapes) -> tuple[str, dict[str, str]]:
        """The program that draws the outcomes, and their names among its generated quantities.

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
        own = {f.name: f for f in p.functions}
        reader = EffectsReader(
            self.facts,
            self.flow,
            self.names,
            frozenset(self.outcomes),
            axes,
            own,
            effects=changed,
            copied_from=copied_from,
        )
        body = tuple(
            out
            for s in in_order([*p.transformed_parameters, *self.model(changed)])
            for out in (self.local(s) if s in p.transformed_parameters else reader.statement(s, Around()))
        )
        for name, d in changed.items():
            if name not in reader.drawn:
                raise undrawn(f"`{name}` has no `~` statement, so its new entries have no prior", d.name_span)
        drawn = [name for name in self.outcomes if name in reader.drawn]
        if not drawn:
            raise undrawn("no statement draws data", span)
        declared = {d.name: d for d in (*p.data, *p.transformed_data) if isinstance(d, ast.Declaration)}
        outputs = tuple(replace(plain(declared[n], self.sizes[n]), value=None) for n in drawn)
        effects = tuple(replace(plain(d, sizes_of_variable(d)), value=None) for d in changed.values())
        read = tuple(s for name in drawn for s in code("target += v;", span, v=name))
        block = ast.Block(span, (*effects, *live(body, read)))
        parameters = tuple(
            renamed(replace(d, type=literal(d.type, old[d.name])), at_fit)
            for d in p.parameters
            if not is_discrete(d)
        )
        made = replace(
            self.empty,
            data=(*self.data, *self.given(values)),
            transformed_data=self.fixing[1][1],
            parameters=parameters,
            generated_quantities=(*outputs, block),
        )
        return self.text(made), {name: name for name in drawn}

    def model(self, changed: Mapping[str, ast.Declaration]) -> list[ast.Statement]:
        """The statements of the model block less priors of what the fit gives."""

        def is_prior(s: ast.Statement) -> bool:
            if not isinstance(tilde := as_tilde(s), ast.Tilde) or not self.flow.depends(tilde.left):
                return False
            return name_of(tilde.left) not in changed

        return [s for s in self.program.model if not is_prior(s)]

    def local(self, s: ast.Statement) -> Stmts:
        """A statement of transformed parameters where it computes for new rows."""
        match s:
            case ast.Declaration(type=ast.SizedType()):
                return (replace(plain(s, sizes_of_variable(s)), value=s.value),)
            case ast.JacobianIncrement():
                return ()
            case _:
                return (s,)


@dataclass
class EffectsReader(DrawingReader):
    """Outcomes are drawn, and the parameters `effects`: entries that the fit has are copied.

    `copied_from` are the name and the shape at the fit.
    """

    effects: Mapping[str, ast.Declaration] = field(default_factory=dict)
    copied_from: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)

    def density(self, s: ast.Tilde | ast.Call, left: ast.Expr, around: Around) -> Stmts:
        name = name_of(left)
        if name not in self.effects:
            return super().density(s, left, around)
        d, declared = self.split_entries(s), self.effects[name]
        args = s.args if isinstance(s, ast.Tilde) else s.args[1:]
        one = rank(self.facts.types[left]) - len(d.heads)
        try:
            at = ExactOf(self.facts, self.flow.definitions, name).of(left, d.at).at
        except NoPlace:
            at = ()
        if len(at) + one != self.axes[name]:
            raise undrawn(f"`{text_of(left)}` is not a parameter, nor an entry of one", s.span)
        self.refuse_out_of_order(name, args, d, around, s.span)
        self.drawn.add(name)
        target = indexed(ast.Variable(s.span, name), at)
        turned = one > 0 and core(self.facts.types[left]) == ROW_VECTOR
        draw = self.draw(target, within_bounds(d, declared), turned, s.span)
        return d.inside(self.or_copied(name, target, at, draw), s.span)

    def or_copied(self, name: str, target: ast.Expr, at: Exprs, draw: Stmts) -> Stmts:
        """The entry of the fit, where it has one."""
        if name not in self.copied_from:
            return draw
        own, shape = self.copied_from[name]
        if prod(shape) == 0 or not at:
            return draw
        span = target.span
        conditions = [
            expr("i <= n", span, i=i, n=ast.IntLiteral(span, n)) for i, n in zip(at, shape, strict=False)
        ]
        both = conditions[0]
        for each in conditions[1:]:
            both = expr("a && b", span, a=both, b=each)
        copy = code("a = b;", span, a=target, b=indexed(ast.Variable(span, own), at))
        return code("if (c) copy(); else draw();", span, c=both, copy=copy, draw=draw)


@dataclass(frozen=True)
class ExactOf(Exact):
    """Places of entries of one parameter."""

    name: str = ""

    def is_data(self, e: ast.Expr) -> bool:
        return isinstance(e, ast.Variable) and e.name == self.name


def within_bounds(d: Drawn, declared: ast.Declaration) -> Drawn:
    """The draw between the declared bounds of a parameter; ModelError for structured ones."""
    t = declared.type
    if t.keyword not in (*PLAIN, "simplex"):
        why = f"`{declared.name}` is a {t.keyword}, whose new entries are not drawn"
        raise undrawn(why, declared.name_span)
    bounds = ast.limits(t)
    own = d.truncation
    lower = own.lower if own and own.lower else bounds.get("lower")
    upper = own.upper if own and own.upper else bounds.get("upper")
    support = SUPPORT_OF.get(d.name, "")
    if has_end(lower, LOWER_ENDS.get(support)):
        lower = None
    if support == "category" or has_end(upper, UPPER_ENDS.get(support)):
        upper = None
    if d.name == "uniform":  # its arguments are its bounds
        lower = upper = None
    if lower is None and upper is None:
        return d
    return replace(d, truncation=ast.Truncation(declared.span, lower, upper))


SUPPORT_OF = {d.name: d.args[0][1] for d in DISTRIBUTIONS}
LOWER_ENDS = {
    "positive": "0",
    "nonnegative": "0",
    "count": "0",
    "unit_interval": "0",
    "binary": "0",
    "category": "1",
}
UPPER_ENDS = {"unit_interval": "1", "binary": "1"}
"""The ends of supports: declared bounds equal to them do not truncate a distribution."""


def has_end(bound: ast.Expr | None, end: str | None) -> bool:
    return bound is not None and end is not None and text_of(bound) in (end, f"{end}.0")


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


def renamed(d: ast.Declaration, at_fit: Mapping[str, str]) -> ast.Declaration:
    """A parameter by its name at the fit, as its bounds read others."""

    def other(n: ast.Node) -> ast.Node | None:
        if isinstance(n, ast.Variable) and n.name in at_fit:
            return replace(n, name=at_fit[n.name])
        return None

    made: ast.Declaration = rewrite(d, other)
    return replace(made, name=at_fit.get(d.name, d.name))
