"""Expressions of a loop body, for every iteration of a batch at once.

Lifting rewrites an expression so that its value gets the batch's axis where it varies from one iteration to
the next, and leaves it alone where it does not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import nan
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import is_numbered_by, linear_index
from ppl.kernel.ir.varying import varies
from ppl.kernel.ir.walk import implicit_arguments_of, parts_of, used_names, walk
from ppl.optimise.passes.batch import (
    Batch,
    Dependent,
    Lifting,
    Write,
    any_axes,
    first_entry,
    helper,
    spread_over,
)
from ppl.stdlib import batching, over_draws, spans
from ppl.stdlib.functions.fills import TRANSPARENT, rep_array
from ppl.stdlib.functions.log_sums import log_sum_exp
from ppl.stdlib.functions.operators import OPERATORS
from ppl.stdlib.functions.sums import product, total
from ppl.stdlib.record import Impl, LeadingAxis
from ppl.types import (
    INT,
    REAL,
    ArrayType,
    Type,
    array_dims,
    axes_of,
    element_type,
    entry,
    indexed_type,
    is_complex,
    is_tuple,
    over_axes,
    rank,
)

SUMS = frozenset(OPERATORS[op].name for op in ("+", "-", "unary -"))
TIMES = OPERATORS["*"].name
REDUCTIONS: Mapping[Impl, Impl] = {
    total: spans.sums_of_spans,
    product: spans.products_of_spans,
    log_sum_exp: spans.log_sums_of_spans,
}
"""Functions of a list, by those of ranges that differ from entry to entry."""
DIVISIONS = frozenset(OPERATORS[op].name for op in ("/", "%/%", "%"))
SHARDS = "shards__"
LANES = "lanes__"
"""The axis of all entries along several axes, one after the other."""
Items = Sequence[ir.IndexItem]
Branches = Sequence[tuple[Impl, ir.Var, ir.Expr]]
"""Values, each with the test that decides where it is taken and the function that finds these entries."""


def lift(c: Lifting, b: Batch, e: ir.Expr) -> ir.Expr:
    """The expression for every entry of the batch: its type has the axis where it varies along it.

    Raises:
        Dependent: an iteration needs what another one computes, or the form is not known here.
    """
    common = None if isinstance(e, ir.Const) else b.common(e)
    if common is not None:
        return common
    match e:
        case ir.Const():
            return e
        case ir.Var():
            return lift_variable(c, b, e)
        case ir.Apply():
            return lift_apply(c, b, e)
        case ir.CallUser():
            return lift_user_call(c, b, e)
        case ir.Solve():
            return lift_solve(c, b, e)
        case ir.Logical():
            return lift_logical(c, b, e)
        case ir.Select():
            return lift_select(c, b, e)
        case ir.Index():
            return lift_index(c, b, e)
        case ir.MakeArray() | ir.MakeTuple():
            return lift_literal(c, b, e)
        case ir.Promote(value=value, type=t):
            value = lift(c, b, value)
            return replace(e, value=value, type=over_axes(t, *axes_of(value.type)))
        case ir.Item(base=base):
            base = lift(c, b, base)
            return replace(e, base=base, type=over_axes(e.type, *axes_of(base.type)))
        case ir.TargetSoFar() if b.is_root:
            return helper(over_draws.for_all, (e, b.indices[b.draws]), over_axes(REAL, b.draws))
        case ir.TargetSoFar() | ir.Gather():
            raise Dependent("target() is read inside the loop")


def require_draws(b: Batch, axes: tuple[str, ...], why: str) -> tuple[str, ...]:
    """The axes; raises Dependent if there is one besides that of the draws."""
    if not {*axes} <= {b.draws}:
        raise Dependent(why)
    return axes


def is_touched(b: Batch, name: str) -> bool:
    return name in b.variables or b.owner(name) is not None


def differs(b: Batch, n: Any) -> bool:
    """Whether a value may differ from entry to entry."""
    if not isinstance(n, tuple) and b.common(n) is not None:
        return False
    if isinstance(n, ir.Var):
        return is_touched(b, n.name)
    return any(differs(b, part) for part in parts_of(n))


def to_batch(c: Lifting, b: Batch, e: ir.Expr) -> ir.Expr:
    """The value of every iteration, varying or not; it may be the same for all draws."""
    return spread(b, lift(c, b, e), b.loops)


def axes_set(c: Lifting, b: Batch, e: ir.Expr) -> tuple[str, ...]:
    """The axes of a variable that is set more than once; not that of the draws if they share its value."""
    shared = c.draws is not None and not varies(e, c.draws.varying)
    return b.loops if shared else b.axes


def spread(b: Batch, value: ir.Expr, axes: Sequence[str]) -> ir.Expr:
    """The lifted value broadcast over these axes."""
    have = {*axes_of(value.type)}
    if have != {*axes} and is_tuple(value.type):
        (draws,) = require_draws(b, (*axes,), "a tuple is set inside the loop") or ("",)
        return helper(over_draws.spread_all, (value, b.indices[draws]), over_axes(value.type, draws))
    return spread_over(value, [a for a in b.axes if a in have or a in axes], b.indices)


# --- Variables -----------------------------------------------------------------------------------


def lift_variable(c: Lifting, b: Batch, e: ir.Var) -> ir.Expr:
    if e.name in b.variables:
        return b.variables[e.name]
    if e.name in c.writes:
        raise Dependent(f"`{e.name}` is read whole while the loop fills it")
    owner = b.owner(e.name)
    return e if owner is None else local(b, e, owner)


def local(b: Batch, e: ir.Var, owner: Batch) -> ir.Expr:
    """A local variable of this batch or an outer one, for every entry of this one."""
    return down(b, owner, ir.Var(e.name, over_axes(e.type, *owner.locals[e.name])), e.type)


def down(b: Batch, owner: Batch, whole: ir.Expr, t: Type) -> ir.Expr:
    """A value of an outer batch for every entry of this one."""
    if b.mask is not None and b is not owner:
        assert b.parent is not None
        value = down(b.parent, owner, whole, t)
        return fill_masked(b, value, t) if any_axes(value) else value
    return entries_at(b, whole, path_to(b, owner))


def entries_at(b: Batch, value: ir.Expr, positions: Mapping[str, ir.Expr]) -> ir.Expr:
    """The entries of a value at positions along some axes."""
    picks = tuple(positions.get(axis) for axis in axes_of(value.type))
    if not any(picks):
        return value
    if is_tuple(value.type):
        raise Dependent("a tuple is not an array, so some draws cannot be selected")
    axes_left = {axis for axis, at in zip(axes_of(value.type), picks, strict=True) if at is None}
    axes_left |= {axis for at in picks if at is not None for axis in axes_of(at.type)}
    return ir.Gather(value, picks, (), over_axes(entry(value.type), *(a for a in b.axes if a in axes_left)))


def path_to(b: Batch, owner: Batch) -> dict[str, ir.Expr]:
    """The positions of this batch's entries along those axes of an outer one that it has not."""
    if b is owner:
        return {}
    assert b.parent is not None
    outer = {axis: entries_at(b, at, b.positions) for axis, at in path_to(b.parent, owner).items()}
    return {**outer, **{axis: at for axis, at in b.positions.items() if axis in owner.axes}}


