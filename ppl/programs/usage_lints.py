"""Lints about what is done with variables: priors, use, integer division."""

import math
from collections.abc import Iterator

from ppl.kernel.language import ast
from ppl.kernel.language.calls import is_conditional, suffix_of
from ppl.kernel.language.printer import expression
from ppl.kernel.language.scope import AdLevel, BlockName, Symbol
from ppl.kernel.language.walk import variables, walk
from ppl.programs.density_lints import literal
from ppl.programs.lints import (
    Lint,
    annotation_ignored,
    assigned_to_itself,
    index_below_1,
    integer_division,
    jacobian_of_data,
    never_assigned,
    no_prior,
    target_in_transformed_parameters,
    unused,
    unused_data,
)
from ppl.programs.nodes import DENSITY, Nodes
from ppl.stdlib.constraints.table import CONSTRAINTS
from ppl.types import INT

PROPER = frozenset(c.keyword for c in CONSTRAINTS if c.bounded)
"""Constrained types with a finite volume, on which a flat prior is a proper one."""
GIVEN = (BlockName.DATA, BlockName.PARAMETERS)
"""Blocks whose variables have values before the program runs."""

# --- Priors --------------------------------------------------------------------------------------


def priors(p: Nodes) -> Iterator[Lint]:
    """Parameters with an unbounded range that no statement gives a distribution."""
    for d in without_density(p):
        if not is_proper(d.type):
            yield no_prior(d.name, d.name_span)


def without_density(p: Nodes) -> Iterator[ast.Declaration]:
    """The parameters in use that no statement gives a distribution."""
    without = p.read - with_sources(p, given_a_density(p))
    return (d for d in p.program.parameters if p.facts.symbols[d] in without)


def is_proper(t: ast.DeclaredType) -> bool:
    return t.keyword in PROPER or ast.limits(t).keys() == {"lower", "upper"}


def given_a_density(p: Nodes) -> set[Symbol]:
    """Left sides of `~`, variates of densities, and terms that are added to the target as they are."""
    increments = p.of(ast.TargetIncrement, ast.JacobianIncrement, blocks=DENSITY)
    tildes, calls = p.of(ast.Tilde, blocks=DENSITY), p.of(ast.CallStatement, blocks=DENSITY)
    given = [s.left for s in tildes], *[s.call.args for s in calls], *[added(s.value) for s in increments]
    return p.symbols(v for each in given for v in variables(each))


def added(value: ast.Expr) -> list[ast.Variable]:
    """The variables of a summand; of a density only its variate."""
    inside = [*walk(value)]
    densities = [e for e in inside if isinstance(e, ast.Call) and is_conditional(e.name)]
    parameters = {v for e in densities for v in variables(e.args[1:])}
    return [v for v in inside if isinstance(v, ast.Variable) and v not in parameters]


def with_sources(p: Nodes, names: set[Symbol]) -> set[Symbol]:
    """With the variables that these are computed from."""
    values: dict[Symbol, list[ast.Expr]] = {}
    for target, value in p.definitions():
        declared = isinstance(target, ast.Declaration)
        for symbol in {p.facts.symbols[target]} if declared else p.symbols(variables(target)):
            values.setdefault(symbol, []).append(value)
    reached, left = set(names), list(names)
    while left:
        new = p.symbols(variables(values.get(left.pop(), ()))) - reached
        reached |= new
        left += new
    return reached


# --- Use -----------------------------------------------------------------------------------------


def unused_variables(p: Nodes) -> Iterator[Lint]:
    """Names that are declared but whose value nothing needs; a block's output is used by being written."""
    output = {*p.program.transformed_parameters, *p.program.generated_quantities}
    data, parameters = set(p.program.data), set(p.program.parameters)
    for d in p.of(ast.Declaration):
        symbol = p.facts.symbols[d]
        if d in output or symbol in p.read:
            continue
        if d in data:
            yield unused_data(d.name, d.name_span)
        else:
            yield unused(d.name, described(symbol, d in parameters), d.name_span)


