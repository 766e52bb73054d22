"""The program that simulates: parameters and data drawn, in generated quantities, as the `~` statements say.

Gelman et al. (2020), "Bayesian workflow", section 2.4 (prior predictive); Talts et al. (2018), Algorithm 1.
"""

from collections.abc import Iterator, Sequence

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.printer import expression
from ppl.kernel.language.walk import statements as statements_in
from ppl.kernel.language.walk import walk
from ppl.programs.entries import DistributedEntry
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, code, copied, expr, indexed, rewrite, variable
from ppl.records import dataclass, replace
from ppl.source import Span
from ppl.structure.factors import Factors
from ppl.structure.forward.draw_statements import Drawing, drawn, root
from ppl.structure.forward.order import as_tilde, in_order, names_in, names_set_by
from ppl.structure.observed.predictive import DrawingReader, Exact
from ppl.structure.observed.terms import Around
from ppl.structure.refused import Refusal
from ppl.structure.refused import not_simulated as refused
from ppl.types import rank


def simulator_of(factors: Factors) -> ast.Program:
    """The program read forward, without parameters: its generated quantities are these, then simulated data.

    Its data are those of the program but the simulated ones.

    Raises:
        ModelError: it cannot be; says why, where, and what to do.
    """
    program, facts = factors.program, factors.facts
    parameters = {d.name: d for d in program.parameters}
    reader = ForwardReader(factors, FreshNames.of(program))
    body = [*program.transformed_parameters, *map(as_tilde, reader.body(program.model, Around()))]
    tildes = [s for s in statements_in(body) if isinstance(s, ast.Tilde)]
    data = {d.name: d for d in program.data}
    names = [_drawable(t, parameters, data) for t in tildes]
    simulated = [d for d in program.data if d.name in {*names, *reader.drawn}]
    repeated = frozenset(name for name in names if names.count(name) > 1)
    if twice := next((t for t, name in zip(tildes, names, strict=True) if name in reader.drawn), None):
        raise refused(
            f"`{expression(twice.left)}` has two densities, whose product cannot be simulated", twice.span
        )
    _refuse_twice(tildes, names, _in_branches(body), facts)
    _refuse_data(program, {d.name for d in simulated})
    names_drawn = frozenset([*parameters, *(d.name for d in simulated)])
    transformed = [s for s in program.transformed_parameters if isinstance(s, ast.Declaration)]
    computed = frozenset(s.name for s in transformed)
    known = Drawing(facts, parameters, names_drawn, computed, repeated, factors.functions, reader.names)
    ordered = tuple(out for s in in_order(body, _cyclic) for out in _with_draws(s, known))
    simulator = replace(
        program,
        data=tuple(d for d in program.data if d not in simulated),
        parameters=(),
        transformed_parameters=(),
        model=(),
        generated_quantities=(
            *(replace(d, type=_unscaled(d.type)) for d in program.parameters),
            *simulated,
            *(replace(s, value=None) for s in transformed),
            ast.Block(program.span, (*_without_prior(parameters, names, known), *ordered)),
        ),
    )
    return copied(simulator)


VALUES = (ast.Variable, ast.Indexed)


@dataclass
class ForwardReader(DrawingReader):
    """The model block as it stands but draws of int outcomes whose probability is known at each value."""

    refused: Refusal = refused

    def statement(self, s: ast.Statement, around: Around) -> Stmts:
        if isinstance(s, ast.For | ast.ForEach | ast.While | ast.If | ast.Block | ast.Profile):
            return super().statement(s, around)
        tilde = as_tilde(s)
        if isinstance(tilde, ast.Tilde) and (base := root(tilde.left)):
            declared = {d.name: d for d in self.factors.program.parameters}.get(base.name)
            places = Exact(self.facts, self.factors.definitions, declared)
            if place := places.one(tilde.left):
                self.refuse_own_condition(place, expression(tilde.left), around, s.span, places)
            self.refuse_out_of_order(expression(tilde.left), tilde.args, None, around, s.span)
        return (s,)

    def refuse_out_of_order(
        self, name: str, args: Sequence[ast.Expr], d: DistributedEntry | None, around: Around, span: Span
    ) -> None:
        """Refuse a value that is drawn given one that the same loop draws below; others are put in order."""
        read = {expression(n) for n in walk(self.factors.computed_of(args)) if isinstance(n, VALUES)}
        drawn = {d.name for d in (*self.factors.program.parameters, *self.factors.program.data)}
        for s in statements_in(map(as_tilde, around.loops[:1])):
            below = (s.span.line, s.span.column) > (span.line, span.column)
            if not below or not isinstance(s, ast.Tilde):
                continue
            left = expression(s.left)
            own = left.partition("[")[0]
            if left in read and own in drawn and own != name.partition("[")[0]:
                raise refused(f"`{name}` is drawn given `{left}`, which is drawn below it", span)

    def draws(self, s: ast.Statement, around: Around) -> bool:
        own = [n for n in walk(as_tilde(s)) if isinstance(n, ast.Tilde | ast.TargetIncrement)]
        drawn = (isinstance(n, ast.Tilde) and self.has_rng(n.distribution) for n in own)
        return all(drawn) and super().draws(s, around)

    def has_rng(self, name: str) -> bool:
        return name in self.facts.library.families or f"{name}_rng" in self.factors.functions