# --- Calls ---------------------------------------------------------------------------------------


def lift_apply(c: Lifting, b: Batch, e: ir.Apply) -> ir.Expr:
    if (span := reduced_span(e)) and span[1] not in b.ranges and differs(b, span[1]):
        return lift_reduction(c, b, e, *span)
    args = lift_arguments(c, b, e, "draws random numbers, or adds a Jacobian, in the order of the loop")
    if not any_axes(*args):
        c.fails_if_empty |= e.callee.batch == "none" and b.may_be_empty
        return replace(e, args=args)
    if e.callee.impl in TRANSPARENT and e.type == INT:
        c.fails_if_empty = True
        if is_tuple(e.args[0].type):  # the lists are the same for all draws
            return replace(e, args=args, callee=replace(e.callee, batch="whole"))
        return replace(e, args=(first_entry(args[0], e.args[0].type),))  # the size that all have
    refuse_ragged(e, args)
    axes = b.over(*args)
    if e.callee.impl is rep_array and axes == axes_of(args[0].type) == (b.draws,):
        return helper(over_draws.rep_array, args, over_axes(e.type, *axes))
    callee = replace(e.callee, batch=mode_of(b, e, args))
    c.fails_if_empty |= callee.batch == "none"
    if callee.batch == "none" and c.draws is not None:
        c.draws.functions.note(c.span, f"{callee.name} takes one draw at a time")
    if callee.batch == "none" and len(axes) > 1:
        return in_lanes(
            axes, b.indices, args, lambda lanes: replace(e, callee=callee, args=lanes, type=lane(e.type))
        )
    return replace(e, callee=callee, args=args, type=over_axes(e.type, *axes))


