"""Whether the axes in the types of a program agree: of operands with those of what is made of them.

A variable may be read along the axis of a loop where it has an entry for each iteration.  For this alone
lengths have names, those of the sizes they were declared with; where a name is not known, nothing is said.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.printer import expr
from ppl.kernel.ir.walk import (
    EXPRESSIONS,
    PART_NAMES,
    assigned_names,
    changing_names,
    parts_of,
    prepared_names,
    walk,
)
from ppl.records import dataclass, field
from ppl.stdlib import batching
from ppl.stdlib.functions.sizes import cols, count, length, rows
from ppl.stdlib.record import Impl
from ppl.types import Tuple, axes_of, core, entry, rank

AxisNames = tuple[str | None, ...]
"""The names of the axes of a value, its own too, the outermost first; None where one is not known."""

SIZES: Mapping[Impl, int] = {batching.batch_size: 0, length: 0, count: 0, rows: -2, cols: -1}
"""The axis that a function says the size of; `count` of a value with one axis alone."""


class OtherAxes(Exception):
    """A node has other axes than its operands; the message says which."""


@dataclass
class Known:
    """What is known so far: the axes of variables, and the names of sizes that are variables.

    `changing` are variables with more than one value, whose name as a size says nothing.
    """

    changing: frozenset[str] = frozenset()
    axes: dict[str, AxisNames] = field(default_factory=dict)
    sizes: dict[str, str | None] = field(default_factory=dict)
    loops: dict[str, str | None] = field(default_factory=dict)
    """The names of the sizes of loops, by those of their axes."""

    # --- Statements ------------------------------------------------------------------------------

    def block(self, body: Sequence[ir.Stmt]) -> None:
        for s in body:
            try:
                self.statement(s)
            except OtherAxes as why:
                raise why if "\n" in str(why) else OtherAxes(f"{s.span.describe()}\n{why}") from None

    def statement(self, s: ir.Stmt) -> None:
        for name in PART_NAMES[type(s)]:
            if name not in ("body", "then", "otherwise", "step", "batch", "next", "batch_next"):
                self.expressions(getattr(s, name))
        match s:
            case ir.Assign(name=name, value=value):
                self.range(value)
                found = (*axes_of(value.type), *self.own(value))
                known = name in self.axes and not s.declares
                self.axes[name] = agreed(self.axes[name], found) if known else found
                self.sizes[name] = None if name in self.changing else self.size(value)
            case ir.Declare(name=name, type=t, shape=tuple() as shape):
                self.axes[name] = (*axes_of(t), *map(self.size, shape[len(axes_of(t)) :]))
            case ir.Scatter(items=items, value=value, type=t, picks=picks):
                found = axes_of_entries(axes_of(t), picks, items)
                require_within(axes_of(value.type), found, f"what `{s.name}` is set to")
            case ir.For(body=body) | ir.While(body=body) | ir.Profile(body=body):
                self.aside(body)
            case ir.If(then=then, otherwise=otherwise):
                self.aside(then)
                self.aside(otherwise)
            case ir.Scan(after=after):
                self.axes.update(dict.fromkeys(after, ()))

    def copy(self) -> "Known":
        return Known(self.changing, dict(self.axes), dict(self.sizes), dict(self.loops))

    def aside(self, body: Sequence[ir.Stmt]) -> None:
        """Statements that may not be run; afterwards nothing is known of what they set."""
        inner = self.copy()
        inner.block(body)
        for name in assigned_names(body):
            self.axes[name] = agreed(self.axes[name], inner.axes.get(name, ())) if name in self.axes else ()
            self.sizes[name] = None

    # --- Sizes -----------------------------------------------------------------------------------

    def size(self, e: ir.Expr | ir.DeclaredSizes) -> str | None:
        """The name of an axis with as many entries."""
        match e:
            case ir.Const(value=int() as value):
                return str(value)
            case ir.Var(name=name) if name not in self.changing:
                return self.sizes.get(name) or name
            case ir.Apply(callee=callee, args=(ir.Var(name=name, type=t),)) if callee.impl in SIZES:
                found = self.axes.get(name, ())
                complete = len(found) == rank(t) and not (callee.impl is count and found[1:])
                return found[SIZES[callee.impl]] if found and complete else None
        return None

    def span(self, lower: ir.Expr, upper: ir.Expr) -> str | None:
        """The name of the size of lower, ..., upper."""
        low, high = self.size(lower), self.size(upper)
        if low is None or high is None:
            return None
        return high if low == "1" else f"{low}:{high}"

    def range(self, e: ir.Expr) -> None:
        """The name of the size of the loop whose index set this is."""
        match e:
            case ir.Apply(callee=ir.Callee(impl=batching.loop_range), args=(lower, upper)):
                size = self.span(lower, upper)
                (axis,) = axes_of(e.type)
                self.loops[axis] = size if self.loops.get(axis, size) == size else None

    def own(self, e: ir.Expr) -> AxisNames:
        """The names of a value's own axes, of a variable read whole or in part; else none is known."""
        match e:
            case ir.Index(items=(ir.Between(lower=lower, upper=upper),)) if lower and upper:
                return (self.span(lower, upper),) if rank(e.type) == 1 else (None,) * rank(e.type)
        axes, own = len(axes_of(e.type)), rank(entry(e.type)) if not isinstance(core(e.type), Tuple) else 0
        found = self.axes.get(e.name, ()) if isinstance(e, ir.Var) else ()
        return found[axes:] if len(found) == axes + own else (None,) * own

    # --- Expressions -----------------------------------------------------------------------------

    def expressions(self, part: Any) -> None:
        for n in walk(part):
            if isinstance(n, EXPRESSIONS):
                self.expression(n)

    def expression(self, e: Any) -> None:
        """One node, whose operands are looked at by themselves."""
        match e:
            case ir.Var(name=name):
                self.variable(name, axes_of(e.type))
            case ir.Gather(base=base, picks=picks, items=items):
                require_same(
                    axes_of(e.type), axes_of_entries(axes_of(base.type), picks, items), f"`{expr(e)}`"
                )
            case ir.Apply(callee=callee) if callee.batch != "whole":
                found = ir.union(*(axes_of(a.type) for a in e.args))
                require = require_within if callee.reduce else require_same
                require(axes_of(e.type), found, f"`{callee.name}`")
            case ir.Apply() | ir.Const() | ir.TargetSoFar():
                pass
            case _:
                found = ir.union(*(axes_of(operand.type) for operand in operands(e)))
                require_same(axes_of(e.type), found, f"`{expr(e)}`")

    def variable(self, name: str, axes: Sequence[str]) -> None:
        for axis, known in zip(axes, self.axes.get(name, ()), strict=False):
            if known is not None and self.named(axis) not in (self.named(known), None):
                raise OtherAxes(f"`{name}` is read along {axis}, but has an entry for each of {known}")

    def named(self, axis: str) -> str | None:
        """The name of as many entries as a loop has iterations."""
        axis = axis.rstrip("'")
        return self.loops.get(axis, axis if axis.isidentifier() or axis.isdigit() else None)


