"""Lints about what is done with variables: priors, use, integer division."""

import math
from collections.abc import Iterable, Iterator

from ppl.kernel.language import ast
from ppl.kernel.language.calls import is_conditional, suffix_of
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.printer import expression
from ppl.kernel.language.scope import AdLevel, BlockName, Symbol
from ppl.kernel.language.walk import assigned_variables, base, definitions, parts, statements, variables, walk
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
from ppl.stdlib.constraints.table import CONSTRAINTS
from ppl.types import INT

PROPER = frozenset(c.keyword for c in CONSTRAINTS if c.bounded)
"""Constrained types with a finite volume, on which a flat prior is a proper one."""

Symbols = set[Symbol]


# --- Priors --------------------------------------------------------------------------------------


def priors(program: ast.Program, facts: Facts) -> Iterator[Lint]:
    """Parameters with an unbounded range that no statement gives a distribution."""
    for d in without_density(program, facts):
        if not is_proper(d.type):
            yield no_prior(d.name, d.name_span)


def without_density(program: ast.Program, facts: Facts) -> Iterator[ast.Declaration]:
    """The parameters in use that no statement gives a distribution."""
    with_density = with_sources(program, facts, given_a_density(program, facts))
    without = symbols(read_variables(program), facts) - with_density
    return (d for d in program.parameters if facts.symbols[d] in without)


def is_proper(t: ast.DeclaredType) -> bool:
    return t.keyword in PROPER or ast.limits(t).keys() == {"lower", "upper"}


def given_a_density(program: ast.Program, facts: Facts) -> Symbols:
    """Left sides of `~`, variates of densities, and terms that are added to the target as they are."""
    given: Symbols = set()
    for node in statements((*program.transformed_parameters, *program.model)):
        match node:
            case ast.Tilde(left=left):
                given |= symbols(left, facts)
            case ast.TargetIncrement(value=value) | ast.JacobianIncrement(value=value):
                given |= added(value, facts)
            case ast.CallStatement(call=call):
                given |= symbols(call.args, facts)
    return given


def added(value: ast.Expr, facts: Facts) -> Symbols:
    """The variables of a summand; of a density only its variate."""
    densities = [e for e in walk(value) if isinstance(e, ast.Call) and is_conditional(e.name)]
    parameters = {v for e in densities for v in variables(e.args[1:])}
    return {facts.symbols[v] for v in variables(value) if v not in parameters and v in facts.symbols}


def with_sources(program: ast.Program, facts: Facts, names: Symbols) -> Symbols:
    """With the variables that these are computed from."""
    sources: dict[Symbol, Symbols] = {}
    for target, value in definitions((*program.transformed_parameters, *program.model)):
        for symbol in symbols(target, facts):
            sources.setdefault(symbol, set()).update(symbols(value, facts))
    reached, left = set(names), list(names)
    while left:
        new = sources.get(left.pop(), set()) - reached
        reached |= new
        left += new
    return reached


def symbols(root: ast.Node | Iterable[ast.Node], facts: Facts) -> Symbols:
    """The variables that are declared or occur here."""
    if isinstance(root, ast.Declaration):
        return {facts.symbols[root]}
    return {facts.symbols[v] for v in variables(root) if v in facts.symbols}


# --- Use -----------------------------------------------------------------------------------------


def unused_variables(program: ast.Program, facts: Facts) -> Iterator[Lint]:
    """Names that are declared but whose value nothing needs; a block's output is used by being written."""
    used = symbols(read_variables(program), facts)
    output = {*program.transformed_parameters, *program.generated_quantities}
    data, parameters = set(program.data), set(program.parameters)
    for d in statements(program):
        if not isinstance(d, ast.Declaration) or d in output or facts.symbols[d] in used:
            continue
        if d in data:
            yield unused_data(d.name, d.name_span)
        else:
            yield unused(d.name, described(facts.symbols[d], d in parameters), d.name_span)