def lift_arguments(c: Lifting, b: Batch, e: ir.Apply | ir.CallUser, effect: str) -> tuple[ir.Expr, ...]:
    """The arguments of a call for all entries at once; Dependent where it has an effect, said in words.

    Random numbers may be drawn in any order, if they may at all; of the target there is one for each draw.
    """
    args, implicit = lift_all(c, b, e.args), implicit_arguments_of(e)
    if not all(c.options.any_order if each == "rng" else b.is_root for each in implicit):
        raise Dependent(f"`{name_of(e)}` {effect}")
    return one_of_each(args, b) if "rng" in implicit else args


def name_of(call: ir.Apply | ir.CallUser) -> str:
    """The name of a function as the program has it."""
    return call.callee.name if isinstance(call, ir.Apply) else call.name.rstrip("_")


def mode_of(b: Batch, e: ir.Apply, args: Sequence[ir.Expr]) -> LeadingAxis:
    """How a function takes its arguments along their axes."""
    batch, of_draws = e.callee.batch, b.over(*args) == (b.draws,)
    if of_draws:
        return "leading" if batch == "none" and e.callee.cores else batch
    if e.callee.reduce == "prod" and any(rank(a.type) for a in e.args):
        return "none"  # one product for each entry
    return "none" if batch == "leading" and not fits_leading(e, args) else batch


def in_lanes(
    axes: Sequence[str],
    indices: Mapping[str, ir.Expr],
    args: Sequence[ir.Expr],
    call: Callable[[tuple[ir.Expr, ...]], ir.Expr],
) -> ir.Expr:
    """A call along several axes as one along all their entries, one after the other."""
    count = ir.Const(len(axes), INT)
    lanes = tuple(
        helper(batching.in_one_axis, (spread_over(a, axes, indices), count), lane(entry(a.type)))
        if any_axes(a)
        else a
        for a in args
    )
    result = call(lanes)
    return helper(
        batching.in_axes, (result, *(indices[axis] for axis in axes)), over_axes(entry(result.type), *axes)
    )


def lane(t: Type) -> Type:
    """The type of one for each lane."""
    return over_axes(t, LANES)


def reduced_span(e: ir.Apply) -> tuple[ir.Index, ir.Between] | None:
    """The part x[..., lower:upper] that is summed, multiplied or log-sum-exponentiated, and its range."""
    whole = e.args[0] if e.callee.impl in REDUCTIONS else None
    if not isinstance(whole, ir.Index) or element_type(whole.type) != REAL:
        return None
    *before, span = whole.items
    plain = all(map(ir.drops_axis, before))
    if not plain or not isinstance(span, ir.Between) or rank(whole.base.type) > len(whole.items):
        return None
    return (whole, span) if span.is_closed else None


def lift_reduction(c: Lifting, b: Batch, e: ir.Apply, part: ir.Index, span: ir.Between) -> ir.Expr:
    """One value for each entry of the batch, over a range of its own."""
    base, rows = lift_base(c, b, part), part.items[:-1]
    at: list[ir.Expr] = [to_batch(c, b, i.index) for i in rows if isinstance(i, ir.At)]
    if b.draws in b.over(*at):  # a list of each draw
        of_each = indexed_type(part.base.type, (False,) * len(rows))
        base, at = lift(c, b, replace(part, items=rows, type=of_each)), []
    match base:
        case ir.Gather(base=whole, items=(), picks=(*some, n)) if n and axes_of(n.type) != (b.draws,):
            base, at = of_some_draws(b, whole, some) if any(some) else whole, [n, *at]
        case _ if b.axis in axes_of(base.type):
            at = [helper(batching.positions, (b.index,), b.index.type), *at]
    ends = tuple(to_batch(c, b, end) for end in span.ends)
    if b.draws in b.over(*ends, *at) or not b.loops:
        raise Dependent("a range of indices varies from one draw to the next")
    return helper(REDUCTIONS[e.callee.impl], (base, *ends, *at), over_axes(e.type, *b.over(base, b.index)))


def of_some_draws(b: Batch, whole: ir.Expr, picks: Sequence[ir.Expr | None]) -> ir.Expr:
    """The entries of a value along the draws and a loop that the picked draws have."""
    if [at and axes_of(at.type) for at in picks] != [(b.draws,)]:
        raise Dependent("a range of a list is taken of entries of several loops")
    axes = (b.draws, axes_of(whole.type)[-1])
    return ir.Gather(whole, (*picks, None), (), over_axes(entry(whole.type), *axes))


def fits_leading(e: ir.Apply, args: Sequence[ir.Expr]) -> bool:
    """Trailing axes are identified by rank only, so arrays and varying sizes need a call for each entry.

    A list is a list, array or not, where it is the only argument. Of a density the record says which axes are
    its own, and an int is no size.
    """
    if e.callee.family is not None or (len(e.args) == 1 and rank(e.args[0].type) == 1):
        return True
    return not any(array_dims(a.type) for a in e.args) and not some_size_varies(e, args)


