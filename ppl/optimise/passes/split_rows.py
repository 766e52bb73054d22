"""The target split by rows of data, so that a few rows at a time can stand for all of them.

A row is an entry along the axes of one size variable of the data, say N.  Terms of the target that depend
on anything of size N are row terms, the others the rest.  Two programs come out: the rest, and the row
terms of any subset of rows, which is the same code run with N made smaller, the data cut to the subset and
parameters with one entry a row picked.  Whether the row terms really add up over rows is for
ppl/density/rows.py to try out: a time series looks the same here, and does not.
"""

from collections.abc import Iterable, Sequence, Set
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.rows import Axes, row_axes
from ppl.kernel.ir.walk import assigned_names, backward_slice, used_names, walk, walk_statements, with_parts
from ppl.kernel.language.walk import closure
from ppl.records import dataclass, replace
from ppl.source import Span
from ppl.types import INT, entry, rank

EFFECTS = (ir.Increment, ir.CallVoid, ir.Message, ir.TargetSoFar)


@dataclass(frozen=True)
class RowSplit:
    """`data` and `parameters` have one entry a row along the axis given.

    In `rows` the size counts the rows at hand where it is a size; `total` is the name of its full value,
    for where it is a number.  `terms` and `rest_terms` are where the terms of the target stand, `named` where
    the row terms read one row by its number, which in a subset is another, `sums` where `target()` is read.
    """

    size: str
    total: str
    data: Axes
    parameters: Axes
    rows: ir.Program
    rest: ir.Program
    terms: tuple[Span, ...]
    rest_terms: tuple[Span, ...]
    named: tuple[Span, ...]
    sums: tuple[Span, ...]


def row_terms(p: ir.Program, size: str) -> ir.Program:
    """Only the terms of the target that depend on rows are kept, for any subset of rows."""
    return split_rows(p, size).rows


def rest_terms(p: ir.Program, size: str) -> ir.Program:
    """Only the terms of the target that depend on no row are kept."""
    return split_rows(p, size).rest


def split_rows(p: ir.Program, size: str) -> RowSplit:
    """Split a program, not yet hoisted, by the rows that `size` counts."""
    data = row_axes((*p.data, *p.transformed_data_names), size)
    parameters = row_axes(p.parameters, size)
    body = (*(s for s in p.transformed_parameters if not isinstance(s, ir.CheckDeclared)), *p.model)
    named = {name for name, _ in (*data, *parameters)}
    touched = depends_on(body, named | counted_by(body, size))
    rows, rest = (pick(body, touched, of_rows) for of_rows in (True, False))
    total = total_of(size)
    common = replace(p.without_generated, transformed_parameters=(), transformed_parameter_names=())
    cut = tuple(with_total(s, size, total) for s in backward_slice(rows, (), has_effect))
    return RowSplit(
        size,
        total,
        data,
        parameters,
        rows=replace(common, model=cut, row_axes=parameters, extra_data=(*p.extra_data, total)),
        rest=replace(common, model=backward_slice(rest, (), has_effect)),
        terms=places(rows),
        rest_terms=places(rest),
        named=named_rows(cut, dict((*data, *parameters))),
        sums=sums(body),
    )


def total_of(size: str) -> str:
    """The name of the full value of a size that counts the rows at hand."""
    return f"{size}_total__"


def sums(body: Sequence[ir.Stmt]) -> tuple[Span, ...]:
    """Statements that read `target()`, which is what all terms so far add up to."""
    return tuple(s.span for s in body if any(isinstance(n, ir.TargetSoFar) for n in walk(s)))


def named_rows(body: Sequence[ir.Stmt], axes: dict[str, int]) -> tuple[Span, ...]:
    """Statements that read a row by a number that no loop counts, as x[1] is.

    The steps of a scan are left alone: what they read under the name of a variable is one entry of it.
    """
    counters = {n.variable for n in walk_statements(tuple(body)) if isinstance(n, ir.For)}

    def names_a_row(n: Any) -> bool:
        match n:
            case ir.Index(base=ir.Var(name=name), items=items) if name in axes:
                where: tuple[Any, ...] = items
            case ir.Gather(base=ir.Var(name=name), picks=picks, items=items) if name in axes:
                where = (*picks, *items)
            case _:
                return False
        k = axes[name]
        at = where[k] if k < len(where) else None
        return at is not None and ir.drops_axis(at) and not used_names(at) & counters

    return tuple(s.span for s in body if not isinstance(s, ir.Scan) and any(map(names_a_row, walk(s))))