def unassigned_variables(program: ast.Program, facts: Facts) -> Iterator[Lint]:
    """Variables that the program must compute and never does; local ones where their value is needed."""
    used, set_before = symbols(read_variables(program), facts), {*program.data, *program.parameters}
    output = {*program.transformed_parameters, *program.generated_quantities}
    assignments = (s for s in statements(program) if isinstance(s, ast.Assignment))
    targets = (v for s in assignments for v in assigned_variables(s.target))
    written = {facts.symbols[v] for v in targets if v in facts.symbols}
    for d in statements(program):
        if isinstance(d, ast.Declaration) and d.value is None and facts.symbols[d] not in written:
            needed = d in output or facts.symbols[d] in used
            if needed and d not in set_before and not is_empty(d.type):
                yield never_assigned(d.name, d.name_span)


def is_empty(t: ast.DeclaredType) -> bool:
    """Whether a size is written as 0: such a variable has no entries to give a value."""
    return any(isinstance(e, ast.IntLiteral) and e.value == 0 for e in walk(t))


def described(symbol: Symbol, parameter: bool) -> str:
    if parameter:
        return "parameter"
    return "variable" if symbol.block is BlockName.TRANSFORMED_DATA else "local variable"


def read_variables(program: ast.Program) -> Iterator[ast.Variable]:
    """The variables whose value is needed: all but those that an assignment only writes to."""
    assignments = (s for s in statements(program) if isinstance(s, ast.Assignment))
    written = {base(s.target) for s in assignments if s.op == "="}
    return (v for v in variables(program) if v not in written)


# --- Calls in transformed parameters ---------------------------------------------------------------


def adjustments(program: ast.Program, facts: Facts) -> Iterator[Lint]:
    """Functions ending in _lp, and functions ending in _jacobian that take data alone."""
    for e in walk(program.transformed_parameters):
        match e:
            case ast.Call(name=name) if suffix_of(name) == "lp" and e in facts.calls:
                yield target_in_transformed_parameters(name, e.span)
            case ast.Call(name=name, args=args) if suffix_of(name) == "jacobian":
                if all(facts.levels[a] is not AdLevel.PARAMETER for a in args):
                    yield jacobian_of_data(name, e.span)


# --- Assignments to itself, annotations ------------------------------------------------------------


def self_assignments(program: ast.Program, facts: Facts) -> Iterator[Lint]:
    """`x[i] = x[i];`, and declarations whose value reads what they declare."""
    for s in statements(program):
        match s:
            case ast.Assignment(target=target, op="=", value=value):
                if expression(target) == expression(value):
                    yield assigned_to_itself(expression(target), False, s.span)
            case ast.Declaration(name=name, value=value) if value is not None:
                if facts.symbols[s] in symbols(value, facts):
                    yield assigned_to_itself(name, True, s.name_span)


def annotations(program: ast.Program, facts: Facts) -> Iterator[Lint]:
    """Annotations but `@dims(clinic)`; one of a declaration of several names counts once."""
    each = dict.fromkeys(n for n in walk(program) if isinstance(n, ast.Annotation))
    yield from (annotation_ignored(a.text, a.span) for a in each if not a.text.startswith(ast.DIMS))


# --- Indices -------------------------------------------------------------------------------------


def indices(program: ast.Program, facts: Facts) -> Iterator[Lint]:
    """Indices that are written as 0 or below, or that a loop begins there without an `if` in it."""
    for node in walk(program):
        match node:
            case ast.Indexed(indices=given):
                firsts = [i.value if isinstance(i, ast.SingleIndex) else i.lower for i in given]
                for e in firsts:
                    if e is not None and literal(e, math.nan) < 1:
                        yield index_below_1(expression(node), expression(e), e.span)
            case ast.For(variable=name, lower=lower, body=body) if literal(lower, math.nan) < 1:
                yield from first_iterations(name, lower, body)


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


def integer_divisions(program: ast.Program, facts: Facts) -> Iterator[Lint]:
    for e in walk(program):
        if isinstance(e, ast.Binary) and e.op == "/" and {facts.types.get(x) for x in parts(e)} == {INT}:
            yield integer_division(expression(e), as_real(e.left, e.right), e.span)


def as_real(left: ast.Expr, right: ast.Expr) -> str:
    """The quotient with one side made real."""
    if isinstance(right, ast.IntLiteral):
        return f"{expression(left)} / {right.value}.0"
    return f"1.0 * {expression(left)} / {expression(right)}"