def some_size_varies(e: ir.Apply | ir.CallUser, args: Sequence[ir.Expr]) -> bool:
    """Whether an int among the arguments, which may be a size, became one for each entry."""
    return any(a.type == INT and any_axes(lifted) for a, lifted in zip(e.args, args, strict=True))


def refuse_ragged(e: ir.Apply | ir.CallUser, args: Sequence[ir.Expr]) -> None:
    """A varying int may be a size, and results of different sizes do not stack."""
    elementwise = isinstance(e, ir.Apply) and e.callee.batch == "elementwise"
    if rank(e.type) > 0 and not elementwise and some_size_varies(e, args):
        raise Dependent(f"the result of `{name_of(e)}` may vary in size from one iteration to the next")


def lift_all(c: Lifting, b: Batch, es: Sequence[ir.Expr]) -> tuple[ir.Expr, ...]:
    return tuple(lift(c, b, e) for e in es)


def lift_user_call(c: Lifting, b: Batch, e: ir.CallUser) -> ir.Expr:
    """One call for all entries where the function can be lifted, else one for each of them."""
    args = lift_arguments(c, b, e, "changes the target or draws random numbers")
    if not any_axes(*args):
        c.fails_if_empty |= b.may_be_empty
        return replace(e, args=args)
    if e.batch == "shards":
        return lift_shards(c, b, e, args)
    if moves_tuples(e, args):
        require_draws(b, b.over(*args), f"`{name_of(e)}` takes or returns a tuple")
    axes = b.over(*args)
    if len(axes) > 1:
        if {*e.implicit} - {"rng"}:
            raise Dependent(f"`{name_of(e)}` is called once for each entry of each draw")
        return in_lanes(axes, b.indices, args, lambda lanes: call_over_axis(c, e, lanes, LANES))
    return call_over_axis(c, e, args, *axes)


def moves_tuples(e: ir.CallUser, args: Sequence[ir.Expr]) -> bool:
    """Whether what it returns, or an argument that varies, is a tuple."""
    return any(is_tuple(t) for t in (e.type, *(a.type for a in args if any_axes(a))))


def lift_shards(c: Lifting, b: Batch, e: ir.CallUser, args: Sequence[ir.Expr]) -> ir.Expr:
    """A call for each shard that some arguments are lists of (`map_rect`), of every draw."""
    draws = require_draws(b, b.over(*args), f"`{name_of(e)}` is called once for each shard")
    shared, first, *_ = args
    of_one = first_entry(first, entry(first.type)) if any_axes(first) else first
    count = helper(batching.batch_size, (of_one,), INT)
    shard = c.index_set("shard", batching.loop_range, (ir.Const(1, INT), count), SHARDS)
    shards = {**b.indices, SHARDS: shard}
    of_shard = (
        replace(a, type=over_axes(indexed_type(entry(a.type), (False,)), *axes_of(a.type), SHARDS))
        for a in args[1:]
    )
    one, axes = replace(e, batch="whole"), (*draws, SHARDS)
    each = in_lanes(axes, shards, (shared, *of_shard), lambda lanes: call_over_axis(c, one, lanes, LANES))
    return helper(over_draws.joined, (each,), over_axes(e.type, *draws))


def call_over_axis(c: Lifting, e: ir.CallUser, args: tuple[ir.Expr, ...], axis: str) -> ir.Expr:
    """The call for all entries along one axis."""
    mask = tuple(any_axes(a) for a in args)
    t = over_axes(e.type, axis)
    c.fails_if_empty = True  # one that calls itself would do so without end
    if c.draws is not None:
        try:
            return replace(e, name=c.draws.functions.over(e.name, mask), args=args, type=t)
        except Dependent as why:
            if {*e.implicit} - {"rng"} or moves_tuples(e, args):
                raise
            c.draws.functions.note(c.span, str(why))
    refuse_ragged(e, args)
    return replace(e, args=args, type=t, batch="none")


def lift_solve(c: Lifting, b: Batch, e: ir.Solve) -> ir.Expr:
    args, settings = lift_all(c, b, e.args), lift_all(c, b, e.settings)
    axes = b.over(*args, *settings)
    require_draws(b, axes, f"`{e.solver}` solves for one iteration at a time")
    return replace(e, args=args, settings=settings, type=over_axes(e.type, *axes))


