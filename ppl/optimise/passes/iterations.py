"""The body of a loop, run once for all of its iterations.

The loop variable becomes the array of all its values and the body runs once on arrays.  A nest is a
rectangle, with an axis for each loop; if the bounds of the inner loop vary, one batch of pairs.  An inner
loop that can be neither, as it carries state, remains a loop in Python, with a body on arrays.  An `if` runs
each branch on its own entries.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.varying import unknown_names
from ppl.kernel.ir.walk import assigned_names, binary, used_names, walk_statements
from ppl.optimise.passes.batch import (
    Batch,
    Dependent,
    Entry,
    Lifting,
    LiftOptions,
    OneAxis,
    any_axes,
    axis_of_range,
    count_of,
    first_entry,
    helper,
    repeat_over_axis,
)
from ppl.optimise.passes.lift import (
    axes_set,
    differ_by_constant,
    distinguishes,
    entries_at,
    has_mask,
    index_values,
    lift,
    lift_all,
    lift_aside,
    lift_items,
    masked_as_first,
    masked_batch,
    may_fail,
    mirrored,
    path_to,
    require_draws,
    require_own_entry,
    side_batch,
    spread,
    subset,
    subset_at,
    to_batch,
    where_mask,
)
from ppl.optimise.passes.loop_body import (
    is_triangle,
    outer_writes,
    read_entries,
    set_once,
    with_own_variables,
    without_continue,
)
from ppl.optimise.passes.sums import accumulated, addend, with_sum
from ppl.optimise.passes.widths import Size, sizes_to_group_by
from ppl.stdlib import batching, over_draws
from ppl.types import (
    INT,
    REAL,
    ArrayType,
    Type,
    array_of,
    axes_of,
    element_type,
    entry,
    is_tuple,
    items_of,
    over_axes,
    rank,
)

OuterLifting = tuple[Lifting, Batch] | None
"""The attempt and the batch of all draws around an outermost loop; None for one draw."""
Triangles = frozenset[frozenset[str]]
"""Pairs of loop variables, as `Batch.triangular`."""


def loop_as_arrays(s: ir.For, options: LiftOptions, around: OuterLifting = None) -> ir.Stmts:
    """The loop as statements on arrays; `around` is the batch of all draws, if there are many.

    Raises:
        Dependent: an iteration needs what another one computes, or the form is not known here.
    """
    s = with_own_variables(s, options.fresh)
    c, batch = attempt(s, options, around)
    c.unless_empty(batch, partial(run, c, batch, s.body))
    if around is not None:  # what fails for no iterations fails for no draws, too
        around[0].fails_if_empty |= c.fails_if_empty
    return tuple(c.out)


def attempt(s: ir.For, options: LiftOptions, around: OuterLifting = None) -> tuple[Lifting, Batch]:
    """An attempt to run all iterations of an outermost loop at once, and their batch."""
    inside = None if options.unknown is None else unknown_names((s,), options.unknown)
    c, b = new_attempt(s, replace(options, unknown=inside), around)
    batch = nest(c, b, s)  # its bounds are known before it changes anything
    enter(c, s)
    return c, batch


def new_attempt(s: ir.For, options: LiftOptions, around: OuterLifting) -> tuple[Lifting, Batch]:
    """An attempt without statements so far, and the batch around the loop."""
    outer, b = around or (None, Batch({}, {}))
    return Lifting(s.span, options, draws=outer.draws if outer else None), b


def enter(c: Lifting, s: ir.For) -> None:
    """Record what the statements of a loop set and read, before they run."""
    c.writes, c.once = outer_writes(s), set_once(s.body)
    c.reads, c.sums, c.stored = read_entries(s.body), accumulated(s.body), {}


# --- Layout --------------------------------------------------------------------------------------


def nest(c: Lifting, b: Batch, s: ir.For, flat: bool = False) -> Batch:
    """The iterations of an inner loop: a rectangle, or all pairs along one axis."""
    every = b.without_masks  # how many pairs there are has to be known
    inside = (b.owner(name) is not every.owner(name) for name in used_names((s.lower, s.upper)))
    if every is not b and any(inside):
        raise Dependent("the bounds of the loop depend on the branch around it")
    bounds = lift(c, every, s.lower), lift(c, every, s.upper)
    triangles = b.triangular | {frozenset({v, s.variable}) for v in b.variables if is_triangle(v, s)}
    if not any_axes(*bounds) and not (b.loops and (flat or b.is_masked)):
        return rectangle(c, b, s, bounds, triangles)
    over = every.over(*bounds) or every.loops
    ends = tuple(spread(every, bound, over) if len(over) > 1 else bound for bound in bounds)
    args = (every.indices[over[0]], *ends)
    name = "" if any_axes(*bounds) else f"({over[0]}, {axis_of_range(s.lower, s.upper)})"
    within = c.positions(batching.nested_positions, args, over, name)
    pairs = subset_at(c, every, within)
    (name,) = axes_of(within[over[0]].type)
    values = c.index_set(s.variable, batching.nested_range, args, name)
    variables, indices = {**pairs.variables, s.variable: values}, {**pairs.indices, name: values}
    pairs = Batch(indices, variables, {}, b, pairs.positions, triangles, b.ranges, draws=pairs.draws)
    return pairs if b.mask is None else masked_batch(c, pairs, entries_at(pairs, b.mask, within))


def rectangle(c: Lifting, b: Batch, s: ir.For, bounds: tuple[ir.Expr, ...], triangles: Triangles) -> Batch:
    """The iterations of an inner loop that every one of the outer has."""
    axis = axis_of_range(s.lower, s.upper, b.axes_around)
    values = c.index_set(s.variable, batching.loop_range, bounds, axis)
    indices, variables = {**b.indices, axis: values}, {**b.variables, s.variable: values}
    return Batch(indices, variables, parent=b, triangular=triangles, ranges=b.ranges, draws=b.draws)


# --- Statements ----------------------------------------------------------------------------------


def run(c: Lifting, b: Batch, body: Sequence[ir.Stmt]) -> None:
    """The statements for every entry of the batch, one after the other."""
    body = without_continue(body)
    for k, s in enumerate(body):
        c.span = s.span
        if c.options.by_size and (sizes := sizes_to_group_by(b, body[k:])):
            return by_size(c, b, body[k:], sizes)
        run_statement(c, b, s)
    return None


def by_size(c: Lifting, b: Batch, body: Sequence[ir.Stmt], sizes: Sequence[Size]) -> None:
    """The statements for those entries together for which these are of the same sizes."""
    if b.is_masked:
        raise Dependent("a size varies from one iteration to the next, in a branch on parameters")
    bounds = [(ir.Const(1, INT), size) if not isinstance(size, ir.Between) else size.ends for size in sizes]
    ends_of_all = [c.name("end", to_batch(c, b, end)) for pair in bounds for end in pair]

    def one_group(within: Batch) -> None:
        ranges = b.ranges | {size for size in sizes if isinstance(size, ir.Between)}
        ints = [size for size in sizes if not isinstance(size, ir.Between)]
        first = {size: c.name("size", first_entry(to_batch(c, within, size), INT)) for size in ints}
        run(c, replace(within, ranges=ranges, sizes=first), body)

    c.out.append(by_group(c, b, ends_of_all, one_group)[1])


def by_group(
    c: Lifting, b: Batch, ends: Sequence[ir.Expr], work: Callable[[Batch], None]
) -> tuple[ir.Var, ir.For]:
    """The group of each entry, of those whose sizes between `ends` are equal, and a loop over the groups."""
    if b.over(*ends) != (b.axis,):
        raise Dependent("a size varies from one draw to the next")
    groups = c.name("group", helper(batching.groups_by_width, (b.index, *ends), b.index.type))
    group, span = ir.Var(c.fresh("width"), INT), c.span
    body = c.aside(lambda: work(subset(c, b, batching.where_equal, (groups, group))))
    return groups, ir.For(group.name, ir.Const(1, INT), helper(batching.latest, (groups,), INT), body, span)


def run_statement(c: Lifting, b: Batch, s: ir.Stmt) -> None:
    match s:
        case ir.Declare():
            declare(c, b, s)
            forget_entries(c, s.name)
        case ir.Assign():
            assign(c, b, s)
            forget_entries(c, s.name)
        case ir.Update():
            update(c, b, s)
        case ir.Increment():
            increment(c, b, s)
        case ir.If():
            branch(c, b, s)
        case ir.For():
            inner_loop(c, b, s)
        case ir.While():
            repeat(c, b, s)
        case ir.Profile(body=body):
            c.out.append(replace(s, body=c.aside(lambda: run(c, b, body))))
        case ir.Message(what="reject" | "fatal_error", args=args):
            c.fails_if_empty = True
            c.out.append(replace(s, args=tuple(message_part(c, b, a) for a in args)))
        case ir.Jump(word=word) if not b.is_root:
            raise Dependent(f"`{word}` ends the loop early")
        case _ if b.is_root:
            run_at_root(c, b, s)
        case _:
            raise Dependent("it has an effect beyond the target and its own variables")


def run_at_root(c: Lifting, b: Batch, s: ir.Stmt) -> None:
    """Statements in no loop that became arrays."""
    match s:
        case ir.Jump():
            c.out.append(s)
        case ir.Return(value=value):
            c.out.append(s if value is None else replace(s, value=spread(b, lift(c, b, value), b.axes)))
        case ir.CallVoid(call=call):
            lifted = lift(c, b, call)
            assert isinstance(lifted, ir.CallUser)
            c.out.append(replace(s, call=lifted))
        case ir.CheckDeclared():
            check_declared(c, b, s)
        case ir.Message(what="fatal_error", args=args):
            c.out.append(replace(s, args=tuple(message_part(c, b, a) for a in args)))
        case _:
            raise Dependent("the lines that one draw prints must stay together")


def check_declared(c: Lifting, b: Batch, s: ir.CheckDeclared) -> None:
    """The constraint of a variable whose value, or bounds, may differ from draw to draw."""
    value = lift(c, b, ir.Var(s.name, s.declared.type))
    d = declared(c, b, s.declared, ())
    axes = b.over(value, *bounds_of(d))
    if axes != axes_of(value.type):
        value = spread(b, value, axes)
        c.out.append(ir.Assign(s.name, value, s.span, declares=True))
        b.locals[s.name] = axes
    c.out.append(replace(s, declared=declared(c, b, s.declared, axes)))


def bounds_of(d: ir.Declared) -> tuple[ir.Expr, ...]:
    """The arguments of its constraints, those of its parts too."""
    return (*d.arguments, *(a for item in d.items for a in bounds_of(item)))


def declared(c: Lifting, b: Batch, d: ir.Declared, axes: tuple[str, ...]) -> ir.Declared:
    """A declaration along these axes, with the values of its bounds there."""
    arguments = tuple(spread(b, lift(c, b, a), axes) for a in d.arguments)
    items = tuple(declared(c, b, item, axes) for item in d.items)
    return replace(d, type=over_axes(d.type, *axes), arguments=arguments, items=items)


def message_part(c: Lifting, b: Batch, part: ir.Expr | ir.Text) -> ir.Expr | ir.Text:
    """A part of a message, with the value of the first entry."""
    if isinstance(part, ir.Text):
        return part
    value = lift(c, b, part)
    return first_entry(value, part.type) if any_axes(value) else value


def declare(c: Lifting, b: Batch, s: ir.Declare) -> None:
    axes = axes_set(c, b, ir.Var(s.name, s.type))
    if isinstance(s.shape, ir.TupleShape):
        return declare_tuple(c, b, s, axes)
    sizes = lift_all(c, b, s.shape)
    if any_axes(*sizes):
        raise Dependent(f"the size of `{s.name}` varies from one iteration to the next")
    b.locals[s.name] = axes
    c.out.append(ir.Declare(s.name, over_axes(s.type, *axes), (*b.counts(axes), *sizes), s.span))
    return None


def declare_tuple(c: Lifting, b: Batch, s: ir.Declare, axes: tuple[str, ...]) -> None:
    require_draws(b, axes, "it declares a tuple")
    b.locals[s.name] = axes
    if not axes:
        c.out.append(s)
        return
    one = ir.Var(c.fresh("unset"), s.type)
    c.out.append(replace(s, name=one.name))
    c.out.append(ir.Assign(s.name, spread(b, one, axes), s.span, declares=True))


def assign(c: Lifting, b: Batch, s: ir.Assign) -> None:
    if s.name in c.sums and is_shared(b, s.name):
        return add_up(c, b, s)
    if not s.declares and b.owner(s.name) is None:
        raise Dependent(f"`{s.name}` is carried from one iteration to the next")
    value = lift(c, b, s.value)
    if s.declares and s.name in c.once:  # it varies over what its value does
        return declare_once(c, b, s, value)
    if s.declares:
        b.locals[s.name] = axes_set(c, b, ir.Var(s.name, s.value.type))
    owner = b.owner(s.name)
    assert owner is not None
    where, axes = path_to(b, owner), owner.locals[s.name]
    if b is owner:
        value, shape = of_declared_sizes(c, b, s, spread(b, value, axes))
        if {*axes_of(value.type)} != {*axes}:
            raise Dependent(f"`{s.name}` differs from draw to draw")
        c.out.append(ir.Assign(s.name, value, s.span, s.declares, shape))
        return None
    if is_tuple(s.value.type):
        raise Dependent(f"the tuple `{s.name}` is set for some entries alone")
    value = spread(b, value, b.loops)
    if b.mask is not None and b.is_aligned(owner):
        c.out.append(ir.Assign(s.name, where_mask(b.mask, value, ir.Var(s.name, value.type)), s.span))
    elif shares_entries(b, owner):
        raise Dependent(f"`{s.name}` is carried from one inner iteration to the next")
    else:
        picks = tuple(where.get(axis) for axis in axes)
        value = masked_as_first(b, value)
        c.out.append(ir.Scatter(s.name, picks, (), value, over_axes(s.value.type, *axes), s.span))
    return None


def declare_once(c: Lifting, b: Batch, s: ir.Assign, value: ir.Expr) -> None:
    """A variable that is set where it is declared and never again."""
    value, shape = of_declared_sizes(c, b, s, value)
    if any_axes(value):
        b.locals[s.name] = axes_of(value.type)
    else:  # a body that runs in parts may have declared it with axes before
        b.locals.pop(s.name, None)
    c.out.append(replace(s, value=value, shape=shape))


def is_shared(b: Batch, name: str) -> bool:
    """Whether several entries of the batch set one entry of the variable."""
    owner = b.owner(name)
    return owner is None or shares_entries(b, owner)


def add_up(c: Lifting, b: Batch, s: ir.Assign | ir.Update) -> None:
    """The increments of a variable over the iterations, as one sum or one for each of its entries."""
    summand, owner = addend(s), b.owner(s.name)
    assert summand is not None
    sum_, added = summand
    axes = owner.locals[s.name] if owner else ()
    more = lift(c, b, added)
    draws = owner.draws if owner else ir.DRAW
    if c.draws and draws not in axes and (b.draws != draws or draws in axes_of(more.type)):
        raise Dependent(f"`{s.name}` differs from draw to draw")  # as far as scans show: they have all states
    if isinstance(s, ir.Assign) and {*axes} <= {*b.axes} and not (owner and path_to(b, owner)):
        whole = ir.Var(s.name, over_axes(sum_.args[0].type, *axes))
        sums = replace(sum_, args=(whole, summed(c, b, more, axes)), type=whole.type)
        c.out.append(replace(s, value=with_sum(s.value, sums)))
        return
    whole, at = places(c, b, s, owner)
    draw_axes = tuple(axis for axis in axes if axis == b.draws)
    over = tuple(a for a in b.over(*at) if a not in draw_axes) or b.loops[:1]
    if len(over) > 1:
        raise OneAxis
    where = tuple(spread(b, index, over) for index in at)
    value = spread(b, summed(c, b, more, (*draw_axes, *over)), (*draw_axes, *over))
    sum_at = over_draws.sum_at if draw_axes else batching.sum_at
    added_at = helper(sum_at, (value, whole, *where), whole.type)
    sums = replace(sum_, args=(whole, added_at), type=whole.type)
    c.out.append(ir.Assign(s.name, with_sum(s.value, sums), s.span))


def summed(c: Lifting, b: Batch, value: ir.Expr, left: Sequence[str]) -> ir.Expr:
    """The sum of a value over all axes of the batch except those that are left."""
    if b.mask is not None:
        value = where_mask(b.mask, spread(b, value, b.axes))
    return times_count(c, b, totalled(value, left), (*axes_of(value.type), *left, b.draws))


def totalled(value: ir.Expr, left: Sequence[str]) -> ir.Expr:
    """The sum of a value over its axes except those that are left."""
    for axis in reversed(axes_of(value.type)):
        if axis not in left:
            t = over_axes(entry(value.type), *(a for a in axes_of(value.type) if a != axis))
            value = helper(batching.sum_entries, (value,), t)
    return value


def times_count(c: Lifting, b: Batch, value: ir.Expr, others: Sequence[str]) -> ir.Expr:
    """A value times the number of entries along each axis of the batch except `others`."""
    for axis, index in b.indices.items():
        if axis not in others:
            c.fails_if_empty = True  # 0 times infinity is nan
            times = binary("*", count_of(index), value, element_type(value.type))
            value = replace(times, type=value.type)
    return value


def places(
    c: Lifting, b: Batch, s: ir.Assign | ir.Update, owner: Batch | None
) -> tuple[ir.Var, tuple[ir.Expr, ...]]:
    """A variable, and where in it entries of the batch add something, an index an axis."""
    axes, where = (owner.locals[s.name], path_to(b, owner)) if owner else ((), {})
    own = {axis: helper(batching.positions, (index,), index.type) for axis, index in b.indices.items()}
    of_axes = tuple({**own, **where}[axis] for axis in axes if axis != b.draws)
    if isinstance(s, ir.Assign):
        return ir.Var(s.name, over_axes(s.value.type, *axes)), of_axes
    added = addend(s)
    assert added is not None
    base = added[0].args[0]
    outermost = owner is None or not owner.variables
    if outermost and isinstance(base, ir.Index) and isinstance(base.base, ir.Var):
        at = tuple(i.index for i in base.items if isinstance(i, ir.At) and i.index.type == INT)
        if len(at) == len(base.items):
            whole = ir.Var(s.name, over_axes(base.base.type, *axes))
            return whole, (*of_axes, *lift_all(c, b, at))
    raise Dependent(f"`{s.name}` may get two values for one entry")


def of_declared_sizes(
    c: Lifting, b: Batch, s: ir.Assign, value: ir.Expr
) -> tuple[ir.Expr, tuple[ir.Expr, ...]]:
    """The value, held to declared sizes that vary, and the shape that the statement holds it to otherwise."""
    sizes = lift_all(c, b, s.shape)
    if not any_axes(*sizes):
        return value, (*b.counts(axes_of(value.type)), *sizes) if sizes else ()
    sizes = tuple(spread(b, size, (b.axis,)) for size in sizes)
    if b.over(*sizes) != (b.axis,) or b.axis not in axes_of(value.type):
        raise Dependent(f"the size of `{s.name}` varies from one draw to the next")
    return helper(batching.of_sizes, (value, *sizes), value.type), ()


def shares_entries(b: Batch, owner: Batch) -> bool:
    """Whether several entries of the batch belong to one entry of the owner: a nest lies between."""
    return len(b.variables) > len(owner.variables)


def update(c: Lifting, b: Batch, s: ir.Update) -> None:
    """`x[...] = value`: each entry of the batch must have a place of its own."""
    if any(isinstance(step, int) for step in s.path) or is_tuple(s.value.type):
        set_in_tuple(c, b, s)
        return forget_entries(c, s.name)
    if len(s.path) > 1:
        return update(c, b, replace(s, path=(one_step(s),)))
    (step,) = s.path
    assert isinstance(step, tuple)
    owner = b.owner(s.name)
    crowded = is_crowded(c, b, s.name, step)
    if crowded and s.name in c.sums:
        if not add_to_entries(c, b, s):
            add_up(c, b, s)
        return forget_entries(c, s.name)
    if crowded:
        raise Dependent(f"`{s.name}` may get two values for one entry")
    for other in c.writes.get(s.name, []):
        if not (mirrored(b, other.items, step) or differ_by_constant(c, b, s.name, other.items, step)):
            require_own_entry(c, b, s.name, other, step)
    value = store_entry(c, b, (s.name, step), lift(c, b, s.value))
    if owner is None and b.mask is not None and b.numbers(step):
        return update_all(c, b, s, step, value)
    items = lift_items(c, b, step)
    axes = owner.locals[s.name] if owner else ()
    where = path_to(b, owner) if owner else {}
    if not any_axes(value) and rank(s.value.type) > 0:
        value = to_batch(c, b, s.value)
    if not (axes or any_axes(value, *index_values(items))):
        c.out.append(replace(s, path=(items,), value=value))
        return None
    if b.draws in b.over(value, *index_values(items)) and ir.DRAW not in axes:
        raise Dependent(f"`{s.name}` differs from draw to draw")
    picks = tuple(where.get(axis) for axis in axes)
    value = masked_as_first(b, value)
    c.out.append(ir.Scatter(s.name, picks, items, value, over_axes(updated(s), *axes), s.span, s.fits))
    return None


def is_crowded(c: Lifting, b: Batch, name: str, step: Sequence[ir.IndexItem]) -> bool:
    """Whether several entries of the batch may have one entry of the variable."""
    owner = b.owner(name)
    return any(not any(distinguishes(c, b, owner, i, v) for i in step) for v in b.own_places(owner))


def add_to_entries(c: Lifting, b: Batch, s: ir.Update) -> bool:
    """The increments of an inner loop as one sum for each iteration around it, if each has its own entry."""
    (step,), around, summand = s.path, b.parent, addend(s)
    assert isinstance(step, tuple) and summand is not None
    if around is None or b.positions or b.mask or not around.variables or is_crowded(c, around, s.name, step):
        return False
    inner = b.variables.keys() - around.variables.keys()
    if any(n in inner or b.owner(n) is not around.owner(n) for n in used_names(step)):
        return False
    sum_, added = summand
    total = c.local(around, "total", summed(c, b, lift(c, b, added), around.axes))
    of_one = ir.Var(total.name, added.type)
    update(c, around, replace(s, value=with_sum(s.value, replace(sum_, args=(sum_.args[0], of_one)))))
    return True


def one_step(s: ir.Update) -> tuple[ir.IndexItem, ...]:
    """x[i][j] as x[i, j]."""
    *before, last = (step for step in s.path if isinstance(step, tuple))
    if not all(ir.drops_axis(i) for step in before for i in step):
        raise Dependent(f"an entry of a range of `{s.name}` is set")
    return tuple(i for step in (*before, last) for i in step)


def set_in_tuple(c: Lifting, b: Batch, s: ir.Update) -> None:
    """A part of a tuple, or of a tuple in an array, of every draw."""
    owner = b.owner(s.name)
    if c.draws is None or b is not owner:
        raise Dependent("a tuple is set inside the loop")
    axes = owner.locals[s.name]
    here: ir.Expr = ir.Var(s.name, c.draws.types[s.name])
    for step in s.path[:-1]:
        here = part_of(here, step)
    last = s.path[-1]
    if isinstance(last, int) or is_tuple(here.type):
        value = spread(b, lift(c, b, s.value), axes)
        c.out.append(replace(s, path=lift_path(c, b, s.path), value=value))
        return
    part = ir.Var(c.fresh("part"), here.type)
    c.draws.varying |= {part.name} if axes else set()
    run_statement(c, b, ir.Assign(part.name, here, s.span, declares=True))
    run_statement(c, b, ir.Update(part.name, (last,), s.value, s.span))
    c.out.append(replace(s, path=lift_path(c, b, s.path[:-1]), value=lift(c, b, part)))


def part_of(e: ir.Expr, step: ir.PathStep) -> ir.Expr:
    """The part of a tuple, or the entry of an array of tuples, at one step of a path."""
    if isinstance(step, int):
        return ir.Item(e, step, items_of(e.type)[step - 1])
    if not isinstance(e.type, ArrayType) or len(step) > e.type.dims:
        raise Dependent("an entry of a vector or matrix in a container is set")
    return ir.Index(e, step, array_of(e.type.element, e.type.dims - len(step)))


def lift_path(c: Lifting, b: Batch, path: Sequence[ir.PathStep]) -> tuple[ir.PathStep, ...]:
    out: list[ir.PathStep] = []
    for step in path:
        items = () if isinstance(step, int) else lift_items(c, b, step)
        if any_axes(*index_values(items)):
            raise Dependent("an index differs from draw to draw")
        out.append(step if isinstance(step, int) else items)
    return tuple(out)


def updated(s: ir.Update) -> Type:
    """The type of the variable of which entries are set, as far as its axes go."""
    (step,) = s.path
    assert isinstance(step, tuple)
    return array_of(s.value.type, sum(map(ir.drops_axis, step)))


def update_all(c: Lifting, b: Batch, s: ir.Update, step: Sequence[ir.IndexItem], value: ir.Expr) -> None:
    """`x[n] = value` for the entries that are taken, the others being given the value they have."""
    assert b.mask is not None
    items = lift_items(c, b.without_masks, step)
    whole = ir.Var(s.name, array_of(s.value.type, len(step)))
    old = ir.Gather(whole, (), items, over_axes(s.value.type, *b.over(*index_values(items))))
    c.out.append(ir.Scatter(s.name, (), items, where_mask(b.mask, value, old), whole.type, s.span, s.fits))


def store_entry(c: Lifting, b: Batch, entry: Entry, value: ir.Expr) -> ir.Expr:
    """The value, under a name for the statements that read the entry back in the same iteration."""
    forget_entries(c, entry[0])
    if entry not in c.reads or not any_axes(value):
        return value
    stored = c.name("value", value)
    c.stored[entry] = b, stored
    return stored


def forget_entries(c: Lifting, name: str) -> None:
    """The stored values of a variable that is set, and of entries with it in their index."""
    c.stored = {(x, at): value for (x, at), value in c.stored.items() if name not in {x, *used_names(at)}}


def increment(c: Lifting, b: Batch, s: ir.Increment) -> None:
    """One sum over everything, of what is the same along an axis as many times as that has entries."""
    value = lift(c, b, s.value)
    if b.loops and not any_axes(value) and rank(s.value.type) > 0:
        raise Dependent("a container that does not vary is added in every iteration")
    if b.mask is not None:
        count = helper(batching.count_of, (b.mask,), INT)
        value = where_mask(b.mask, value) if any_axes(value) else binary("*", count, value, REAL)
        c.out.append(replace(s, value=value))
        return
    draws = position_of_draw(c, b)
    own = (b.draws,) if draws is None else axes_of(draws.type)
    others = (*axes_of(value.type), *own)
    if isinstance(value, ir.Apply) and value.callee.reduce == "sum" and any_axes(value):
        summed_over = over_axes(REAL, *(axis for axis in axes_of(value.type) if axis in own))
        value = value if value.callee.batch in ("none", "whole") else replace(value, type=summed_over)
    value = times_count(c, b, value, others)
    if draws is not None:
        value = by_draw(c, b, value, draws)
    c.out.append(replace(s, value=value))


def position_of_draw(c: Lifting, b: Batch) -> ir.Expr | None:
    """The draw of each entry of a batch without the axis of all draws; None of other batches."""
    root = c.draws.root if c.draws else None
    return path_to(b, root).get(root.draws) if root else None


def by_draw(c: Lifting, b: Batch, value: ir.Expr, draws: ir.Expr) -> ir.Expr:
    """The sum for each draw, 0 for draws without an entry."""
    assert c.draws is not None
    root, own = c.draws.root, axes_of(draws.type)
    value = spread(b, value, own)
    axes = axes_of(value.type)
    if rank(entry(value.type)):
        value = helper(over_draws.sum_from, (value, ir.Const(len(axes), INT)), over_axes(REAL, *axes))
    value = totalled(value, own)
    zeros = repeat_over_axis(ir.Const(0.0, REAL), root.indices[root.draws])
    return helper(batching.sum_at, (value, zeros, draws), zeros.type)


# --- Control flow --------------------------------------------------------------------------------


def branch(c: Lifting, b: Batch, s: ir.If) -> None:
    if splits(b, s):  # `if (a && b)` is `if (a) if (b)`: b only where a holds
        assert isinstance(s.condition, ir.Logical)
        inner = replace(s, condition=s.condition.right)
        return branch(c, b, replace(s, condition=s.condition.left, then=(inner,)))
    condition = lift(c, b, s.condition)
    if not any_axes(condition):
        then, otherwise = (c.aside(partial(run, c, b, side)) for side in (s.then, s.otherwise))
        c.out.append(replace(s, condition=condition, then=then, otherwise=otherwise))
        return None
    chosen, masked = c.name("test", condition), has_mask(c, b, s.condition)
    for impl, side in ((batching.where_true, s.then), (batching.where_false, s.otherwise)):
        if side:
            entries = side_batch(c, b, impl, chosen, masked)
            c.unless_empty(entries, partial(run, c, entries, side))
    return None


def splits(b: Batch, s: ir.If) -> bool:
    """Whether the right side of the condition may only be looked at where the left side holds."""
    match s.condition:
        case ir.Logical(op="and", right=right):
            return not s.otherwise and may_fail(right)
        case _:
            return False


def in_each_step(c: Lifting, b: Batch, s: ir.Loop, work: Callable[[], None]) -> ir.Stmts:
    """The statements that `work` makes in a remaining loop, whose variables change with each step."""
    before, c.moving = c.moving, {**c.moving, **dict.fromkeys(assigned_names((s,)), b)}
    for name in c.moving:
        forget_entries(c, name)
    try:
        return c.aside(work)
    finally:
        c.moving = before


def inner_loop(c: Lifting, b: Batch, s: ir.For) -> None:
    """A rectangle or one batch of pairs, if possible; else a loop that remains in Python."""
    if c.draws is not None and not b.variables:
        return c.draws.loop(c, b, s)
    try:
        with c.undone_on_failure(b):
            pairs_or_loop(c, b, s, flat=False)
    except OneAxis:
        if len(b.loops) > 1:
            raise
        pairs_or_loop(c, b, s, flat=True)
    return None


def shared_sums(s: ir.For, around: OuterLifting) -> set[str]:
    """Variables that a loop only adds to, but that iterations of those around it share and set otherwise."""
    if around is None or not around[1].loops:
        return set()
    c, b = around
    sets = [n for n in walk_statements(s.body) if isinstance(n, ir.Assign | ir.Update)]
    steps = [(n.name, n.path[0] if isinstance(n, ir.Update) else ()) for n in sets]
    crowded = {name for name, step in steps if isinstance(step, tuple) and is_crowded(c, b, name, step)}
    return {name for name in accumulated(s.body) - c.sums if name in crowded and is_shared(b, name)}


def pairs_or_loop(c: Lifting, b: Batch, s: ir.For, flat: bool) -> None:
    writes, sums = c.writes, c.sums
    try:
        with c.undone_on_failure(b):
            c.writes, c.sums = outer_writes(s) | writes, accumulated(s.body) - shared_sums(s, (c, b))
            pairs = nest(c, b, s, flat)
            c.unless_empty(pairs, partial(run, c, pairs, s.body))
            c.writes, c.sums = writes, sums
    except Dependent:
        scan = c.options.scan(c, b, s) if c.options.scan else None
        if scan is None:
            return remaining_loop(c, b, s)
        c.fails_if_empty = True
        for name in assigned_names(scan):
            forget_entries(c, name)
        c.out += scan
    return None


def remaining_loop(c: Lifting, b: Batch, s: ir.For) -> None:
    """A loop that remains in Python, with a body on arrays."""
    lower, upper = lift(c, b, s.lower), lift(c, b, s.upper)
    if any_axes(lower, upper):
        return run_ragged_loop(c, b, s)
    body = in_each_step(c, b, s, partial(run, c, b, s.body))
    return c.out.append(replace(s, lower=lower, upper=upper, body=body))


def run_ragged_loop(c: Lifting, b: Batch, s: ir.For) -> None:
    """Loops of different bounds, one for each entry of the batch: a step is run for those it belongs to."""
    if b.is_masked:
        raise Dependent("the bounds of the loop depend on the branch around it")
    bounds = lift(c, b, s.lower), lift(c, b, s.upper)
    over = b.over(*bounds)
    lower, upper = (c.name("bound", spread(b, bound, over)) for bound in bounds)

    def step() -> None:
        within = subset(c, b, batching.where_within, (lower, upper, ir.Var(s.variable, INT)))
        c.unless_empty(within, partial(run, c, within, s.body))

    ends = (helper(batching.earliest, (lower,), INT), helper(batching.latest, (upper,), INT))
    c.out.append(ir.For(s.variable, *ends, in_each_step(c, b, s, step), s.span))


def repeat(c: Lifting, b: Batch, s: ir.While) -> None:
    """`while`, until every entry has ended: each step runs for the entries that continue."""
    if b.is_masked or has_mask(c, b, s.condition):
        raise Dependent("the number of iterations depends on parameters")
    condition, statements = lift_aside(c, b, s.condition)
    over = axes_of(condition.type)
    if not over:
        if statements:
            raise Dependent("the condition of the loop is not one expression")
        body = in_each_step(c, b, s, partial(run, c, b, s.body))
        c.out.append(replace(s, condition=condition, body=body))
        return
    names = [c.fresh("running") for _ in over]
    running = {axis: ir.Var(name, over_axes(INT, names[0])) for axis, name in zip(over, names, strict=True)}

    def look() -> None:
        test = c.name("test", lift(c, b, s.condition))
        for k, at in enumerate(running.values()):
            going = helper(batching.where_true, (test, ir.Const(k, INT))[: 1 + bool(k)], at.type)
            c.out.append(ir.Assign(at.name, going, s.span, declares=True))

    def step() -> None:
        run(c, subset_at(c, b, {axis: c.name("at", at) for axis, at in running.items()}), s.body)
        look()

    look()
    size = helper(batching.batch_size, (next(iter(running.values())),), INT)
    c.out.append(ir.While(size, in_each_step(c, b, s, step), s.span))
