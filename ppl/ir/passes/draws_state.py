"""What is known while a program is laid out along the draws, which get a leading axis of their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ppl.ir import nodes as ir
from ppl.ir.draw_by_draw import DrawByDraw as DrawByDraw
from ppl.ir.passes.batch import Dependent, at_positions, helper, same_along
from ppl.ir.passes.zero_based import MINUS
from ppl.source import Span
from ppl.stdlib import batching, over_draws
from ppl.stdlib.functions.fills import rep_array
from ppl.stdlib.functions.table import TRANSPARENT
from ppl.stdlib.record import Impl
from ppl.types import INT, Array, Tuple, Type, along, array_of, axes_of, core, entry

Stmts = tuple[ir.Stmt, ...]

DRAW = ir.Var(ir.DRAW, along(INT, ir.DRAW))
"""The numbers of the draws, which the emitted functions are given."""
COUNT = helper(batching.batch_size, (DRAW,), INT)


Mask = tuple[bool, ...]
"""Which arguments of a function vary from draw to draw."""

SIZES = (TRANSPARENT - {rep_array}) | {batching.batch_size, batching.positions}
"""What looks at the shape of a value alone."""
INDEX_SETS = (batching.where_true, batching.where_false, batching.loop_range)
"""What finds an index set."""


def set_of_all(impl: Impl, args: Sequence[ir.Expr], t: Type) -> tuple[ir.Expr, ir.Expr]:
    """An index set that differs by draw: the entries of all draws, and the draw that each is of.

    Of a test that holds in a rectangle the last argument says along which of its axes.
    """
    if impl is batching.loop_range:
        bounds = (args[0], *args)
        return helper(batching.nested_range, bounds, t), helper(batching.nested_positions, bounds, t)
    axis = next((int(a.value) for a in args[1:] if isinstance(a, ir.Const)), 0)
    entries, draws = (helper(impl, (args[0], ir.Const(k, INT)), t) for k in (axis + 1, 0))
    return entries, draws


def over(t: Type, axis: str = ir.DRAW) -> Type:
    """The type of the values along the axis of the draws, or along an index set that differs by draw.

    Such a set has the entries of all draws one after the other, and stands for the axes of one draw.
    """
    return along(t, axis) if axis == ir.DRAW else along(entry(t), axis) if axis else t


def whose_var(whose: str) -> ir.Var:
    """The draw that each entry of such a set is of."""
    return ir.Var(whose, along(INT, whose))


@dataclass
class Functions:
    """The functions of a program, and those laid out along the draws, by which arguments vary.

    `parts` are the places where some draws go on without the others; `alone` what is called for one draw
    after the other, each with its reason.
    """

    plain: dict[str, ir.Function]
    lay_out: Callable[["Functions", ir.Function, Mask, Type | None], Stmts]
    """The body of a function whose arguments vary as the mask says, and whose answer is of some type."""
    laid_out: dict[tuple[str, Mask], ir.Function] = field(default_factory=dict)
    names: list[int] = field(default_factory=lambda: [0])
    parts: list[Span] = field(default_factory=list)
    alone: list[tuple[Span, str]] = field(default_factory=list)

    def over(self, name: str, mask: Mask, t: Type | None) -> str:
        """The name of the function for such arguments; its answer varies.

        Raises:
            Dependent: it cannot be laid out along the draws.
        """
        if (name, mask) not in self.laid_out:
            f = self.plain[name]
            new = replace(f, name=f"{name}{''.join('nd'[m] for m in mask)}__")
            self.laid_out[name, mask] = new  # found by calls of itself
            try:
                self.laid_out[name, mask] = replace(new, body=self.lay_out(self, f, mask, t))
            except Dependent:
                del self.laid_out[name, mask]
                raise
        return self.laid_out[name, mask].name

    def fresh(self, hint: str) -> str:
        self.names[0] += 1
        return f"{hint.strip('_')}_of_{self.names[0]}__"


Known = tuple[Any, ...]
"""Variables, those along index sets, types, functions, and how much has been made and noted so far."""


@dataclass
class Along:
    """One block along the draws: `varying` are the variables that have their axis, `out` what is made so far.

    `flat` are variables along an index set that differs by draw, each with the variable that says which draw
    an entry belongs to, which names the axis too.
    """

    functions: Functions
    varying: set[str]
    flat: dict[str, str] = field(default_factory=dict)
    out: list[ir.Stmt] = field(default_factory=list)
    span: Span | None = None
    types: dict[str, Type] = field(default_factory=dict)
    """Those of the value of one draw, of variables that are declared here or outside."""

    def axis(self, value: ir.Expr) -> str:
        """The axis by which what was lifted varies: of the draws, or such a set; "" where all share it."""
        first = next(iter(axes_of(value.type)), "")
        return first if first == ir.DRAW or self.flat.get(first) == first else ""

    def is_set(self, value: ir.Expr) -> bool:
        """Whether it varies along an index set that differs by draw."""
        return self.axis(value) not in ("", ir.DRAW)

    def name(self, hint: str, value: ir.Expr) -> ir.Var:
        """A new variable with this value."""
        made = ir.Var(self.functions.fresh(hint), value.type)
        if self.span is None:
            raise Dependent("the bounds of a parameter need statements of their own")
        self.out.append(ir.Assign(made.name, value, self.span, declares=True))
        return made

    def aside(self, work: Callable[[], None]) -> Stmts:
        """The statements that the work makes, taken aside."""
        outer, self.out = self.out, []
        try:
            work()
            return tuple(self.out)
        finally:
            self.out = outer

    def known(self) -> Known:
        """What is known so far, for `restore`."""
        made = self.functions
        counts = len(self.out), len(made.parts), len(made.alone)
        return set(self.varying), dict(self.flat), dict(self.types), dict(made.laid_out), counts

    def restore(self, known: Known) -> None:
        """As if nothing had been laid out since."""
        made = self.functions
        self.varying, self.flat, self.types, made.laid_out, (out, parts, alone) = known
        del self.out[out:], made.parts[parts:], made.alone[alone:]

    def note(self, reason: str) -> None:
        """Something is called for one draw after the other."""
        if self.span is not None:
            self.functions.alone.append((self.span, reason))


# --- Values --------------------------------------------------------------------------------------


def spread(value: ir.Expr) -> ir.Expr:
    """A value that all draws share, for each of them."""
    if isinstance(core(value.type), Tuple):
        return helper(over_draws.spread_all, (value, DRAW), over(value.type))
    return same_along(value, DRAW)


def picked(value: ir.Expr, whose: str) -> ir.Expr:
    """What may be the value of each draw for each entry of an index set."""
    of_each = axes_of(value.type)[:1] == (ir.DRAW,)
    return at_positions(value, less_one(whose_var(whose))) if of_each else value


def by_draw(value: ir.Expr, whose: str, t: Type) -> ir.Expr:
    """The sum over the entries of each draw."""
    return helper(over_draws.sum_by_draw, (value, whose_var(whose), DRAW), t)


def is_flat_size(c: Along, e: ir.Expr) -> bool:
    match e:
        case ir.Apply(callee=callee, args=(ir.Var(name=name),)) if callee.impl is batching.batch_size:
            return name in c.flat
    return False


def less_one(at: ir.Var) -> ir.Expr:
    """The positions counted from zero."""
    return ir.Apply(MINUS, (at, ir.Const(1, INT)), at.type)


def is_helper(callee: ir.Callee) -> bool:
    """Whether it is what a loop became, and no function of the language."""
    return callee.impl.__module__ == batching.__name__ and callee.batch == "whole"


# --- Parts and types -----------------------------------------------------------------------------


def any_tuple(args: Sequence[ir.Expr], mask: Mask) -> bool:
    """Whether a tuple is among the arguments that vary."""
    return any(m and isinstance(core(a.type), Tuple) for a, m in zip(args, mask, strict=True))


def part_of(e: ir.Expr, step: ir.Step) -> ir.Expr:
    """The part of a tuple, or the entry of an array of tuples, at one step of a path."""
    if isinstance(step, int):
        t = core(e.type)
        assert isinstance(t, Tuple)
        return ir.Item(e, step, t.items[step - 1])
    if not isinstance(e.type, Array) or len(step) > e.type.dims:
        raise Dependent("a part of a part is set")
    return ir.Index(e, step, array_of(e.type.element, e.type.dims - len(step)))


def one_step(path: Sequence[ir.Step]) -> tuple[ir.IndexItem, ...]:
    """x[i][j] as x[i, j]."""
    out: list[ir.IndexItem] = []
    for step in path:
        if isinstance(step, int):
            raise Dependent("a tuple is set in parts")
        if any(not isinstance(i, ir.At) or i.index.type != INT for i in out):
            raise Dependent("a part of a part is set")
        out += step
    return tuple(out)
