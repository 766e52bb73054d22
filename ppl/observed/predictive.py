"""Data drawn anew, as a program: the `~` statements of data as draws, in generated quantities.

Gelman et al. (2013), "Bayesian Data Analysis", section 6.3 (posterior predictive checks).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ppl.discrete.live import live
from ppl.discrete.parameters import has_discrete
from ppl.forward.draw_statements import DRAWS, draw_of
from ppl.frontend import ast
from ppl.frontend.entries import AXES, Drawn, Entries, between, indexed, own_axes_of
from ppl.frontend.facts import Facts
from ppl.frontend.fresh_names import FreshNames
from ppl.frontend.printer import print_program
from ppl.frontend.rewriting import Stmts, code, copied, expr, mentions, one, rewrite, text_of
from ppl.frontend.scope import Block, Symbol
from ppl.observed.flow import DATA_BLOCKS, SIZES, Exprs, Flow, flow_of, symbols_in
from ppl.observed.log_lik import data_order, sizes_of
from ppl.observed.places import NoPlace, Place, Places
from ppl.observed.refused import undrawn
from ppl.observed.terms import Around, Reader, outcomes_of
from ppl.source import Span
from ppl.types import ROW_VECTOR, core, rank

DRAWS_OF_A_ROW = 10_000
"""Draws that are tried for one that lies between the bounds of a truncation."""


@dataclass(frozen=True)
class Replicated:
    """`text` is a program of the same parameters; `quantities` are its generated quantities by data."""

    text: str
    quantities: dict[str, str]


def predictive_of(program: ast.Program, facts: Facts, draws_back: bool = False) -> Replicated:
    """The posterior predictive distribution of the data that the program draws.

    What the model block computes of data follows the new data, entry by entry as they are drawn; transformed
    data and transformed parameters stay as they are. `draws_back` is as in `log_lik_of`.

    Raises:
        ModelError: a term of data is no draw; says which, and what to write.
    """
    names = FreshNames.of(program)
    flow = flow_of(program, facts)
    outcomes = outcomes_of(program, flow)
    quantities = {name: names.fresh(f"{name}_rep") for name in data_order(program) if name in outcomes}
    sizes = sizes_of(program)
    axes = {name: len(own) for name, own in sizes.items()}
    functions = {f.name: f for f in program.functions}
    reader = DrawingReader(facts, flow, names, outcomes, axes, functions)
    body = reader.body(program.model, Around())
    if not reader.drawn:
        raise undrawn("no statement draws data", program.span)
    drawn = {name: made for name, made in quantities.items() if name in reader.drawn}
    declared = tuple(
        declaration(d, drawn[d.name], sizes[d.name])
        for d in (*program.data, *program.transformed_data)
        if isinstance(d, ast.Declaration) and d.name in drawn
    )
    read = tuple(s for made in drawn.values() for s in code("target += v;", program.span, v=made))
    block = ast.Block(program.span, live(with_names(body, drawn), read))
    model = program.model if draws_back or has_discrete(program) else ()
    made = replace(program, model=model, generated_quantities=(*declared, block))
    return Replicated(print_program(copied(made)), drawn)


@dataclass
class DrawingReader(Reader):
    """Densities of data as draws; `drawn` are the data that were drawn so far, as the statements stand.

    `axes` has how many each data variable has, `functions` are the program's own.
    """

    axes: dict[str, int]
    functions: dict[str, ast.FunctionDef]
    drawn: set[str] = field(default_factory=set)
    lefts: set[str] = field(default_factory=set)

    def increment(self, value: ast.Expr, around: Around) -> Stmts:
        """A mixture of two is a draw from one of them, chosen by its share."""
        mixture = two_parts(value, self.outcomes)
        if mixture is None:
            return super().increment(value, around)
        span, parts = value.span, (mixture.first, mixture.second)
        sides = [ast.Block(span, tuple(ast.TargetIncrement(e.span, e) for e in p.densities)) for p in parts]
        branch = ast.If(span, ast.IntLiteral(span, 1), *sides)
        within = replace(around, branches=(*around.branches, branch))
        drawn = [tuple(s for e in p.densities for s in self.increment(e, within)) for p in parts]
        if not any(drawn):
            return ()
        if not all(drawn):
            raise undrawn("one part of this mixture is of data, the other is not", span)
        chosen = expr("bernoulli_rng(p)", span, p=mixture.share)
        then, otherwise = (one(part, span) for part in drawn)
        return (ast.If(span, chosen, then, otherwise),)

    def of_value(self, value: ast.Expr, place: Place) -> Stmts:
        raise undrawn("this `target +=` does not give a distribution to draw from", value.span)

    def split_entries(self, s: ast.Tilde | ast.Call) -> Drawn:
        entries, whole = Entries(self.facts, self.names), super().split_entries(s)
        rng = self.functions.get(f"{whole.name}_rng")
        return (
            entries.of(s, [unsized_axes(t) for t in (rng.returns, *(a.type for a in rng.args))])
            if rng
            else whole
        )

    def of_density(self, d: Drawn, s: ast.Tilde | ast.Call, place: Place, around: Around) -> Stmts:
        left, args = (s.left, s.args) if isinstance(s, ast.Tilde) else (s.args[0], s.args[1:])
        one = rank(self.facts.types[left]) - len(d.heads)
        try:
            place = Exact(self.facts, self.flow.definitions).of(left, d.at)
            whole = len(place.at) + one == self.axes[place.name]
        except NoPlace:
            whole = False
        if not whole:
            raise undrawn(f"`{text_of(left)}` is not a data variable, nor an entry of one", s.span)
        if not around.branches and text_of(left) in self.lefts:
            raise undrawn(f"`{text_of(left)}` has two densities, whose product cannot be simulated", s.span)
        self.lefts.add(text_of(left))
        self.refuse_out_of_order(place.name, args, d, around, s.span)
        self.drawn.add(place.name)
        target = indexed(ast.Variable(s.span, place.name), place.at)
        return self.draw(target, d, one > 0 and core(self.facts.types[left]) == ROW_VECTOR, s.span)

    def draw(self, target: ast.Expr, d: Drawn, turned: bool, span: Span) -> Stmts:
        """The statements that draw one value; ModelError where its distribution has no _rng."""
        family, name, args = self.facts.library.families.get(d.name), f"{d.name}_rng", d.args
        if name not in self.functions and d.name not in DRAWS and (family is None or family.rng is None):
            raise undrawn(f"there is no {name}", span)
        if name not in self.functions and family and family.discrete and own_axes_of(family)[0]:
            args = (*args, expr("sum(y)", span, y=target))  # as many trials as the data have
        value: ast.Expr = ast.Call(span, name, args)
        if d.name in DRAWS and name not in self.functions and family:
            value = draw_of(family, d.args, span)
        draw = code("a = b;", span, a=target, b=ast.Transpose(span, value) if turned else value)
        t = d.truncation
        if t is None or not (t.lower or t.upper):
            return draw
        checks = [expr("a >= b", span, a=target, b=t.lower)] if t.lower else []
        checks += [expr("a <= b", span, a=target, b=t.upper)] if t.upper else []
        inside = checks[0] if len(checks) == 1 else expr("a && b", span, a=checks[0], b=checks[1])
        complaint = "no draw lies between the bounds"
        return (ast.Block(span, between(draw, inside, DRAWS_OF_A_ROW, complaint, self.names)),)

    def refuse_out_of_order(
        self, name: str, args: Sequence[ast.Expr], d: Drawn, around: Around, span: Span
    ) -> None:
        """What is drawn must follow what it is drawn given."""
        for symbol, inside in given(args, self.flow, around):
            if symbol.block not in DATA_BLOCKS or symbol.name not in self.outcomes:
                continue
            if symbol.name == name and (d.heads or not inside):
                raise undrawn(
                    f"`{name}` is drawn given itself; write a loop over its entries that computes "
                    "the values on which each entry depends",
                    span,
                )
            if symbol.name != name and symbol.name not in self.drawn:
                raise undrawn(f"`{name}` is drawn given `{symbol.name}`, which is drawn below it", span)


@dataclass(frozen=True)
class Part:
    """A part of a mixture: its densities, and the logs of its weight."""

    densities: Exprs
    weights: Exprs = ()


@dataclass(frozen=True)
class Mixture:
    """Two parts, and the probability of the first."""

    share: ast.Expr
    first: Part
    second: Part


def two_parts(e: ast.Expr, outcomes: frozenset[str]) -> Mixture | None:
    """A mixture written as `log_mix(t, a, b)` or `log_sum_exp(log(t) + a, log1m(t) + b)`."""
    match e:
        case ast.Call(name="log_mix", args=(share, a, b)) if not mentions(share, set(outcomes)):
            first, second = part_of(a, outcomes), part_of(b, outcomes)
            if first and second and not first.weights and not second.weights:
                return Mixture(share, first, second)
        case ast.Call(name="log_sum_exp", args=(a, b)):
            first, second = part_of(a, outcomes), part_of(b, outcomes)
            if first and second:
                logit = expr("a - b", e.span, a=total(first.weights, a.span), b=total(second.weights, b.span))
                return Mixture(expr("inv_logit(x)", e.span, x=logit), first, second)
    return None


def part_of(e: ast.Expr, outcomes: frozenset[str]) -> Part | None:
    """The densities and weights of a part; None where it has none, or a weight depends on what is drawn."""
    summands = summands_of(e)
    own = tuple(s for s in summands if is_drawn(s, outcomes))
    weights = tuple(s for s in summands if not is_drawn(s, outcomes))
    return Part(own, weights) if own and not mentions(weights, set(outcomes)) else None


def is_drawn(e: ast.Expr, outcomes: frozenset[str]) -> bool:
    """Whether a value can be drawn from a summand."""
    is_density = isinstance(e, ast.Call) and e.name.endswith(("_lpdf", "_lpmf"))
    return is_density or two_parts(e, outcomes) is not None


def summands_of(e: ast.Expr) -> Exprs:
    match e:
        case ast.Binary(op="+", left=left, right=right):
            return (*summands_of(left), *summands_of(right))
        case _:
            return (e,)


def total(summands: Exprs, span: Span) -> ast.Expr:
    """Their sum; 0 of none."""
    found: ast.Expr = ast.IntLiteral(span, 0)
    for each in summands:
        found = expr("a + b", span, a=found, b=each)
    return found


def given(nodes: Sequence[ast.Node], flow: Flow, around: Around) -> set[tuple[Symbol, bool]]:
    """The variables that values are computed of in the model; whether inside the loops around."""
    found = set[tuple[Symbol, bool]]()
    left = [(s, True) for s in symbols_in(nodes, flow.facts)]
    while left:
        symbol, inside = state = left.pop()
        if state in found:
            continue
        found.add(state)
        for d in flow.definitions.get(symbol, []) if symbol.block is Block.MODEL else []:
            within = inside and d.loops[: len(around.loops)] == around.loops
            left += [(s, within) for s in symbols_in((d.value, *d.decided), flow.facts)]
    return found


class Exact(Places):
    """Places of expressions that are entries themselves, not functions of them."""

    def of_only(self, e: ast.Expr, at: Exprs) -> Place:
        raise NoPlace


def unsized_axes(t: ast.UnsizedType) -> int:
    """How many axes a value of the type has."""
    return t.dims + AXES.get(t.keyword, 0)


def with_names(body: Stmts, quantities: dict[str, str]) -> Stmts:
    """The statements with what is drawn anew in place of the data."""

    def renamed(n: ast.Node) -> ast.Node | None:
        match n:
            case ast.Variable(name=name) if name in quantities:
                return replace(n, name=quantities[name])
            case ast.Call(name=name) if name in SIZES:
                return n
            case _:
                return None

    return rewrite(body, renamed)


def declaration(d: ast.Declaration, name: str, sizes: Exprs) -> ast.Statement:
    """The variable with the data in it, which stay where no statement draws an entry."""
    return replace(plain(d, sizes), name=name, value=ast.Variable(d.span, d.name))


def plain(d: ast.Declaration, sizes: Exprs) -> ast.Declaration:
    """The declaration without constraints, by all sizes of its variable."""
    t = d.type
    if not isinstance(t, ast.SizedType):
        return d
    own = sizes[len(t.dims) :]
    keyword = t.keyword if t.keyword == "row_vector" or not own else ("vector", "matrix")[len(own) - 1]
    return replace(d, type=replace(t, keyword=keyword, bounds=None, sizes=own))
