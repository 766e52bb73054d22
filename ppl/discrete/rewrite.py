"""A program with discrete parameters as the program in which they are summed out, and drawn back.

The result is a program of the same language, and of Stan: no int among its parameters, the sums in the model
block, and in generated quantities the discrete parameters, drawn from their exact conditional distribution
given the others (or chosen, all together, as the most probable ones).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ppl.discrete.emit import SUM, Emit, Way
from ppl.discrete.live import live, without_target
from ppl.discrete.normal import Normal, dependent_names
from ppl.discrete.parameters import Discrete, Names, discrete_parameters, is_discrete
from ppl.discrete.steps import Cannot, Step, planned, smallest
from ppl.discrete.syntax import Stmts, copied, rewrite
from ppl.discrete.terms import Parameters, terms
from ppl.discrete.transformed import divided, plain_declarations
from ppl.frontend import ast
from ppl.frontend.facts import Facts
from ppl.frontend.walk import walk

TILT = "lp_tilt"


@dataclass(frozen=True)
class Summed:
    """A program with its discrete parameters summed out, and the steps in which they were."""

    program: ast.Program = field(repr=False)
    parameters: tuple[Discrete, ...]
    steps: tuple[Step, ...]
    tilts: tuple[tuple[str, str], ...] = ()
    """For each discrete parameter, the parameter that tilts the weights of its values."""


class Unknown(Exception):
    """How entries meet is not told by their indices: the error to raise where data do not tell either."""

    def __init__(self, names: Sequence[str], why: str):
        self.names, self.why = names, why
        super().__init__(why)


def summed_out(p: ast.Program, facts: Facts, way: Way = SUM, tilted: bool = False) -> Summed:
    """The program without its discrete parameters; `tilted`, with a parameter for each value of each entry.

    Raises:
        Unknown: what meets what depends on data.
        ModelError: a use that cannot be summed out.
    """
    parameters = discrete_parameters(p.parameters)
    names = names_of(p)
    kept, moved = divided(p.transformed_parameters, {d.name for d in parameters})
    by_name = {d.name: d for d in parameters}
    body = (*plain_declarations(moved), *p.model)
    dependent = dependent_names(body, set(by_name))
    normal = Normal(facts, by_name, names, dependent, lengths(body))
    body = normal.body(body)
    tilts = {d.name: names.fresh(f"{TILT}_{d.name}") for d in parameters} if tilted else {}
    emits: list[Emit] = []
    left = dict(by_name)
    while left:
        step = next_step(body, left, names)
        emit = Emit(step, way, tilts.get(step.parameter.name, ""))
        body = replaced(body, emit)
        emits.append(emit)
        del left[step.parameter.name]
    model, generated = block(body, emits)
    program = replace(
        p,
        parameters=(*(d for d in p.parameters if not is_discrete(d)), *map(tilt_of, emits if tilted else ())),
        transformed_parameters=kept,
        model=model,
        generated_quantities=(
            *(d for d in p.parameters if is_discrete(d)),
            *generated,
            *moved,
            *p.generated_quantities,
        ),
    )
    return Summed(copied(program), parameters, tuple(e.step for e in emits), tuple(tilts.items()))


def names_of(p: ast.Program) -> Names:
    """The names the program has, and those that only loops have."""
    loops = {n.variable for n in walk(p) if isinstance(n, ast.For | ast.ForEach)}
    others: set[str] = set()
    for n in walk(p):
        match n:
            case ast.Declaration(name=name) | ast.Argument(name=name) | ast.FunctionDef(name=name):
                others.add(name)
            case ast.Call(name=name) | ast.Tilde(distribution=name):
                others.add(name)
    each = {n.variable for n in walk(p) if isinstance(n, ast.ForEach)}
    return Names(loops | others, frozenset(loops - others - each))


def lengths(body: Sequence[ast.Statement]) -> dict[str, ast.Expr]:
    """The first size of each local container."""
    out = {}
    for n in walk(body):
        if isinstance(n, ast.Declaration):
            sizes = (*n.type.dims, *(n.type.sizes if isinstance(n.type, ast.SizedType) else ()))
            if sizes:
                out[n.name] = sizes[0]
    return out


def next_step(body: Stmts, left: Parameters, names: Names) -> Step:
    """The elimination that is cheapest now."""
    found = terms(body, left)
    steps, reasons = [], []
    for name in left:
        trial = replace(names, taken=set(names.taken))
        try:
            steps.append((planned(name, [t for t in found if t.of(name)], left, trial), trial))
        except Cannot as why:
            reasons.append(str(why))
    if not steps:
        raise Unknown(tuple(left), reasons[0])
    best = smallest(step for step, _ in steps)
    names.taken |= next(trial for step, trial in steps if step is best).taken
    return best


def replaced(body: Stmts, emit: Emit) -> Stmts:
    """The statements with the terms of a step filling its tables, and the sum at the end."""
    fills = {id(t.statement): emit.filling(t) for t in emit.step.terms}
    filled: Stmts = rewrite(body, lambda n: fills.get(id(n)))
    return (*emit.declarations(), *filled, *emit.finish())


def block(body: Stmts, emits: Sequence[Emit]) -> tuple[Stmts, Stmts]:
    """The model block, and the block of generated quantities that draws."""
    back = tuple(s for e in reversed(emits) for s in e.backward())
    tables = live(without_target(body), back)
    span = emits[0].span
    return live(body, None), (ast.Block(span, (*tables, *back)),)


def tilt_of(e: Emit) -> ast.Declaration:
    (table,) = e.declarations()[:1]
    assert isinstance(table, ast.Declaration)
    return replace(table, name=e.tilt, value=None)


