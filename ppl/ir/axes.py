"""The axes of values by name: values that meet over the iterations of loops are laid out along the same.

An axis is named by the size it was declared with or by the index set it runs over, so that two of one length
are told apart, as by the named dimensions of funsor or the index sets of Dex.  Where a name is not known,
nothing is said.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ppl.ir import nodes as ir
from ppl.ir.walk import PART_NAMES, assigned_names, changing_names, is_node, prepared_names
from ppl.stdlib import batching, over_draws
from ppl.stdlib.functions.sizes import cols, count, length, rows
from ppl.stdlib.record import Impl
from ppl.types import Tuple, core, rank

Axis = str | None
"""Its name, or None where that is not known."""
Axes = tuple[Axis, ...]
"""Those of a value, the outermost first."""

ONE = "1"
"""An axis of length 1, which meets any other."""
DRAW = "draw__"


SIZES: Mapping[Impl, int] = {batching.batch_size: 0, length: 0, count: 0, rows: -2, cols: -1}
"""The axis that a function says the size of; `count` of a value with one axis alone."""


class OtherAxes(Exception):
    """Two values meet that are laid out along different axes; the message says which."""


@dataclass
class Names:
    """What is known of the variables so far: their axes, and the names of the sizes that are variables.

    `changing` are variables with more than one value, whose name as a size says nothing.
    """

    changing: frozenset[str] = frozenset()
    axes: dict[str, Axes] = field(default_factory=dict)
    sizes: dict[str, Axis] = field(default_factory=dict)

    def copy(self) -> "Names":
        return Names(self.changing, dict(self.axes), dict(self.sizes))

    # --- Statements ------------------------------------------------------------------------------

    def block(self, body: Sequence[ir.Stmt]) -> None:
        for s in body:
            try:
                self.statement(s)
            except OtherAxes as why:
                raise why if "\n" in str(why) else OtherAxes(f"{s.span.describe()}\n{why}") from None

    def statement(self, s: ir.Stmt) -> None:
        match s:
            case ir.Assign(name=name, value=value):
                found = self.of(value)
                known = name in self.axes and not s.declares
                self.axes[name] = agreed(self.axes[name], found) if known else found
                self.sizes[name] = None if name in self.changing else self.size(value)
            case ir.Declare(name=name, shape=tuple() as shape):
                self.axes[name] = tuple(map(self.size, shape))
            case ir.Scatter(items=items, value=value, lifted=lifted):
                batch = together([self.of_item(i)[:1] for i, m in zip(items, lifted, strict=True) if m])
                draws = int(s.value_draws or (s.by_draw and s.draws))
                if batch and len(self.of(value)) > draws:
                    together([batch, self.of(value)[draws : draws + 1]])
            case ir.For(body=body) | ir.While(body=body) | ir.Profile(body=body):
                self.parts(s, but="body")
                self.aside(body)
            case ir.If(then=then, otherwise=otherwise):
                self.of(s.condition)
                self.aside(then)
                self.aside(otherwise)
            case ir.Scan():
                self.scan(s)
            case _:
                self.parts(s)

    def aside(self, body: Sequence[ir.Stmt]) -> None:
        """Statements that may not be run; afterwards nothing is known of what they set."""
        inner = self.copy()
        inner.block(body)
        for name in assigned_names(body):
            self.axes[name] = agreed(self.axes[name], inner.axes.get(name, ())) if name in self.axes else ()
            self.sizes[name] = None

    def scan(self, s: ir.Scan) -> None:
        """All entries are laid out along the steps."""
        lifted = s.lifted or (False,) * len(s.entries)
        entries = [(self.of(e), int(m)) for e, m in zip(s.entries, lifted, strict=True)]
        together([axes[m : m + 1] for axes, m in entries if axes])
        for name in s.after:
            self.axes[name] = ()

    def parts(self, node: Any, but: str = "") -> None:
        for name in PART_NAMES[type(node)]:
            if name != but:
                self.inside(getattr(node, name))

    def inside(self, part: Any) -> None:
        if isinstance(part, tuple):
            for each in part:
                self.inside(each)
        elif is_node(part):
            self.of(part)

    # --- Sizes -----------------------------------------------------------------------------------

    def size(self, e: ir.Expr | ir.Shape) -> Axis:
        """The name of an axis with as many entries."""
        match e:
            case ir.Const(value=int() as value):
                return str(value)
            case ir.Var(name=name) if name not in self.changing:
                return self.sizes.get(name) or name
            case ir.Apply(callee=callee, args=(whole,)) if callee.impl in SIZES:
                axes = self.of(whole)
                return axes[SIZES[callee.impl]] if axes and not (callee.impl is count and axes[1:]) else None
            case _:
                return None

    def span(self, lower: ir.Expr | None, upper: ir.Expr | None) -> Axis:
        """The name of the index set lower, ..., upper."""
        low = ONE if lower is None else self.size(lower)
        high = None if upper is None else self.size(upper)
        if low is None or high is None:
            return None
        return high if low == ONE else f"{low}:{high}"

    # --- Expressions -----------------------------------------------------------------------------

    def of(self, e: Any) -> Axes:
        """The axes of a value; () where they are not known.

        Raises:
            OtherAxes: arguments of a call inside are not laid out along the same loops.
        """
        match e:
            case ir.Var(name=name, type=t):
                return fitting(self.axes.get(name, ()), t)
            case ir.Promote(value=value):
                return self.of(value)
            case ir.Apply(callee=callee, args=args):
                found = [self.of(a) for a in args]
                if callee.impl in HELPERS and callee.batch == "none":
                    return HELPERS[callee.impl](self, e, found)
                if e.lifted:
                    return self.lifted(e, found)
                return self.whole(e, found)
            case ir.CallUser(args=args) if e.lifted:
                return together([self.of(a)[:1] for a, m in zip(args, e.lifted, strict=True) if m])
            case ir.Index(base=base, items=items):
                self.parts(e)
                return self.picked(self.of(base), items, (False,) * len(items))
            case ir.Gather():
                return self.gathered(e)
            case _:
                if is_node(e):
                    self.parts(e)
                return ()

    def lifted(self, e: ir.Apply, found: Sequence[Axes]) -> Axes:
        """A call over the iterations of loops: their axes meet from the right, as the type has it."""
        axes = [a[:over] for a, over in zip(found, e.lifted, strict=True) if over and len(a) >= over]
        try:
            batch = together(axes)
        except OtherAxes as why:
            raise OtherAxes(f"`{e.callee.name}`: {why}") from None
        if len(axes) < sum(map(bool, e.lifted)):
            return ()
        if e.callee.batch != "elementwise" or e.callee.reduce:
            return batch
        own = [a[over:] for a, over in zip(found, e.lifted, strict=True)]
        return batch + max(own, key=len, default=())

    def whole(self, e: ir.Apply, found: Sequence[Axes]) -> Axes:
        """A call of whole values: the language checks their sizes when it is made."""
        if e.callee.batch != "elementwise" or e.callee.reduce:
            return ()
        return max(found, key=len, default=()) if rank(e.type) else ()

    def of_item(self, item: ir.IndexItem) -> Axes:
        return self.of(item.index) if isinstance(item, ir.At) else ()

    def gathered(self, e: ir.Gather) -> Axes:
        self.parts(e)
        base = self.of(e.base)
        if e.by_draw or not base:
            return ()
        draws, base = (base[:1], base[1:]) if e.draws else ((), base)
        batch = (base[:1],) if e.base_lifted else ()
        own = base[1:] if e.base_lifted else base
        lifted = [self.of_item(i)[:1] for i, m in zip(e.items, e.lifted, strict=True) if m]
        axes = together([*batch, *lifted])
        if any(e.lifted) and not axes:
            return ()
        return draws + axes + self.picked(own, e.items, e.lifted)

    def picked(self, base: Axes, items: Sequence[ir.IndexItem], lifted: Sequence[bool]) -> Axes:
        """The axes that are left of a value after indexing, those of lifted indices aside."""
        if len(base) < len(items):
            return ()
        out: list[Axis] = []
        for name, item, over in zip(base, items, lifted, strict=False):
            match item:
                case ir.Between(lower=lower, upper=upper):
                    whole = lower is None and upper is None
                    out.append(name if whole else self.span(lower, upper))
                case ir.At(index=index) if rank(index.type) > int(over):
                    out.append(None if over else first(self.of(index)))
        return (*out, *base[len(items) :])


def together(axes: Sequence[Axes]) -> Axes:
    """The axes that several meet in, from the right.

    Raises:
        OtherAxes: two at one place have different names.
    """
    out: list[Axis] = []
    for k in range(max(map(len, axes), default=0)):
        names = {a[-1 - k] for a in axes if len(a) > k} - {ONE}
        known = sorted(n for n in names if n is not None)
        if len(known) > 1:
            raise OtherAxes(f"an axis is {known[0]} here and {known[1]} there")
        out.insert(0, known[0] if known else None if names else ONE)
    return tuple(out)


def first(axes: Axes) -> Axis:
    return axes[0] if axes else None


def fitting(axes: Axes, t: Any) -> Axes:
    """The axes, if they are as many as the type has."""
    return axes if not isinstance(core(t), Tuple) and len(axes) == rank(t) else ()


def agreed(a: Axes, b: Axes) -> Axes:
    """What is known either way."""
    if len(a) != len(b):
        return ()
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


# --- What loops become ---------------------------------------------------------------------------

Rule = Callable[[Names, ir.Apply, Sequence[Axes]], Axes]


def pair(outer: Axis, inner: Axis) -> Axis:
    """The name of the flat axis of all pairs."""
    return None if outer is None or inner is None else f"({outer}, {inner})"


def of_range(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    lower, upper = e.args
    return (c.span(lower, upper),)


def of_set(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    """Where a test holds: named by the test, if that is a variable."""
    names = [a.name for a in e.args if isinstance(a, ir.Var)]
    known = len(names) == len(e.args) and not c.changing & {*names}
    return (f"{e.callee.name}({', '.join(names)})" if known else None,)


def of_pairs(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    return (pair(first(found[0]), c.span(e.args[1], e.args[2])),)


def of_rectangle(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    rows, columns = map(c.size, e.args[1:])
    flat = first(found[0])
    together = pair(rows, columns)
    if flat is not None and together is not None and flat.startswith("(") and flat != together:
        raise OtherAxes(f"pairs {flat} are laid out along {together}")
    return (rows, columns, *found[0][1:])


def of_row_by_row(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    (axes,) = found
    return (None if ONE in axes[:2] else pair(*axes[:2]), *axes[2:]) if len(axes) > 1 else ()


def of_tile(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    values, batch = found
    return (pair(first(batch), first(values)), *values[1:]) if values else ()


def of_expand(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    (axes,) = found
    return (axes[0], ONE, *axes[1:]) if axes else ()


def of_spread(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    value, batch = found
    return fitting((first(batch), *value), e.type)


def of_positions(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    return found[0][:1]


def less_second(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    return found[0][:1] + found[0][2:]


def with_draws(rule: Rule) -> Rule:
    """The rule for a value that has the axis of the draws before the others."""

    def of_draws(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
        value, *others = found
        return value[:1] + rule(c, e, [value[1:], *others]) if value else ()

    return of_draws


def unknown(c: Names, e: ir.Apply, found: Sequence[Axes]) -> Axes:
    return ()


HELPERS: Mapping[Impl, Rule] = {
    **{
        impl: unknown
        for module in (batching, over_draws)
        for impl in vars(module).values()
        if callable(impl) and getattr(impl, "__module__", "") == module.__name__
    },
    batching.loop_range: of_range,
    batching.where_true: of_set,
    batching.where_false: of_set,
    batching.positions: of_positions,
    batching.nested_positions: of_pairs,
    batching.nested_range: of_pairs,
    batching.rectangle: of_rectangle,
    batching.row_by_row: of_row_by_row,
    batching.tile: of_tile,
    batching.expand: of_expand,
    batching.spread: of_spread,
    batching.spread_ints: of_spread,
    batching.sum_across: less_second,
    over_draws.rectangle: with_draws(of_rectangle),
    over_draws.row_by_row: with_draws(of_row_by_row),
    over_draws.tile: with_draws(of_tile),
    over_draws.expand: with_draws(of_expand),
    over_draws.spread: with_draws(of_spread),
    over_draws.spread_ints: with_draws(of_spread),
    over_draws.sum_across: with_draws(less_second),
}
"""The axes of what each helper of loops that became arrays returns."""


# --- Programs ------------------------------------------------------------------------------------


def check_axes(p: ir.Program, of_draws: bool = False) -> None:
    """Check a program after any pass; `of_draws`, after one that adds the axis of the draws.

    Raises:
        OtherAxes: values meet in a call that are laid out along different loops.
    """
    for f in p.functions:
        Names(changing_names(f.body) | {*f.args}).block(f.body)
    everything = (
        *p.transformed_data,
        *p.prepared,
        *p.transformed_parameters,
        *p.model,
        *p.generated_quantities,
    )
    c = Names(changing_names(everything))
    declare(c, p.data)
    c.block(p.transformed_data)
    declare(c, p.transformed_data_names)
    if of_draws:
        c.axes[DRAW] = (DRAW,)
    c.block(p.prepared)
    for name in prepared_names(p) & {n for n, axes in c.axes.items() if not axes}:
        c.axes.pop(name)
    declare(c, p.parameters, (DRAW,) if of_draws else ())
    c.block(p.transformed_parameters)
    c.copy().block(p.model)
    c.block(p.generated_quantities)


def declare(c: Names, names: Sequence[ir.Declared], before: Axes = ()) -> None:
    for d in names:
        if not d.items:
            sizes = (*map(c.size, d.dims), *map(c.size, d.sizes))
            c.axes[d.name] = (*before, *sizes) if len(sizes) == rank(d.type) else ()
