"""A set of loop iterations along the axes of their loops, and the state of an attempt to run them at once."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.printer import expr
from ppl.kernel.ir.walk import Fresh, fresh_names
from ppl.records import dataclass, field
from ppl.source import Span
from ppl.stdlib import batching
from ppl.stdlib.record import Impl, LeadingAxis
from ppl.types import INT, Type, axes_of, element_type, entry, over_axes


class Dependent(Exception):
    """The iterations cannot run at once; the message says why.

    The caller falls back: an inner loop remains a loop in Python (iterations.inner_loop), an outermost one is
    tried in another way (Vectorise.loop), a function is called for each entry (lift.call_over_axis), a
    statement runs for each draw (draws_variables.statement).
    """


class OneAxis(Exception):
    """Code for iterations along one axis was called for a rectangle, which has several.

    iterations.inner_loop then tries all pairs along one axis; elsewhere this is handled as Dependent.
    """


@dataclass
class Batch:
    """Iterations along one axis, or those of a nest that is a rectangle along an axis for each of its loops.

    `indices` has an int array along each axis, the outermost first; `variables` the values of each loop
    variable, `locals` the axes of variables that are declared inside.  `positions` are those of its entries
    along the axes that only `parent` has, and along those that `parent` has positions for.
    """

    indices: Mapping[str, ir.Var]
    variables: dict[str, ir.Var]
    locals: dict[str, tuple[str, ...]] = field(default_factory=dict)
    parent: "Batch | None" = None
    positions: Mapping[str, ir.Var] = field(default_factory=dict)
    triangular: frozenset[frozenset[str]] = frozenset()
    """Pairs of loop variables of which one is always the smaller, or never the greater."""
    ranges: frozenset[ir.Between] = frozenset()
    """Ranges of indices that are of one size in all entries of the batch."""
    segments: frozenset[ir.Between] = frozenset()
    """Those of `ranges` that, where they are written to, have no entry in common (see `ragged`)."""
    sizes: Mapping[ir.Expr, ir.Var] = field(default_factory=dict)
    """Ints that are the same in all entries of the batch, each with the variable that has its value."""
    mask: ir.Var | None = None
    """Which entries of the parent take a branch; the others have the values of the first that does."""
    draws: str = ""
    """The axis of the draws, or of a subset of them; empty if there is none."""

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that its values may vary over."""
        return tuple(self.indices)

    @property
    def axes_around(self) -> tuple[str, ...]:
        """Its axes and those of all batches around it, also where it is a subset along them."""
        return (*self.axes, *(self.parent.axes_around if self.parent else ()))

    @property
    def loops(self) -> tuple[str, ...]:
        """Its axes, except that of the draws."""
        return tuple(axis for axis in self.indices if axis != self.draws)

    @property
    def axis(self) -> str:
        """Its only axis, except that of the draws.

        Raises:
            OneAxis: it has several.
        """
        if len(self.loops) > 1:
            raise OneAxis
        return self.axes[-1]

    @property
    def index(self) -> ir.Var:
        """An array along its only axis; raises OneAxis as `axis` does."""
        return self.indices[self.axis]

    @property
    def own_axes(self) -> tuple[str, ...]:
        """Those that the parent lacks."""
        return tuple(axis for axis in self.indices if self.parent is None or axis not in self.parent.indices)

    def counts(self, axes: Sequence[str]) -> tuple[ir.Expr, ...]:
        """How many entries it has along each of these axes."""
        return tuple(count_of(self.indices[axis]) for axis in axes)

    @property
    def may_be_empty(self) -> bool:
        """Whether it is the subset of another batch that takes a branch; it may have no entries."""
        return self.parent is not None and len(self.variables) == len(self.parent.variables)

    @property
    def is_root(self) -> bool:
        """Whether it is the batch of all draws, outside of all loops that became arrays."""
        return self.parent is None and bool(self.draws)

    def over(self, *es: ir.Expr) -> tuple[str, ...]:
        """The axes that several values vary over together, in order."""
        axes = {axis for e in es for axis in axes_of(e.type)}
        return tuple(axis for axis in self.indices if axis in axes)

    def common(self, e: ir.Expr) -> ir.Var | None:
        """The value of an int that all entries have in common."""
        if e in self.sizes:
            return self.sizes[e]
        return self.parent.common(e) if self.parent else None

    def owner(self, name: str) -> "Batch | None":
        """The batch that a local is declared in."""
        if name in self.locals:
            return self
        return self.parent.owner(name) if self.parent else None

    def own_places(self, owner: "Batch | None") -> list[str]:
        """The loop variables that tell apart entries which share a place in the owner."""
        return [v for v in self.variables if owner is None or v not in owner.variables]

    def numbers(self, items: Sequence[ir.IndexItem]) -> bool:
        """Whether an entry is numbered by loop variables, each of its axes by one or by a constant."""
        variables = {ir.Var(v, INT) for v in self.variables}
        indices = [i.index if isinstance(i, ir.At) else None for i in items]
        return all(isinstance(i, ir.Const) or i in variables for i in indices)

    @property
    def is_masked(self) -> bool:
        """Whether some of its entries, or of those around it, do not count."""
        return self.mask is not None or (self.parent is not None and self.parent.is_masked)

    @property
    def without_masks(self) -> "Batch":
        """The outer batch with the same entries, all of which count."""
        return self.parent.without_masks if self.parent and self.mask is not None else self

    def is_aligned(self, owner: "Batch | None") -> bool:
        """Whether its entries are those of an outer batch, by masks alone."""
        if self is owner or self.mask is None or self.parent is None:
            return self is owner
        return self.parent.is_aligned(owner)