def one_of_each(args: tuple[ir.Expr, ...], b: Batch) -> tuple[ir.Expr, ...]:
    """The arguments of a random draw, the first of which says how many are wanted.

    Raises:
        Dependent: there is no first argument that could get an axis.
    """
    if b.over(*args) == b.axes:
        return args
    if not args or is_tuple(args[0].type):
        raise Dependent("a random number function has no argument that gives the number of draws")
    return spread(b, args[0], b.axes), *args[1:]


def lift_literal(c: Lifting, b: Batch, e: ir.MakeArray | ir.MakeTuple) -> ir.Expr:
    items = lift_all(c, b, e.items)
    axes = b.over(*items)
    if is_tuple(e.type):
        require_draws(b, axes, "a tuple varies from one iteration to the next")
    return replace(e, items=tuple(spread(b, i, axes) for i in items), type=over_axes(e.type, *axes))


# --- Conditions ----------------------------------------------------------------------------------


def lift_logical(c: Lifting, b: Batch, e: ir.Logical) -> ir.Expr:
    left = lift(c, b, e.left)
    right, statements = lift_aside(c, b, e.right)
    if not any_axes(left, right):
        return replace(e, left=left, right=right)
    if may_fail(e.right):  # to be looked at only where the left side does not decide
        decided, undecided = (0, batching.where_true) if e.op == "and" else (1, batching.where_false)
        test = c.name("test", spread(b, left, axes_of(left.type) or b.axes))
        sides = [(undecided, test, truth(e.right))]
        return in_branches(c, b, e, ir.Const(decided, INT), sides, has_mask(c, b, e.left))
    c.out += statements
    impl = batching.both if e.op == "and" else batching.either
    return helper(impl, (left, right), over_axes(INT, *b.over(left, right)), "elementwise")


def truth(e: ir.Expr) -> ir.Expr:
    """1 or 0."""
    return ir.Logical("or", e, ir.Const(0, INT), INT)


def may_fail(e: ir.Expr) -> bool:
    """Whether it may be wrong to evaluate: an index may be out of range, a divisor 0, a call rejected."""
    return any(
        isinstance(n, ir.Index | ir.CallUser | ir.Solve)
        or (isinstance(n, ir.Apply) and n.callee.batch != "elementwise")
        or (isinstance(n, ir.Apply) and n.callee.name in DIVISIONS and element_type(n.type) == INT)
        for n in walk(e)
    )


def lift_aside(c: Lifting, b: Batch, e: ir.Expr) -> tuple[ir.Expr, ir.Stmts]:
    """The lifted value, and the statements that lifting makes on the way."""
    values: list[ir.Expr] = []
    statements = c.aside(lambda: values.append(lift(c, b, e)))
    return values[0], statements


def lift_select(c: Lifting, b: Batch, e: ir.Select) -> ir.Expr:
    """A ternary is an assignment in two branches, each run for its own entries.

    It stays one expression where its condition is the same for all entries, where evaluating both sides does
    no harm, and in the bounds of a parameter, before any statement.
    """
    condition = lift(c, b, e.condition)
    if not any_axes(condition):
        return select_shared(c, b, replace(e, condition=condition))
    masked = has_mask(c, b, e.condition)
    if masked and is_linear(e.then) and is_linear(e.otherwise):
        sides = tuple(to_batch(c, b, side) for side in (e.then, e.condition, e.otherwise))
        return helper(batching.only, sides, over_axes(e.type, *b.axes), "elementwise")
    if c.bounds:  # of a parameter, before any statement
        if may_fail(e.then) or may_fail(e.otherwise):
            raise Dependent("the bounds of a parameter are not one expression")
        args = (condition, *(spread(b, lift(c, b, side), b.axes) for side in (e.then, e.otherwise)))
        return helper(over_draws.chosen, args, over_axes(e.type, *b.axes))
    test = c.name("test", condition)
    branches = [(batching.where_true, test, e.then), (batching.where_false, test, e.otherwise)]
    if rank(e.type) and not is_tuple(e.type) and axes_of(test.type) == (b.draws,):
        return merged(c, b, e.type, test, branches)
    return in_branches(c, b, e, unset_like(e.type), branches, masked)


def select_shared(c: Lifting, b: Batch, e: ir.Select) -> ir.Expr:
    """A choice that is the same for all entries; statements of one side are run where it is chosen."""
    (then, before), (otherwise, before_other) = (lift_aside(c, b, side) for side in (e.then, e.otherwise))
    axes = b.over(then, otherwise)
    then, otherwise = spread(b, then, axes), spread(b, otherwise, axes)
    t = over_axes(e.type, *axes)
    if not (before or before_other):
        return replace(e, then=then, otherwise=otherwise, type=t)
    name = c.fresh("chosen")
    c.out.append(ir.Assign(name, helper(over_draws.absent, (), t), c.span, declares=True))
    sides = (
        (*before, ir.Assign(name, then, c.span)),
        (*before_other, ir.Assign(name, otherwise, c.span)),
    )
    c.out.append(ir.If(e.condition, *sides, c.span))
    return ir.Var(name, t)


