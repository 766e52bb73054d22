"""A program with discrete parameters as the program in which they are summed out, and drawn back.

The result is a program of the same language, and of Stan: no int among its parameters, the sums in the model
block, and in generated quantities the discrete parameters, drawn from their exact conditional distribution
given the others (or chosen, all together, as the most probable ones).
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.walk import walk
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import (
    Stmts,
    bottom_up,
    copied,
    expr,
    indexed,
    integer,
    mentions,
    rewrite,
    written,
)
from ppl.records import dataclass, field, replace
from ppl.structure.discrete import refused
from ppl.structure.discrete.affine import known
from ppl.structure.discrete.concrete import Concrete
from ppl.structure.discrete.emit import Emit, Way
from ppl.structure.discrete.evaluate import known_value
from ppl.structure.discrete.live import EFFECTS, live
from ppl.structure.discrete.normal import Normal, density_of, dependent_names, normalised_in
from ppl.structure.discrete.parameters import Discrete, discrete_parameters, is_discrete
from ppl.structure.discrete.steps import Cannot, Elimination, planned, weight
from ppl.structure.discrete.terms import Parameters, is_whole, terms
from ppl.structure.discrete.transformed import divided, plain_declarations
from ppl.types import rank

TILT = "lp_tilt"


class Unknown(Exception):
    """How entries meet is not told by their indices, and why not."""


@dataclass(frozen=True)
class Summed:
    """A program with its discrete parameters summed out, and the steps in which they were."""

    program: ast.Program = field(repr=False)
    parameters: tuple[Discrete, ...]
    steps: tuple[Elimination, ...]
    written_out: str = ""
    """Why the program was written out entry by entry, if it was."""
    tilts: tuple[tuple[str, str], ...] = ()
    """For each discrete parameter, the parameter that tilts the weights of its values."""
    needs_data: bool = False
    """Whether how they are summed out depends on data: the program is that of the other parameters alone."""

    @property
    def names(self) -> tuple[str, ...]:
        """The discrete parameters."""
        return tuple(d.name for d in self.parameters)

    def check_sizes(self, values: Mapping[str, Any], most: int) -> None:
        """Refuses a table that is too large for these data."""
        for d in self.parameters:
            lower, upper = (known_value(e, values) for e in (d.lower, d.upper))
            if lower is not None and upper is not None and lower > upper:
                raise refused.bounds(d.name, "leave no value: the upper one is below the lower one", d.span)
        for step in self.steps:
            if step.order and known_value(step.parameter.dims[step.chain_axis], values) == 0:
                raise refused.unplanned([step.parameter.name], "a chain has no entry", step.parameter.span)
            sizes = [known_value(e, values) for e in step.entries]
            if None not in sizes and (entries := prod(map(int, sizes))) > most:
                raise refused.too_large(step.together, entries, most, step.parameter.span)


def summed_out(
    p: ast.Program, facts: Facts, way: Way, tilted: bool, most: int, values: Mapping[str, Any]
) -> Summed:
    """The program without its discrete parameters.

    `way` puts values together; `tilted`, there is a parameter for the weight of each value of each entry;
    no table of one entry has more than `most` numbers; `values` of data are known.

    Raises:
        NeedsData: what meets what depends on data that are not among the values.
        ModelError: a use that cannot be summed out.
    """
    parameters = discrete_parameters(p.parameters)
    by_name = {d.name: d for d in parameters}
    names = FreshNames.of(p)
    independent, dependent = divided(p.transformed_parameters, set(by_name))
    body = (*plain_declarations(dependent), *p.model)
    body = Normal(facts, by_name, names, dependent_names(body, set(by_name)), lengths(body)).body(body)
    body = with_increments(body, set(by_name), facts)
    tilts = {d.name: names.fresh(f"{TILT}_{d.name}") for d in parameters} if tilted else {}
    why = ""
    own: Stmts = ()
    set_back: Stmts = ()
    start = replace(names, taken=set(names.taken))
    try:
        whole = {d.name: (d, tilt_entry(d, (), tilts)) for d in parameters}
        body_out, emits = eliminated(body, whole, names, way, most)
    except Unknown as unknown:
        names, why = start, str(unknown)
        concrete = Concrete(by_name, names, values)
        concrete.declare()
        single = {
            c.name: (c, tilt_entry(by_name[name], at, tilts)) for (name, at), c in concrete.scalars.items()
        }
        body_out, emits = eliminated(copied(concrete.body(body, {})), single, names, way, most)
        own, set_back = concrete.drawn()
    back = (*own, *(s for e in reversed(emits) for s in e.backward()), *set_back)
    setting_variables = rewrite(body_out, lambda n: () if isinstance(n, EFFECTS) else None)
    back = (*live(setting_variables, back), *back)
    back = with_other_names(back, names)
    discrete = [d for d in p.parameters if is_discrete(d)]
    real = [d for d in p.parameters if not is_discrete(d)]
    weights = [tilt_declaration(d, tilts[d.name]) for d in parameters if tilts]
    drawn = [ast.Block(p.span, back)] if back else []
    program = replace(
        p,
        parameters=(*real, *weights),
        transformed_parameters=independent,
        model=live(body_out, None),
        generated_quantities=(*discrete, *drawn, *dependent, *p.generated_quantities),
    )
    steps = tuple(e.step for e in emits)
    return Summed(copied(program), parameters, steps, why, tuple(tilts.items()))


def with_other_names(body: Stmts, names: FreshNames) -> Stmts:
    """The statements with names of their own for what they declare: those of the model block are taken."""
    declared = {n.name for n in walk(body) if isinstance(n, ast.Declaration)}
    new = {name: names.fresh(f"{name}_drawn") for name in sorted(declared)}

    def renamed(n: ast.Node) -> ast.Node:
        match n:
            case ast.Variable(name=name) | ast.Declaration(name=name) if name in new:
                return replace(n, name=new[name])
            case ast.For(variable=name) | ast.ForEach(variable=name) if name in new:
                return replace(n, variable=new[name])
            case _:
                return n

    return bottom_up(body, renamed)


def tilt_entry(d: Discrete, at: tuple[int, ...], tilts: Mapping[str, str]) -> ast.Expr | None:
    """The weights of the values of an entry, or of all entries."""
    if not tilts:
        return None
    return indexed(tilts[d.name], tuple(integer(n, d.span) for n in at), d.span)


def tilt_declaration(d: Discrete, name: str) -> ast.Declaration:
    return ast.Declaration(d.span, ast.SizedType(d.span, "vector", None, (d.size,), d.dims), name, d.span)


Weighted = tuple[Discrete, ast.Expr | None]


def eliminated(
    body: Stmts, parameters: Mapping[str, Weighted], names: FreshNames, way: Way, most: int
) -> tuple[Stmts, list[Emit]]:
    """The statements with tables and sums in place of the terms, the cheapest parameter summed out first.

    Raises:
        Unknown: how the entries meet is not told by their indices.
    """
    left = {name: d for name, (d, _) in parameters.items()}
    emits: list[Emit] = []
    while left:
        step = next_step(body, dict(left), names)
        check_size(step, most)
        own = {name for x in body for name in written(x)} - {x.step.table for x in emits}
        emit = Emit(step, way, parameters[step.parameter.name][1], frozenset(own))
        body = replaced(body, emit)
        emits.append(emit)
        del left[step.parameter.name]
    return body, emits


def check_size(step: Elimination, most: int) -> None:
    """Refuses a table that is too large as far as the program alone tells."""
    sizes = [known(e) for e in step.entries]
    count = prod(n for n in sizes if n is not None)
    if count > most:
        raise refused.too_large(step.together, count, most, step.parameter.span)


def lengths(body: Sequence[ast.Statement]) -> dict[str, ast.Expr]:
    """The first size of each local container."""
    declared = ((n.name, ast.all_sizes(n.type)) for n in walk(body) if isinstance(n, ast.Declaration))
    return {name: sizes[0] for name, sizes in declared if sizes}


def next_step(body: Stmts, left: Parameters, names: FreshNames) -> Elimination:
    """The elimination that is cheapest now."""
    all_terms = terms(body, left)
    steps, reasons = [], []
    for name in left:
        trial = replace(names, taken=set(names.taken))
        try:
            steps.append((planned(name, [t for t in all_terms if t.of(name)], left, trial), trial))
        except Cannot as why:
            reasons.append(str(why))
    if not steps:
        raise Unknown(reasons[0])
    best, trial = min(steps, key=lambda step: weight(step[0]))
    names.taken |= trial.taken
    return best


def replaced(body: Stmts, emit: Emit) -> Stmts:
    """The statements with the terms of a step filling its tables, and the sum at the end."""
    fills = emit.fills()
    filled: Stmts = rewrite(body, lambda n: fills.get(id(n)))
    return (*emit.declarations(), *filled, *emit.finish())


def with_increments(body: Stmts, names: set[str], facts: Facts) -> Stmts:
    """The statements with plain increments inside those that a discrete value decides about as a whole.

    What stands in them and does not itself depend on a discrete parameter is added for each of its values
    too, so that it must be an increment with all its constants.
    """

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