Entry = tuple[str, tuple[ir.IndexItem, ...]]


@dataclass(frozen=True)
class Write:
    """The indices at which a loop sets a variable, () for the whole, and the variables of loops around."""

    items: tuple[ir.IndexItem, ...]
    loops: frozenset[str]


@dataclass(frozen=True)
class LiftOptions:
    """How loops may become arrays.

    Branches on `unknown` variables, which may differ from point to point, get masks; None gives index sets.
    Random numbers may be drawn in `any_order`; entries may be grouped `by_size`. `fresh` makes names.
    """

    fresh: Fresh = field(default_factory=fresh_names)
    unknown: Collection[str] | None = None
    any_order: bool = False
    by_size: bool = False
    scan: "Callable[[Lifting, Batch, ir.For], ir.Stmts | None] | None" = None
    """An inner loop as a scan, or None if it is no recurrence."""


class LiftedFunctions(Protocol):
    """The functions that are called with what varies; see passes/draws_axis.py."""

    parts: list[Span]
    vectorise: Any  # a Vectorise, which imports this module

    def over(self, name: str, mask: tuple[bool, ...]) -> str: ...
    def note(self, span: Span, reason: str) -> None: ...


@dataclass
class DrawAxis:
    """The context of lifting over many draws, or over many calls of a function.

    `root` is the batch of all of them, `varying` are the variables that may differ from one to the next.
    """

    root: Batch
    varying: set[str]
    functions: "LiftedFunctions"
    types: Mapping[str, Type]
    """Those of variables, for one draw."""
    loop: "Callable[[Lifting, Batch, ir.For], None]"
    """Lifts an outermost loop."""