def merged(c: Lifting, b: Batch, t: Type, test: ir.Var, branches: Branches) -> ir.Expr:
    """A choice between containers, whose size is known where a side is evaluated."""
    (axis,) = axes_of(test.type)
    c.fails_if_empty |= b.may_be_empty  # then neither side has a size
    sides = [ir.Var(c.fresh("side"), over_axes(t, axis)) for _ in branches]
    for side, (impl, _, value) in zip(sides, branches, strict=True):
        inner = side_batch(c, b, impl, test, masked=False)
        statements = c.aside(partial(set_side, c, inner, side.name, value))
        none = ir.Assign(side.name, helper(over_draws.absent, (), side.type), c.span, declares=True)
        c.out += (none, ir.If(inner.counts(inner.own_axes)[-1], statements, (), c.span))
    return helper(over_draws.merged, (test, *sides), over_axes(t, axis))


def set_side(c: Lifting, inner: Batch, name: str, value: ir.Expr) -> None:
    values = spread(inner, lift(c, inner, value), inner.own_axes)
    if axes_of(values.type) != inner.own_axes:
        raise Dependent("a ternary chooses between containers")
    c.out.append(ir.Assign(name, values, c.span))


def is_linear(e: ir.Expr) -> bool:
    """Whether an expression may be evaluated without being used: it is finite, and so are its derivatives."""
    match e:
        case ir.Var() | ir.Const():
            return rank(e.type) == 0
        case ir.Promote(value=value):
            return is_linear(value)
        case ir.Apply(callee=callee, args=args) if callee.name in SUMS and rank(e.type) == 0:
            return all(map(is_linear, args))
        case ir.Apply(callee=callee, args=(left, right)) if callee.name == TIMES and rank(e.type) == 0:
            return any(is_constant(x) for x in (left, right)) and is_linear(left) and is_linear(right)
        case _:
            return False


def is_constant(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) or (isinstance(e, ir.Promote) and is_constant(e.value))


def in_branches(
    c: Lifting, b: Batch, e: ir.Select | ir.Logical, start: ir.Expr, branches: Branches, masked: bool
) -> ir.Var:
    """A local that starts as `start` and is set by each branch for the entries that take it."""
    name = c.fresh("chosen")
    axes = axes_set(c, b, e)
    b.locals[name] = axes
    c.out.append(ir.Assign(name, spread(b, start, axes), c.span, declares=True))
    for impl, test, value in branches:
        inner = side_batch(c, b, impl, test, masked)
        c.unless_empty(inner, partial(set_entries, c, inner, name, axes, value))
    return ir.Var(name, over_axes(e.type, *axes))


def set_entries(c: Lifting, inner: Batch, name: str, axes: tuple[str, ...], value: ir.Expr) -> None:
    if inner.mask is not None:
        values = to_batch(c, inner, value)
        c.out.append(ir.Assign(name, where_mask(inner.mask, values, ir.Var(name, values.type)), c.span))
        return
    values = spread(inner, lift(c, inner, value), inner.own_axes)
    picks = tuple(inner.positions.get(axis) for axis in axes)
    c.out.append(ir.Scatter(name, picks, (), values, over_axes(value.type, *axes), c.span))


def unset_like(t: Type) -> ir.Expr:
    if rank(t) > 0:
        raise Dependent("a ternary chooses between containers")
    return ir.Const(0, INT) if t == INT else ir.Const(complex(nan, nan) if is_complex(t) else nan, t)


def subset(c: Lifting, b: Batch, impl: Impl, args: Sequence[ir.Expr]) -> Batch:
    """The batch of the entries of `b` at which a function finds its first argument to hold."""
    return subset_at(c, b, c.positions(impl, args, axes_of(args[0].type)))