def operands(e: Any) -> Iterator[ir.Expr]:
    """The expressions that a node, or an index, is made of."""
    for part in parts_of(e):
        if isinstance(part, EXPRESSIONS):
            yield part
        else:
            yield from operands(part)


def axes_of_entries(
    axes: Sequence[str], picks: Sequence[ir.Expr | None], items: Sequence[ir.IndexItem]
) -> tuple[str, ...]:
    """The axes of entries of what has these: those taken at the place itself, and those of the indices."""
    if len(picks) != len(axes):
        raise OtherAxes(f"there are {len(picks)} positions for the axes {', '.join(axes) or 'of nothing'}")
    whole_axes = tuple(axis for axis, at in zip(axes, picks, strict=True) if at is None)
    at = [pick for pick in picks if pick is not None] + [i.index for i in items if isinstance(i, ir.At)]
    return ir.union(whole_axes, *(axes_of(index.type) for index in at))


def require_same(here: Sequence[str], there: Sequence[str], what: str) -> None:
    require_within(here, there, what)
    if len(here) != len(there):
        raise other_axes(here, there, what)


def require_within(here: Sequence[str], there: Sequence[str], what: str) -> None:
    if not {*here} <= {*there}:
        raise other_axes(here, there, what)


def other_axes(here: Sequence[str], there: Sequence[str], what: str) -> OtherAxes:
    return OtherAxes(f"{what} is along {axes_text(here)}, but what it is made of along {axes_text(there)}")


def axes_text(axes: Sequence[str]) -> str:
    return ", ".join(axes) or "nothing"


def agreed(a: AxisNames, b: AxisNames) -> AxisNames:
    """What is known either way."""
    if len(a) != len(b):
        return ()
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def check_axes(p: ir.Program) -> None:
    """Check a program after any pass.

    Raises:
        OtherAxes: a node has other axes than its operands, or a variable is read along another loop than its
            entries are of.
    """
    for f in p.functions:
        Known(changing_names(f.body) | {*f.args}).block(f.body)
    everything = (
        *p.transformed_data,
        *p.prepared,
        *p.transformed_parameters,
        *p.model,
        *p.generated_quantities,
    )
    c = Known(changing_names(everything))
    declare(c, p.data)
    c.block(p.transformed_data)
    declare(c, p.transformed_data_names)
    c.block(p.prepared)
    for name in prepared_names(p) & {n for n, axes in c.axes.items() if not axes}:
        c.axes.pop(name)
    declare(c, p.parameters)
    c.block(p.transformed_parameters)
    c.copy().block(p.model)
    c.block(p.generated_quantities)


def declare(c: Known, names: Sequence[ir.Declared]) -> None:
    for d in names:
        if not d.items:
            c.axes[d.name] = (*axes_of(d.type), *map(c.size, d.dims), *map(c.size, d.sizes))