@dataclass
class Lifting:
    """One attempt: statements made so far, fresh names, and how outer variables are written to.

    `fails_if_empty` when what was made may fail on a batch without entries: it calls a function once an
    entry, or picks out something that no iteration would have looked at.
    """

    span: Span
    options: LiftOptions
    out: list[ir.Stmt] = field(default_factory=list)
    writes: dict[str, list[Write]] = field(default_factory=dict)
    fails_if_empty: bool = False
    once: frozenset[str] = frozenset()
    """Locals that are set where they are declared and never again."""
    reads: frozenset[Entry] = frozenset()
    """Entries of variables that the loop reads, as they are written."""
    sums: frozenset[str] = frozenset()
    """Outer variables that the innermost loop only adds to."""
    stored: dict[Entry, tuple[Batch, ir.Expr]] = field(default_factory=dict)
    """Entries that the statements run so far have set, with the batch and its value in it.

    Valid for that batch until the variable, or one in an index of the entry, is set: `forget_entries`.
    """
    moving: Mapping[str, Batch] = field(default_factory=dict)
    """Variables that remaining loops set, their loop variables included, with the batch around the loop."""
    draws: "DrawAxis | None" = None
    outside: "Lifting | None" = None
    """The attempt with the loops around, where this one is of a recurrence inside them."""
    bounds: bool = False
    """Whether these are the bounds of a parameter, which stand before any statement."""

    def fresh(self, hint: str) -> str:
        return self.options.fresh(hint)

    def name(self, hint: str, value: ir.Expr) -> ir.Var:
        """A new variable with this value."""
        variable = ir.Var(self.fresh(hint), value.type)
        self.out.append(ir.Assign(variable.name, value, self.span, declares=True))
        return variable

    def local(self, b: Batch, hint: str, value: ir.Expr) -> ir.Var:
        """The same for statements of a batch that are lifted after it to read."""
        variable = self.name(hint, value)
        b.locals[variable.name] = axes_of(value.type)
        return variable

    def index_set(self, hint: str, impl: Impl, args: Sequence[ir.Expr], axis: str = "") -> ir.Var:
        """A new variable with an index set, which names an axis: itself, or as given."""
        name = self.fresh(hint)
        variable = ir.Var(name, over_axes(INT, axis or name))
        self.out.append(ir.Assign(name, helper(impl, args, variable.type), self.span, declares=True))
        return variable

    def positions(
        self, impl: Impl, args: Sequence[ir.Expr], axes: Sequence[str], name: str = ""
    ) -> dict[str, ir.Var]:
        """The value of a function along each of several axes, one index set for all of them."""
        at = self.index_set("at", impl, args, name)
        within, (name,) = {axes[0]: at}, axes_of(at.type)
        for k, axis in enumerate(axes[1:], 1):
            within[axis] = self.index_set("at", impl, (*args, ir.Const(k, INT)), name)
        return within

    def aside(self, work: Callable[[], None]) -> ir.Stmts:
        """The statements that `work` makes, not appended to `out`."""
        before, self.out, stored = self.out, [], dict(self.stored)
        try:
            work()
            return tuple(self.out)
        finally:
            self.out = before
            self.stored = {entry: v for entry, v in stored.items() if self.stored.get(entry) is v}

    @contextmanager
    def undone_on_failure(self, b: Batch) -> Iterator[None]:
        """Restore the state of the attempt if the body raises."""
        length = len(self.out)
        before = dict(b.locals), self.writes, self.sums, dict(self.stored), self.fails_if_empty
        try:
            yield
        except Exception:
            del self.out[length:]
            b.locals, self.writes, self.sums, self.stored, self.fails_if_empty = before
            raise

    def unless_empty(self, b: Batch, work: Callable[[], None]) -> None:
        """Append the statements that `work` makes, under a condition if they may fail on an empty batch."""
        outer, self.fails_if_empty = self.fails_if_empty, False
        work_ = self.aside(work)
        if b.mask is not None and work_:
            work_ = (ir.If(helper(batching.any_of, (b.mask,), INT), work_, (), self.span),)
        elif self.fails_if_empty:
            work_ = (ir.If(b.counts(b.own_axes)[-1], work_, (), self.span),)
        self.out += work_
        self.fails_if_empty = outer or (self.fails_if_empty and b.axes != b.own_axes)


def axis_of_range(lower: ir.Expr, upper: ir.Expr, outer: Sequence[str] = ()) -> str:
    """The axis of a loop over a range: loops over the same range share it, unless one is inside the other."""
    name = expr(upper) if lower == ir.Const(1, INT) else f"{expr(lower)}:{expr(upper)}"
    while name in outer:
        name += "'"
    return name


def any_axes(*es: ir.Expr) -> bool:
    """Whether one of several values varies along an axis."""
    return any(axes_of(e.type) for e in es)


def first_entry(value: ir.Expr, t: Type) -> ir.Gather:
    """The value of type `t` at the first place along the other axes."""
    first = ir.Const(1, INT)
    return ir.Gather(value, tuple(None if a in axes_of(t) else first for a in axes_of(value.type)), (), t)


def count_of(index: ir.Expr) -> ir.Expr:
    """How many entries there are along the axis of an index set."""
    return helper(batching.batch_size, (index,), INT)


def helper(impl: Impl, args: Sequence[ir.Expr], t: Type, batch: LeadingAxis = "whole") -> ir.Apply:
    """A call of stdlib/batching."""
    return ir.Apply(ir.Callee(impl.__name__, impl, batch), tuple(args), t)


def repeat_over_axis(e: ir.Expr, index: ir.Expr, axes: Sequence[str] = ()) -> ir.Apply:
    """A value that is the same along the axis of an index set, once for each place; `axes` in this order."""
    impl = batching.spread_ints if element_type(e.type) == INT else batching.spread
    t = over_axes(entry(e.type), *axes) if axes else over_axes(e.type, *axes_of(index.type))
    return helper(impl, (e, index), t)


def spread_over(value: ir.Expr, axes: Sequence[str], indices: Mapping[str, ir.Expr]) -> ir.Expr:
    """A value once for each place along these axes, in this order; `indices` has those that it lacks."""
    have = {*axes_of(value.type)}
    for axis in axes:
        if axis not in have:
            have.add(axis)
            value = repeat_over_axis(value, indices[axis], [a for a in axes if a in have])
    return value