def unassigned_variables(p: Nodes) -> Iterator[Lint]:
    """Variables that the program must compute and never does; local ones where their value is needed."""
    output = {*p.program.transformed_parameters, *p.program.generated_quantities}
    for d in p.of(ast.Declaration, blocks=[b for b in BlockName if b not in GIVEN]):
        symbol = p.facts.symbols[d]
        needed = d.value is None and symbol not in p.written and (d in output or symbol in p.read)
        if needed and not is_empty(d.type):
            yield never_assigned(d.name, d.name_span)


def is_empty(t: ast.DeclaredType) -> bool:
    """Whether a size is written as 0: such a variable has no entries to give a value."""
    return any(isinstance(e, ast.IntLiteral) and e.value == 0 for e in walk(t))


def described(symbol: Symbol, parameter: bool) -> str:
    if parameter:
        return "parameter"
    return "variable" if symbol.block is BlockName.TRANSFORMED_DATA else "local variable"


# --- Calls in transformed parameters ---------------------------------------------------------------


def adjustments(p: Nodes) -> Iterator[Lint]:
    """Functions ending in _lp, and functions ending in _jacobian that take data alone."""
    for e in p.of(ast.Call, blocks=[BlockName.TRANSFORMED_PARAMETERS]):
        suffix = suffix_of(e.name)
        if suffix == "lp" and e in p.facts.calls:
            yield target_in_transformed_parameters(e.name, e.span)
        elif suffix == "jacobian" and all(p.facts.levels[a] is not AdLevel.PARAMETER for a in e.args):
            yield jacobian_of_data(e.name, e.span)


# --- Assignments to itself, annotations ------------------------------------------------------------


def self_assignments(p: Nodes) -> Iterator[Lint]:
    """`x[i] = x[i];`, and declarations whose value reads what they declare."""
    for s in p.of(ast.Assignment):
        if s.op == "=" and type(s.target) is type(s.value) and expression(s.target) == expression(s.value):
            yield assigned_to_itself(expression(s.target), False, s.span)
    for d in p.of(ast.Declaration):
        if d.value is not None and p.facts.symbols[d] in p.symbols(variables(d.value)):
            yield assigned_to_itself(d.name, True, d.name_span)


def annotations(p: Nodes) -> Iterator[Lint]:
    """Annotations but `@dims(clinic)`; one of a declaration of several names counts once."""
    each = dict.fromkeys(p.of(ast.Annotation))
    yield from (annotation_ignored(a.text, a.span) for a in each if not a.text.startswith(ast.DIMS))


# --- Indices -------------------------------------------------------------------------------------


def indices(p: Nodes) -> Iterator[Lint]:
    """Indices that are written as 0 or below, or that a loop begins there without an `if` in it."""
    for node in p.of(ast.Indexed):
        for i in node.indices:
            e = i.value if isinstance(i, ast.SingleIndex) else i.lower
            if e is not None and literal(e, math.nan) < 1:
                yield index_below_1(expression(node), expression(e), e.span)
    for loop in p.of(ast.For):
        if literal(loop.lower, math.nan) < 1:
            yield from first_iterations(loop.variable, loop.lower, loop.body)


def first_iterations(name: str, lower: ast.Expr, body: ast.Statement) -> Iterator[Lint]:
    """The first use of a loop's variable as an index, where nothing tells its first values apart."""
    inside = [*walk(body)]
    if any(isinstance(node, ast.If | ast.Ternary) for node in inside):
        return
    for node in inside:
        if isinstance(node, ast.Indexed) and any(is_index(i, name) for i in node.indices):
            yield index_below_1(expression(node), f"{expression(lower)} in the first iteration", node.span)
            return


def is_index(index: ast.Index, name: str) -> bool:
    return isinstance(index, ast.SingleIndex) and expression(index.value) == name


# --- Division ------------------------------------------------------------------------------------


def integer_divisions(p: Nodes) -> Iterator[Lint]:
    for e in p.of(ast.Binary):
        if e.op == "/" and p.facts.types.get(e.left) == p.facts.types.get(e.right) == INT:
            yield integer_division(expression(e), as_real(e.left, e.right), e.span)


def as_real(left: ast.Expr, right: ast.Expr) -> str:
    """The quotient with one side made real."""
    if isinstance(right, ast.IntLiteral):
        return f"{expression(left)} / {right.value}.0"
    return f"1.0 * {expression(left)} / {expression(right)}"