def subset_at(c: Lifting, b: Batch, positions: Mapping[str, ir.Var]) -> Batch:
    """The batch of the entries of `b` at the given positions along some of its axes, which become one."""
    at = next(iter(positions.values()))
    indices = {(axes_of(at.type)[0] if axis in positions else axis): at if axis in positions else index
               for axis, index in b.indices.items()}  # fmt: skip
    inner = Batch(indices, {}, {}, b, positions, b.triangular, b.ranges, b.segments)
    if b.draws not in positions:
        inner.draws = b.draws
    elif {*positions} == {b.draws}:
        assert c.draws is not None
        (inner.draws,) = axes_of(at.type)
        c.draws.functions.parts.append(c.span)
    variables = {v: c.name(v, entries_at(inner, values, positions)) for v, values in b.variables.items()}
    outer = {axis: at for axis, at in b.positions.items() if axis not in positions}
    outer = {axis: c.name("at", entries_at(inner, at, positions)) for axis, at in outer.items()}
    return replace(inner, variables=variables, positions={**outer, **positions})


# --- Masks ---------------------------------------------------------------------------------------


def has_mask(c: Lifting, b: Batch, condition: ir.Expr) -> bool:
    """Whether a branch has a mask: compiled code knows not which way entries go."""
    return c.options.unknown is not None and (b.is_masked or varies(condition, c.options.unknown))


def side_batch(c: Lifting, b: Batch, impl: Impl, test: ir.Var, masked: bool) -> Batch:
    """The batch of the entries for which a test holds or fails, as `impl` says."""
    if not masked:
        return subset(c, b, impl, (test,))
    of_test = batching.holds if impl is batching.where_true else batching.fails
    mask = helper(of_test, (test,), b.index.type)
    return masked_batch(c, b, mask if b.mask is None else helper(batching.both, (mask, b.mask), b.index.type))


def masked_batch(c: Lifting, b: Batch, mask: ir.Expr) -> Batch:
    """A batch of as many entries, of which those count at which the mask holds."""
    inner = replace(b, parent=b, mask=c.name("mask", mask))
    where = c.name("at", fill_masked(inner, helper(batching.positions, (b.index,), b.index.type), INT))
    variables = {v: c.name(v, fill_masked(inner, values, INT)) for v, values in b.variables.items()}
    here = {b.axis: where}
    return replace(inner, indices=here, variables=variables, locals={}, positions=here)


def fill_masked(b: Batch, values: ir.Expr, t: Type) -> ir.Expr:
    """The values of the parent for a batch with a mask."""
    assert b.mask is not None
    return helper(batching.masked_fill, (values, b.mask), over_axes(t, b.axis))


def masked_as_first(b: Batch, value: ir.Expr) -> ir.Expr:
    """A value to be set at the places of a batch: where a mask fails, that of the first entry where it holds.

    The entry has the place of that one, too.
    """
    if b.mask is None or b.axis not in axes_of(value.type):
        return value
    return helper(batching.as_first_taken, (value, b.mask), value.type)


def where_mask(mask: ir.Expr, values: ir.Expr, *otherwise: ir.Expr) -> ir.Expr:
    """The values where a mask holds, the others or zero elsewhere."""
    return helper(batching.only, (values, mask, *otherwise), (values, *otherwise)[-1].type, "elementwise")


# --- Indexing ------------------------------------------------------------------------------------


def lift_index(c: Lifting, b: Batch, e: ir.Index) -> ir.Expr:
    if isinstance(e.base, ir.Var) and (e.base.name, e.items) in c.stored:
        batch, value = c.stored[e.base.name, e.items]
        if batch is b:
            return value
    if b.mask is not None and isinstance(e.base, ir.Var) and b.numbers(e.items):
        assert b.parent is not None
        if e.base.name not in b.locals:  # of all entries, which needs no index of those that are taken
            whole = lift(c, b.parent, e)
            return fill_masked(b, whole, e.type) if any_axes(whole) else whole
    base, items = lift_base(c, b, e), lift_items(c, b, e.items)
    if is_tuple(e.base.type):
        if any_axes(*index_values(items)):
            raise Dependent("a tuple varies from one iteration to the next")
        return replace(e, base=base, items=items, type=over_axes(e.type, *axes_of(base.type)))
    if not any_axes(base, *index_values(items)):
        c.fails_if_empty = True
        return replace(e, base=base, items=items)
    t = over_axes(e.type, *b.over(base, *index_values(items)))
    if isinstance(base, ir.Gather) and not base.items:  # the entries of entries: none is copied twice
        return replace(base, items=items, type=t)
    return ir.Gather(base, (None,) * len(axes_of(base.type)), items, t)


def lift_base(c: Lifting, b: Batch, e: ir.Index) -> ir.Expr:
    """A variable that the loop fills may be read at the iteration's own entries."""
    if not (isinstance(e.base, ir.Var) and e.base.name in c.writes):
        return lift(c, b, e.base)
    owner = b.owner(e.base.name)
    for written in c.writes[e.base.name]:
        if not differ_by_constant(c, b, e.base.name, written.items, e.items):
            require_own_entry(c, b, e.base.name, written, e.items)
    return e.base if owner is None else local(b, e.base, owner)