def _drawable(t: ast.Tilde, parameters: dict[str, ast.Declaration], data: dict[str, ast.Declaration]) -> str:
    """The parameter or the data variable on the left."""
    variable = root(t.left)
    if variable is None:
        what = f"`{expression(t.left)}` on the left of ~ is not a variable, nor one entry of one"
        raise refused(what, t.span)
    if variable.name not in parameters and variable.name not in data:
        raise refused(f"`{variable.name}` on the left of ~ is neither a parameter nor data", t.span)
    return variable.name


def _in_branches(body: Sequence[ast.Statement]) -> set[ast.Node]:
    """The `~` statements that a condition decides about: one alone of a variable may be reached."""
    conditions = (s for s in statements_in(body) if isinstance(s, ast.If))
    return {n for s in conditions for n in statements_in([s]) if isinstance(n, ast.Tilde)}


def _refuse_twice(
    tildes: Sequence[ast.Tilde], names: Sequence[str], branches: set[ast.Node], facts: Facts
) -> None:
    """A scalar in several branches is looked at when it is drawn, as entries are (draws._once)."""
    for k, (t, name) in enumerate(zip(tildes, names, strict=True)):
        others = [*tildes[:k], *tildes[k + 1 :]]
        if isinstance(t.left, ast.Indexed) or (t in branches and rank(facts.types[t.left]) == 0):
            continue
        if any(name == root(o.left).name for o in others):  # type: ignore[union-attr]  # _drawable has seen to it
            raise refused(f"`{name}` has two ~ statements, whose product cannot be simulated", t.span)


def _refuse_data(program: ast.Program, simulated: set[str]) -> None:
    """Refuse values computed from simulated data, which differ between simulations."""
    for s in program.transformed_data:
        if names := sorted(names_in(s) & simulated):
            raise refused(f"transformed data depend on `{names[0]}`, which is simulated", s.span)
    for d in (*program.data, *program.parameters):
        if d.name not in simulated and (names := sorted(names_in(d) & simulated)):
            raise refused(f"`{d.name}` is declared by `{names[0]}`, which is simulated", d.span)


def _unscaled(type: ast.DeclaredType) -> ast.DeclaredType:
    """Without offset and multiplier, which say nothing of the values; bounds are checked at the end."""
    if not isinstance(type, ast.SizedType) or type.bounds is None:
        return type
    items = tuple(item for item in type.bounds.items if item[0] in ("lower", "upper"))
    return replace(type, bounds=replace(type.bounds, items=items) if items else None)


def _without_prior(
    parameters: dict[str, ast.Declaration], names: Sequence[str], known: Drawing
) -> Iterator[ast.Statement]:
    """Parameters without a `~` are uniform over what they are declared as, where that has an end."""
    each = "for (drawn_1 in 1:size(v)) { v[drawn_1] = draw; }"
    for name, d in parameters.items():
        if name in names:
            continue
        bounds, keyword = ast.limits(d.type), d.type.keyword
        if keyword == "simplex" and len(d.type.dims) < 2:
            one = indexed(name, (variable("drawn_1", d.span),) if d.type.dims else (), d.span)
            draw = expr("dirichlet_rng(rep_vector(1, rows(e)))", d.span, e=one)
            yield from code(each if d.type.dims else "v = draw;", d.span, v=name, draw=draw)
            continue
        if not {"lower", "upper"} <= {*bounds} or keyword not in ("real", "vector", "row_vector"):
            raise refused(f"`{name}` has no `~` statement, and so no proper prior; give it one", d.name_span)
        if any(map(known.is_random, (bounds["lower"], bounds["upper"]))):
            raise refused(f"`{name}` has no `~` statement, and bounds that depend on parameters", d.name_span)
        if len(d.type.dims) + (keyword != "real") > 1:
            raise refused(f"`{name}` has no `~` statement, and more than one axis", d.name_span)
        draw = expr("uniform_rng(a, b)", d.span, a=bounds["lower"], b=bounds["upper"])
        yield from code(
            "v = draw;" if keyword == "real" and not d.type.dims else each, d.span, v=name, draw=draw
        )


def _cyclic(pending: Sequence[ast.Statement]) -> ModelError:
    s, *others = pending
    waits = sorted(set().union(*map(names_set_by, others)) & names_in(s))
    what = f"it depends on `{waits[0]}`, which depends on it" if waits else "it depends on itself"
    return refused(what, s.span)


def _with_draws(s: ast.Statement, known: Drawing) -> Stmts:
    """A statement with draws in place of `~`."""

    def draws(n: ast.Node) -> Stmts | None:
        match n:
            case ast.Tilde():
                return drawn(n, known)
            case ast.TargetIncrement() | ast.JacobianIncrement():
                what = "target" if isinstance(n, ast.TargetIncrement) else "jacobian"
                raise refused(f"`{what} +=` does not give a distribution to draw from", n.span)
            case ast.CallStatement():
                why = "a function that adds to target does not give a distribution to draw from"
                raise refused(why, n.span)
            case ast.Declaration(name=name, value=value) if name in known.outputs:
                return () if value is None else code("v = e;", n.span, v=name, e=value)
            case ast.Print() | ast.Skip():
                return ()
        return None

    return rewrite((s,), draws)
