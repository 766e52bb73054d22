"""Declarations: sizes, bounds, constrained types, and what each block allows.

Reference manual, "Types" and "Program blocks".
"""

from collections.abc import Mapping, Sequence

from ppl.kernel.language import ast, messages
from ppl.kernel.language.calls import suffix_of
from ppl.kernel.language.expressions import check_expr
from ppl.kernel.language.facts import Check
from ppl.kernel.language.scope import BlockName
from ppl.kernel.language.walk import variables, walk
from ppl.source import Span
from ppl.stdlib.constraints.table import CONSTRAINTS
from ppl.stdlib.signatures import promotes
from ppl.types import INT, NAMED, REAL, VOID, ArrayType, Tuple, Type, array_of, core

CONSTRAINED: Mapping[str, Type] = {
    c.keyword: NAMED[c.value] for c in CONSTRAINTS if c.value and c.value != "real"
}
SQUARE = frozenset(c.keyword for c in CONSTRAINTS if c.value == "matrix" and 1 in c.sizes)
"""Types with one size for both axes."""

CONTINUOUS = (BlockName.PARAMETERS, BlockName.TRANSFORMED_PARAMETERS)
DATA_SIZES = (*CONTINUOUS, BlockName.GENERATED_QUANTITIES)


def check_declaration(c: Check, d: ast.Declaration, at_top: bool) -> None:
    """Check and declare one name; `at_top` for a block's own variables, as against local ones.

    A name with a refused declaration is still declared, without a type, so that its uses are not
    reported again.
    """
    t: Type | None = None
    try:
        refuse_name(c, d.name, d.name_span)
        t = declared_type(c, d.type, at_top)
        check_continuous(c, d, t, at_top)
        check_constraints(c, d)
    finally:
        if c.scope.find(d.name) is None:
            c.declare(d, d.name, t, "variable")
    if d.value is not None:
        check_initial_value(c, d, t)


def refuse_name(c: Check, name: str, span: Span) -> None:
    """Names that a new variable may not have."""
    known = c.scope.find(name)
    if known is not None:
        raise c.refuse(messages.redeclared(name, known.span.line), span)
    if suffix_of(name) in ("lupdf", "lupmf"):
        raise c.refuse(messages.unnormalised_variable(name), span)


# --- Types and sizes -----------------------------------------------------------------------------


def declared_type(c: Check, t: ast.DeclaredType, at_top: bool) -> Type:
    """The type without its sizes, which are checked here."""
    for size in ast.all_sizes(t):
        check_size(c, size, at_top)
    if isinstance(t, ast.SizedTuple):
        return array_of(Tuple(tuple(declared_type(c, item, at_top) for item in t.items)), len(t.dims))
    return array_of(CONSTRAINED.get(t.keyword) or NAMED[t.keyword], len(t.dims))


def check_size(c: Check, size: ast.Expr, at_top: bool) -> None:
    if (t := check_expr(c, size)) != INT:
        raise c.refuse(messages.size_type(t), size.span)
    if at_top and any(isinstance(n, ast.Call) and suffix_of(n.name) == "rng" for n in walk(size)):
        raise c.refuse(messages.size_at_random(), size.span)
    if at_top and any(c.facts.symbols[v].block in DATA_SIZES for v in variables(size)):
        raise c.refuse(messages.size_not_data(), size.span)


def unsized(c: Check, t: ast.UnsizedType) -> Type:
    """The type written in a function's signature."""
    if t.keyword == "tuple":
        return array_of(Tuple(tuple(unsized(c, item) for item in t.items)), t.dims)
    return array_of(NAMED[t.keyword], t.dims)


def check_continuous(c: Check, d: ast.Declaration, t: Type, at_top: bool) -> None:
    block = c.context.block
    if not at_top or block not in CONTINUOUS or not holds_int(t):
        return
    if block is BlockName.PARAMETERS:
        if is_discrete(d):
            return
        rewrite = messages.BOTH_BOUNDS
    else:
        rewrite = "Declare it `real`, or declare it in the model block or in generated quantities."
    raise c.refuse(messages.int_parameter(d.name, block.value, rewrite), d.span)


def is_discrete(d: ast.Declaration) -> bool:
    """Whether a parameter has finitely many values: an int, or an array of them, with both bounds."""
    return ast.limits(d.type).keys() == {"lower", "upper"}


def holds_int(t: Type) -> bool:
    inner = core(t)
    return any(map(holds_int, inner.items)) if isinstance(inner, Tuple) else inner == INT


# --- Constraints ---------------------------------------------------------------------------------


def check_constraints(c: Check, d: ast.Declaration) -> None:
    for t in leaves(d.type):
        if t.bounds and t.bounds.items and t.keyword.startswith("complex"):
            raise c.refuse(messages.complex_bounds(t.keyword), t.span)
        for name, value in ast.limits(t).items():
            check_bound(c, t, name, value)


def leaves(t: ast.DeclaredType) -> Sequence[ast.SizedType]:
    """The types in a tuple, or the one type."""
    return [leaf for item in t.items for leaf in leaves(item)] if isinstance(t, ast.SizedTuple) else [t]


def check_bound(c: Check, t: ast.SizedType, name: str, value: ast.Expr) -> None:
    """A bound is a scalar, or a container of the variable's own shape."""
    actual = check_expr(c, value)
    whole = array_of(NAMED[t.keyword], len(t.dims))
    word, scalars = ("an int", (INT,)) if t.keyword == "int" else ("a real", (INT, REAL))
    if actual not in (*scalars, whole):
        expected = word if whole in scalars else f"{word} or {whole}"
        which = f"{name} bound" if name in ("lower", "upper") else name
        raise c.refuse(messages.bound_type(which, expected, actual), value.span)


# --- Initial values ------------------------------------------------------------------------------


def check_initial_value(c: Check, d: ast.Declaration, t: Type) -> None:
    assert d.value is not None
    actual = check_expr(c, d.value)
    if not assignable(t, actual):
        span = d.value.span.on_line_of(d.span)
        raise c.refuse(messages.assigned_type(t, actual), span, d.value.span)


def assignable(expected: Type, actual: Type) -> bool:
    """Whether a value of a type may be assigned; `{}` has no element to take a type from."""
    is_empty_array = isinstance(expected, ArrayType) and actual == ArrayType(VOID)
    return is_empty_array or promotes(actual, expected) is not None