def mirrored(b: Batch, one: Items, other: Items) -> bool:
    """Whether two entries of a loop over a triangle are x[i, j] and x[j, i], or one is the diagonal x[i, i].

    They meet only at i = j, which is within one iteration.
    """
    for i, j in map(sorted, b.triangular):
        at_i, at_j = ir.At(ir.Var(i, INT)), ir.At(ir.Var(j, INT))
        for swap in ({at_i: at_j, at_j: at_i}, {at_j: at_i}, {at_i: at_j}):
            if {at_i, at_j} <= {*one, *other} and (
                replaced(swap, one) == tuple(other) or replaced(swap, other) == tuple(one)
            ):
                return True
    return False


def replaced(swap: dict[ir.At, ir.At], items: Items) -> tuple[ir.IndexItem, ...]:
    return tuple(swap.get(item, item) if isinstance(item, ir.At) else item for item in items)


def differ_by_constant(c: Lifting, b: Batch, name: str, one: Items, other: Items) -> bool:
    """Whether an index that is the same in every iteration differs by a constant: x[t, j], x[t - 1, k].

    It may be the variable of a loop around the batch, or of one that stays and has all iterations in it that
    share a variable of that `name`; not of one inside.
    """
    places = ((linear_index(x), linear_index(y)) for x, y in zip(one, other, strict=False))
    differ = (x for x, y in places if x and y and x.terms == y.terms and x != y)
    owner = b.owner(name)

    def stays(n: str) -> bool:
        around = owner is not None and n in c.moving and len(c.moving[n].variables) <= len(owner.variables)
        return not is_touched(b, n) and (around or n not in c.moving)

    return any(all(stays(n) for n, _ in x.terms) for x in differ)


def is_changed(c: Lifting, b: Batch, name: str) -> bool:
    """Whether an int may differ between iterations, of the batch or of a loop inside that stays."""
    return name in c.moving or is_touched(b, name)


def distinguishes(c: Lifting, b: Batch, owner: Batch | None, item: ir.IndexItem, v: str) -> bool:
    """Whether the index differs between iterations that differ in the variable: v, or say T - v + 1.

    Only iterations that share an entry of the owner are compared.
    """
    if item in b.segments:
        return v in used_names(item)

    def changes(name: str) -> bool:
        changed = is_changed(c, b, name) or name in c.writes
        return changed and not (owner is not None and is_touched(owner, name))

    return is_numbered_by(item, v, changes)


def require_own_entry(c: Lifting, b: Batch, name: str, written: Write, read: Items) -> None:
    """Both must index by the same variables of the loops around both, at the same places.

    What is set outside of an inner loop is set before all of its iterations, or after all.
    """
    owner = b.owner(name)
    for v in written.loops.intersection(b.own_places(owner)):
        at = [k for k, i in enumerate(written.items) if distinguishes(c, b, owner, i, v)]
        if not any(k < len(read) and read[k] == written.items[k] for k in at):
            raise Dependent(f"`{name}` is filled by one iteration and read by another")


def lift_items(c: Lifting, b: Batch, items: Items) -> tuple[ir.IndexItem, ...]:
    out: list[ir.IndexItem] = []
    for item in items:
        match item:
            case ir.At(index=index):
                index = lift(c, b, index)
                c.fails_if_empty |= not any_axes(index)  # out of range where no iteration would have looked
                out.append(ir.At(index))
            case ir.Between(lower=lower, upper=upper):
                # without iterations there is no length
                c.fails_if_empty |= not (lower is None and upper is None)
                ends = [None if x is None else lift(c, b, x) for x in (lower, upper)]
                moves = any_axes(*(x for x in ends if x is not None))
                out.append(ir.At(range_of_each(c, b, item)) if moves else ir.Between(*ends))
    return tuple(out)


def index_values(items: Items) -> list[ir.Expr]:
    """Those that pick one entry, or several."""
    return [i.index for i in items if isinstance(i, ir.At)]


def range_of_each(c: Lifting, b: Batch, item: ir.Between) -> ir.Expr:
    """A range of indices for every entry of the batch, which must be of one size."""
    if item not in b.ranges:
        raise Dependent("a range of indices varies from one iteration to the next")
    ends = tuple(to_batch(c, b, end) for end in item.ends)
    if b.over(*ends) != (b.axis,):
        raise Dependent("a range of indices varies from one draw to the next")
    return helper(batching.spans, ends, over_axes(ArrayType(INT), b.axis))