def with_total(node: Any, size: str, total: str) -> Any:
    """The node with the size's full value where it is a number and no size."""

    def inside(part: Any) -> Any:
        return with_total(part, size, total)

    match node:
        case ir.Var(name=name) if name == size:
            return ir.Var(total, node.type)
        case ir.Declare() | ir.CheckDeclared():
            return node
        case ir.Assign(value=value):
            return replace(node, value=inside(value))
        case ir.For(body=body):
            lower, upper = (
                end if end == ir.Var(size, INT) else inside(end) for end in (node.lower, node.upper)
            )
            return replace(node, lower=lower, upper=upper, body=tuple(map(inside, body)))
        case ir.Scan(fixed=fixed) if ir.Var(size, INT) in fixed:  # its steps may need both
            steps = with_parts(replace(node, fixed=()), inside)
            return replace(steps, fixed=(*fixed, ir.Var(total, INT)))
        case ir.Apply(args=args) if is_sized(node):
            plain = ir.Var(size, INT)
            return replace(node, args=tuple(a if a == plain else inside(a) for a in args))
        case _:
            return with_parts(node, inside)


def is_sized(e: ir.Apply) -> bool:
    """Whether an argument may be a size of the result: of a container, or of an index set."""
    return e.callee.batch == "whole" or (rank(entry(e.type)) > 0 and e.callee.batch != "elementwise")


def counted_by(body: Sequence[ir.Stmt], size: str) -> set[str]:
    """Variables that have the size as a size; N in sqrt(N) is but a number."""
    return {
        name
        for s in walk(tuple(body))
        if isinstance(s, ir.Declare | ir.Assign | ir.For) and counts(s, size)
        for name in left_by(s)
    }


def left_by(s: ir.Stmt) -> set[str]:
    """Variables that a statement sets, but for those of a loop, which end with it."""
    inside = {name for n in walk_statements(s) for name in of_loop(n)} if isinstance(s, ir.Loop) else set()
    return assigned_names((s,)) - inside


def of_loop(s: ir.Stmt) -> tuple[str, ...]:
    """The variable that a statement in a loop declares, or counts by."""
    match s:
        case ir.For(variable=name) | ir.Declare(name=name) | ir.Assign(name=name, declares=True):
            return (name,)
        case _:
            return ()


def counts(s: ir.Stmt, size: str) -> bool:
    """Whether the statement makes something of this size."""
    match s:
        case ir.Declare(shape=shape):
            return size in used_names(shape)
        case ir.For(lower=lower, upper=upper):
            return size in used_names((lower, upper))
        case ir.Assign(value=value, shape=shape):
            makers = (n for n in walk(value) if isinstance(n, ir.Apply) and rank(n.type) > 0)
            return size in used_names(shape) or any(size in used_names(n.args) for n in makers)
        case _:
            return False


def depends_on(body: Sequence[ir.Stmt], names: set[str]) -> set[str]:
    """The names and every variable computed from them."""
    return closure(names, list(flows_in(body)), lambda flow, known: flow[1] if flow[0] & known else ())


def flows_in(
    body: Sequence[ir.Stmt], condition: Set[str] = frozenset()
) -> Iterable[tuple[Set[str], Set[str]]]:
    """Uses and definitions of each statement, the condition inside an `if` too. A loop is one statement."""
    for s in body:
        match s:
            case ir.If():
                yield from flows_in((*s.then, *s.otherwise), condition | used_names(s.condition))
            case ir.Profile():
                yield from flows_in(s.body, condition)
            case _:
                yield condition | used_names(s), left_by(s)


def pick(body: Sequence[ir.Stmt], touched: set[str], of_rows: bool, within: bool = False) -> ir.Stmts:
    """The statements without the terms of the other kind; those `within` an `if` on rows are theirs."""
    return tuple(part for s in body if (part := picked(s, touched, of_rows, within)) is not None)


def picked(s: ir.Stmt, touched: set[str], of_rows: bool, within: bool) -> ir.Stmt | None:
    match s:
        case ir.If(condition=condition):
            within = within or not touched.isdisjoint(used_names(condition))
            then, otherwise = (pick(side, touched, of_rows, within) for side in (s.then, s.otherwise))
            return replace(s, then=then, otherwise=otherwise)
        case ir.Profile(body=body):
            return replace(s, body=pick(body, touched, of_rows, within))
        case _ if has_effect(s):
            return s if (within or not touched.isdisjoint(used_names(s))) == of_rows else None
        case _:
            return s


def has_effect(s: ir.Stmt) -> bool:
    return any(isinstance(n, EFFECTS) for n in walk(s))


def places(body: Sequence[ir.Stmt]) -> tuple[Span, ...]:
    """Where the terms of the target stand."""
    return tuple(n.span for n in walk_statements(tuple(body)) if isinstance(n, ir.Increment | ir.CallVoid))
