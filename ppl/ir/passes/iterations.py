"""The body of a loop, run once for all of its iterations.

The loop variable becomes the array of all its values and the body runs once on arrays.  A nest is a
rectangle, with an axis for each loop; where the bounds of the inner loop vary, one flat batch of pairs.  An
inner loop that can be neither (it carries something along) stays a loop over arrays.  An `if` runs each
branch on its own entries.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from ppl.ir import nodes as ir
from ppl.ir.operators import binary
from ppl.ir.passes.batch import (
    Batch,
    Dependent,
    Entry,
    Lifting,
    OneAxis,
    Ways,
    any_axes,
    at_positions,
    axis_of_range,
    count_of,
    elementwise,
    first_entry,
    helper,
)
from ppl.ir.passes.lift import (
    apart,
    has_mask,
    indices,
    is_aligned,
    is_masked,
    is_plain_entry,
    lift,
    lift_all,
    lift_items,
    may_fail,
    mirrored,
    own_places,
    path_to,
    require_own_entry,
    restrict,
    restricted,
    spread,
    taking,
    tells_apart,
    to_batch,
    where_taken,
    with_mask,
    without_masks,
)
from ppl.ir.passes.sums import accumulated, addend, total, total_at, with_sum
from ppl.ir.passes.widths import Size, ends, sizes_to_group_by
from ppl.ir.unknown import unknown_names
from ppl.ir.walk import jumps, used_names, walk
from ppl.stdlib import batching
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import INT, REAL, Tuple, Type, along, array_of, axes_of, core, element_type, entry, rank

Stmts = tuple[ir.Stmt, ...]
Sides = frozenset[frozenset[str]]


def arrays(s: ir.For, ways: Ways) -> Stmts:
    """The statements that do what the loop does, on arrays.

    Raises:
        Dependent: an iteration needs what another one computes, or the form is not known here.
    """
    c = attempt(s, ways)
    batch = lay_out(c, s)
    c.unless_empty(batch, partial(run, c, batch, s.body))
    return tuple(c.out)


def attempt(s: ir.For, ways: Ways) -> Lifting:
    """One at the iterations of a loop, which stands alone."""
    inside = None if ways.unknown is None else unknown_names((s,), ways.unknown)
    return Lifting(
        s.span,
        replace(ways, unknown=inside),
        writes=outer_writes(s),
        once=set_once(s.body),
        reads=read_entries(s.body),
        sums=accumulated(s.body),
    )


def set_once(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """Variables that are given a value where they are declared and never changed."""
    setters = (ir.Declare, ir.Assign, ir.Update)
    counts = Counter(n.name for n in walk(tuple(body)) if isinstance(n, setters))
    return frozenset(name for name, count in counts.items() if count == 1)


def read_entries(body: Sequence[ir.Stmt]) -> frozenset[Entry]:
    indexed = (n for n in walk(tuple(body)) if isinstance(n, ir.Index) and isinstance(n.base, ir.Var))
    return frozenset((n.base.name, n.items) for n in indexed if isinstance(n.base, ir.Var))


def triangle(v: str, s: ir.For) -> bool:
    """Whether an inner loop runs over one side of an outer variable: from v or v + 1, or to v or v - 1."""
    outer, one = ir.Var(v, INT), ir.Const(1, INT)
    plus, minus = OPERATORS["+"].name, OPERATORS["-"].name
    for bound, step in ((s.lower, plus), (s.upper, minus)):
        match bound:
            case ir.Var(name=name) if name == v:
                return True
            case ir.Apply(callee=callee, args=args) if callee.name == step and args == (outer, one):
                return True
    return False


def outer_writes(s: ir.For | ir.While) -> dict[str, list[tuple[ir.IndexItem, ...]]]:
    """How variables from outside the loop are filled inside it; () where one is set whole."""
    inside = {n.name for n in walk(s.body) if isinstance(n, ir.Declare)}
    inside |= {n.name for n in walk(s.body) if isinstance(n, ir.Assign) and n.declares}
    writes: dict[str, list[tuple[ir.IndexItem, ...]]] = {}
    for n in walk(s.body):
        if isinstance(n, ir.Update) and n.name not in inside:
            step = n.path[0]
            writes.setdefault(n.name, []).append(step if isinstance(step, tuple) and len(n.path) == 1 else ())
        elif isinstance(n, ir.Assign) and n.name not in inside:
            writes.setdefault(n.name, []).append(())
    return writes


# --- Layout --------------------------------------------------------------------------------------


def lay_out(c: Lifting, s: ir.For) -> Batch:
    """The batch of a loop that stands alone."""
    args = s.lower, s.upper
    values = c.index_set(s.variable, batching.loop_range, args, axis_of_range(*args))
    return Batch({axes_of(values.type)[0]: values}, {s.variable: values})


def nest(c: Lifting, b: Batch, s: ir.For, flat: bool = False) -> Batch:
    """The iterations of an inner loop: a rectangle, or all pairs along one axis."""
    every = without_masks(b)  # how many pairs there are has to be known
    inside = (b.owner(name) is not every.owner(name) for name in used_names((s.lower, s.upper)))
    if every is not b and any(inside):
        raise Dependent("which iterations there are depends on the branch around the loop")
    bounds = lift(c, every, s.lower), lift(c, every, s.upper)
    sides = b.triangular | {frozenset({v, s.variable}) for v in b.variables if triangle(v, s)}
    if not (any_axes(*bounds) or flat or is_masked(b)):
        return rectangle(c, b, s, bounds, sides)
    over = every.over(*bounds) or every.axes
    ends = tuple(spread(every, bound, over) if len(over) > 1 else bound for bound in bounds)
    args = (every.indices[over[0]], *ends)
    name = "" if any_axes(*bounds) else f"({over[0]}, {axis_of_range(s.lower, s.upper)})"
    found = c.positions(batching.nested_positions, args, over, name)
    pairs = restricted(c, every, found)
    (name,) = axes_of(found[over[0]].type)
    values = c.index_set(s.variable, batching.nested_range, args, name)
    variables, indices = {**pairs.variables, s.variable: values}, {**pairs.indices, name: values}
    pairs = Batch(indices, variables, parent=b, positions=pairs.positions, triangular=sides)
    return pairs if b.mask is None else with_mask(c, pairs, at_positions(b.mask, found[over[0]]))


def rectangle(c: Lifting, b: Batch, s: ir.For, bounds: tuple[ir.Expr, ...], sides: Sides) -> Batch:
    """The iterations of an inner loop that every one of the outer has."""
    axis = axis_of_range(s.lower, s.upper, b.axes)
    values = c.index_set(s.variable, batching.loop_range, bounds, axis)
    indices, variables = {**b.indices, axis: values}, {**b.variables, s.variable: values}
    return Batch(indices, variables, parent=b, triangular=sides)


# --- Statements ----------------------------------------------------------------------------------


def run(c: Lifting, b: Batch, body: Sequence[ir.Stmt]) -> None:
    """The statements for every entry of the batch, one after the other."""
    body = without_continue(body)
    for k, s in enumerate(body):
        c.span = s.span
        if c.ways.by_size and (sizes := sizes_to_group_by(b, body[k:])):
            return by_size(c, b, body[k:], sizes)
        run_statement(c, b, s)
    return None


def by_size(c: Lifting, b: Batch, body: Sequence[ir.Stmt], sizes: Sequence[Size]) -> None:
    """The statements for those entries together for which these are of the same sizes."""
    if is_masked(b):
        raise Dependent("a size varies from one iteration to the next, in a branch on parameters")
    bounds = [(ir.Const(1, INT), size) if not isinstance(size, ir.Between) else ends(size) for size in sizes]
    names = [c.name("end", to_batch(c, b, end)) for pair in bounds for end in pair]
    groups = c.name("group", helper(batching.groups_by_width, (b.index, *names), b.index.type))
    group = ir.Var(c.fresh("width"), INT)

    def one_group() -> None:
        within = restrict(c, b, batching.where_equal, (groups, group))
        ranges = b.ranges | {size for size in sizes if isinstance(size, ir.Between)}
        first = {size: first_of(c, within, size) for size in sizes if not isinstance(size, ir.Between)}
        run(c, replace(within, ranges=ranges, sizes=first), body)

    last = helper(batching.latest, (groups,), INT)
    made = c.aside(partial(afresh, c, set(), one_group))
    c.out.append(ir.For(group.name, ir.Const(1, INT), last, made, c.span))


def first_of(c: Lifting, b: Batch, size: ir.Expr) -> ir.Var:
    """An int that is the same for all entries."""
    return c.name("size", first_entry(to_batch(c, b, size), INT))


def without_continue(body: Sequence[ir.Stmt]) -> Stmts:
    """The same statements with what follows a `continue` in the branches that get there."""
    for k, s in enumerate(body):
        before, rest = body[:k], body[k + 1 :]
        match s:
            case ir.Jump(word="continue"):
                return tuple(before)
            case ir.If(then=then, otherwise=otherwise) if jumps(s, "continue"):
                then, otherwise = (without_continue((*side, *rest)) for side in (then, otherwise))
                return (*before, replace(s, then=then, otherwise=otherwise))
            case ir.Profile(body=inner) if jumps(s, "continue"):
                return (*before, *without_continue((*inner, *rest)))
    return tuple(body)


def run_statement(c: Lifting, b: Batch, s: ir.Stmt) -> None:
    if isinstance(s, ir.Assign | ir.Update):
        forget_entries_at(c, s.name)
    match s:
        case ir.Declare():
            declare(c, b, s)
        case ir.Assign():
            assign(c, b, s)
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
        case ir.Say(what="reject", args=args):
            c.fragile = True
            c.out.append(replace(s, args=tuple(said(c, b, a) for a in args)))
        case ir.Jump(word=word):
            raise Dependent(f"`{word}` ends the loop early")
        case _:
            raise Dependent("it has an effect beyond the target and its own variables")


def said(c: Lifting, b: Batch, part: ir.Expr | ir.Text) -> ir.Expr | ir.Text:
    """A part of a message, of the first entry that comes to it."""
    if isinstance(part, ir.Text):
        return part
    value = lift(c, b, part)
    return first_entry(value, part.type) if any_axes(value) else value


def declare(c: Lifting, b: Batch, s: ir.Declare) -> None:
    if isinstance(s.shape, ir.TupleShape):
        raise Dependent("it declares a tuple")
    sizes = lift_all(c, b, s.shape)
    if any_axes(*sizes):
        raise Dependent(f"the size of `{s.name}` varies from one iteration to the next")
    b.locals[s.name] = b.axes
    c.out.append(ir.Declare(s.name, along(s.type, *b.axes), (*b.counts, *sizes), s.span))


def assign(c: Lifting, b: Batch, s: ir.Assign) -> None:
    if s.name in c.sums and is_shared(b, s.name):
        return add_up(c, b, s)
    if not s.declares and b.owner(s.name) is None:
        raise Dependent(f"`{s.name}` is carried from one iteration to the next")
    value = lift(c, b, s.value)
    if s.declares and s.name in c.once:  # it varies over what its value does
        return declare_once(c, b, s, value)
    if s.declares:
        b.locals[s.name] = b.axes
    owner = b.owner(s.name)
    assert owner is not None
    value = of_declared_sizes(c, b, s, spread(b, value, b.axes))
    where, axes = path_to(b, owner), owner.locals[s.name]
    if b is owner:
        c.out.append(ir.Assign(s.name, value, s.span, s.declares, batch_shape(c, b, s.shape)))
    elif b.mask is not None and is_aligned(b, owner):
        c.out.append(ir.Assign(s.name, where_taken(b.mask, value, ir.Var(s.name, value.type)), s.span))
    elif shares_entries(b, owner):
        raise Dependent(f"`{s.name}` is carried from one inner iteration to the next")
    else:
        picks = tuple(where.get(axis) for axis in axes)
        c.out.append(ir.Scatter(s.name, picks, (), value, along(s.value.type, *axes), s.span))
    return None


def declare_once(c: Lifting, b: Batch, s: ir.Assign, value: ir.Expr) -> None:
    """A variable that is set where it is declared and never again."""
    axes = axes_of(value.type)
    if not axes:
        c.out.append(replace(s, value=value, shape=fixed_shape(c, b, s.shape)))
        return
    value = of_declared_sizes(c, b, s, value)
    b.locals[s.name] = axes
    sizes = fixed_shape(c, b, s.shape)
    counts = (count_of(b.indices[axis]) for axis in axes)
    c.out.append(ir.Assign(s.name, value, s.span, True, (*counts, *sizes) if sizes else ()))


def is_shared(b: Batch, name: str) -> bool:
    """Whether several entries of the batch set one entry of the variable."""
    owner = b.owner(name)
    return owner is None or shares_entries(b, owner)


def add_up(c: Lifting, b: Batch, s: ir.Assign | ir.Update) -> None:
    """What the iterations add to a variable, as one sum or one for each of its entries."""
    found, owner = addend(s), b.owner(s.name)
    assert found is not None
    sum_, added = found
    axes = owner.locals[s.name] if owner else ()
    if isinstance(s, ir.Assign) and {*axes} <= {*b.axes} and not (owner and path_to(b, owner)):
        whole = ir.Var(s.name, along(sum_.args[0].type, *axes))
        sums = replace(sum_, args=(whole, summed(c, b, lift(c, b, added), axes)), type=whole.type)
        c.out.append(replace(s, value=with_sum(s.value, sums)))
        return
    whole, at = places(c, b, s, owner)
    over = b.over(*at) or b.axes[:1]
    if len(over) > 1:
        raise OneAxis
    where = tuple(spread(b, index, over) for index in at)
    value = spread(b, summed(c, b, lift(c, b, added), over), over)
    sums = replace(sum_, args=(whole, total_at(value, where, whole)), type=whole.type)
    c.out.append(ir.Assign(s.name, with_sum(s.value, sums), s.span))


def summed(c: Lifting, b: Batch, value: ir.Expr, left: Sequence[str]) -> ir.Expr:
    """The sum of a value over all axes of the batch but those that are left."""
    if b.mask is not None:
        value = taken_alone(b, spread(b, value, b.axes))
    same = [index for axis, index in b.indices.items() if axis not in (*axes_of(value.type), *left)]
    for axis in reversed(axes_of(value.type)):
        if axis not in left:
            value = total(value, along(entry(value.type), *(a for a in axes_of(value.type) if a != axis)))
    return counted(c, value, same)


def counted(c: Lifting, value: ir.Expr, indices: Sequence[ir.Expr]) -> ir.Expr:
    """The sum of what is the same along the axes of some index sets."""
    for index in indices:
        c.fragile = True  # 0 times infinity is nan
        times = binary("*", count_of(index), value, element_type(value.type))
        value = replace(times, type=value.type)
    return value


def taken_alone(b: Batch, value: ir.Expr) -> ir.Expr:
    """The values of a batch, zero where they do not count."""
    return value if b.mask is None else elementwise(batching.only, (value, b.mask), value.type)


def places(
    c: Lifting, b: Batch, s: ir.Assign | ir.Update, owner: Batch | None
) -> tuple[ir.Var, tuple[ir.Expr, ...]]:
    """A variable, and where in it entries of the batch add something, an index an axis."""
    if isinstance(s, ir.Assign):
        assert owner is not None
        axes, where = owner.locals[s.name], path_to(b, owner)
        own = {axis: helper(batching.positions, (index,), index.type) for axis, index in b.indices.items()}
        return ir.Var(s.name, along(s.value.type, *axes)), tuple({**own, **where}[axis] for axis in axes)
    found = addend(s)
    assert found is not None
    base = found[0].args[0]
    if owner is None and isinstance(base, ir.Index) and isinstance(base.base, ir.Var):
        at = tuple(i.index for i in base.items if isinstance(i, ir.At) and i.index.type == INT)
        if len(at) == len(base.items):
            return base.base, lift_all(c, b, at)
    raise Dependent(f"`{s.name}` may get two values for one entry")


def batch_shape(c: Lifting, b: Batch, sizes: Sequence[ir.Expr]) -> tuple[ir.Expr, ...]:
    """The declared sizes after the batch axis; () when there are none, or they vary."""
    fixed = fixed_shape(c, b, sizes)
    return (*b.counts, *fixed) if fixed else ()


def of_declared_sizes(c: Lifting, b: Batch, s: ir.Assign, value: ir.Expr) -> ir.Expr:
    """The value, held to sizes that vary; the statement itself is to those that do not."""
    if not s.shape or fixed_shape(c, b, s.shape):
        return value
    sizes = (spread(b, lift(c, b, size), (b.axis,)) for size in s.shape)
    return helper(batching.of_sizes, (value, *sizes), value.type)


def fixed_shape(c: Lifting, b: Batch, sizes: Sequence[ir.Expr]) -> tuple[ir.Expr, ...]:
    """The declared sizes; () when they vary, as where each iteration asks an array for its size."""
    lifted = lift_all(c, b, sizes)
    return () if any_axes(*lifted) else lifted


def shares_entries(b: Batch, owner: Batch) -> bool:
    """Whether several entries of the batch belong to one entry of the owner: a nest lies between."""
    return len(b.variables) > len(owner.variables)


def update(c: Lifting, b: Batch, s: ir.Update) -> None:
    """`x[...] = value`: each entry of the batch must have a place of its own."""
    step = s.path[0]
    if len(s.path) > 1 or not isinstance(step, tuple):
        raise Dependent(f"`{s.name}` is changed deep inside")
    if isinstance(core(s.value.type), Tuple):
        raise Dependent("a tuple is set inside the loop")
    owner = b.owner(s.name)
    own = own_places(b, owner)
    crowded = any(not any(tells_apart(b, i, v) for i in step) for v in own)
    if crowded and s.name in c.sums:
        return add_up(c, b, s)
    if crowded:
        raise Dependent(f"`{s.name}` may get two values for one entry")
    if owner is None:
        for other in c.writes.get(s.name, []):
            if not (mirrored(b, other, step) or apart(b, other, step)):
                require_own_entry(b, own, s.name, other, step)
    value = keep(c, b, (s.name, step), lift(c, b, s.value))
    if owner is None and b.mask is not None and is_plain_entry(b, step):
        return update_all(c, b, s, step, value)
    items = lift_items(c, b, step)
    axes = owner.locals[s.name] if owner else ()
    where = path_to(b, owner) if owner else {}
    if not any_axes(value) and rank(s.value.type) > 0:
        value = to_batch(c, b, s.value)
    picks = tuple(where.get(axis) for axis in axes)
    c.out.append(ir.Scatter(s.name, picks, items, value, along(updated(s), *axes), s.span))
    return None


def updated(s: ir.Update) -> Type:
    """The type of the variable of which entries are set, as far as its axes go."""
    (step,) = s.path
    assert isinstance(step, tuple)
    entries = sum(isinstance(i, ir.At) and i.index.type == INT for i in step)
    return array_of(s.value.type, entries)


def update_all(c: Lifting, b: Batch, s: ir.Update, step: Sequence[ir.IndexItem], value: ir.Expr) -> None:
    """`x[n] = value` for the entries that are taken, the others being given the value they have."""
    assert b.mask is not None
    items = lift_items(c, without_masks(b), step)
    whole = ir.Var(s.name, array_of(s.value.type, len(step)))
    old = ir.Gather(whole, (), items, along(s.value.type, *b.over(*indices(items))))
    c.out.append(ir.Scatter(s.name, (), items, where_taken(b.mask, value, old), whole.type, s.span))


def keep(c: Lifting, b: Batch, entry: Entry, value: ir.Expr) -> ir.Expr:
    """The value, under a name for the statements that read the entry back in the same iteration."""
    name, items = entry
    gone = [e for e in c.stored if e[0] == name and e[1] != items and not mirrored(b, e[1], items)]
    for e in gone:
        del c.stored[e]
    if entry not in c.reads or not any_axes(value):
        c.stored.pop(entry, None)
        return value
    kept = c.name("value", value)
    c.stored[entry] = id(b), kept
    return kept


def forget_entries_at(c: Lifting, name: str) -> None:
    """Entries written with a variable in their index are others once it changes."""
    c.stored = {
        (x, items): value
        for (x, items), value in c.stored.items()
        if not any(isinstance(n, ir.Var) and n.name == name for n in walk(items))
    }


def increment(c: Lifting, b: Batch, s: ir.Increment) -> None:
    """One sum over everything, of what is the same along an axis as many times as that has entries."""
    value = lift(c, b, s.value)
    if not any_axes(value) and rank(s.value.type) > 0:
        raise Dependent("a container that does not vary is added in every iteration")
    if b.mask is not None:
        count = helper(batching.count_of, (b.mask,), INT)
        value = taken_alone(b, value) if any_axes(value) else binary("*", count, value, REAL)
        c.fragile |= not any_axes(value)
        c.out.append(replace(s, value=value))
        return
    same = [index for axis, index in b.indices.items() if axis not in axes_of(value.type)]
    if isinstance(value, ir.Apply) and value.callee.reduce == "sum" and any_axes(value):
        value = value if value.callee.batch in ("none", "whole") else replace(value, type=REAL)
    c.out.append(replace(s, value=counted(c, value, same)))


# --- Control flow --------------------------------------------------------------------------------


def branch(c: Lifting, b: Batch, s: ir.If) -> None:
    if splits(b, s):  # `if (a && b)` is `if (a) if (b)`: b only where a holds
        assert isinstance(s.condition, ir.Logical)
        inner = replace(s, condition=s.condition.right)
        return branch(c, b, replace(s, condition=s.condition.left, then=(inner,)))
    condition = lift(c, b, s.condition)
    if not any_axes(condition):
        then, otherwise = (captured(c, b, side) for side in (s.then, s.otherwise))
        c.out.append(replace(s, condition=condition, then=then, otherwise=otherwise))
        return None
    chosen, masked = c.name("test", condition), has_mask(c, b, s.condition)
    for impl, side in ((batching.where_true, s.then), (batching.where_false, s.otherwise)):
        if side:
            entries = taking(c, b, impl, chosen, masked)
            c.unless_empty(entries, partial(run, c, entries, side))
    return None


def splits(b: Batch, s: ir.If) -> bool:
    """Whether the right side of the condition may only be looked at where the left side holds."""
    match s.condition:
        case ir.Logical(op="and", right=right):
            return not s.otherwise and may_fail(right)
        case _:
            return False


def captured(c: Lifting, b: Batch, body: Sequence[ir.Stmt], forget: Collection[str] = ()) -> Stmts:
    """What running the body adds, taken aside; variables to forget may have changed when it runs."""
    return c.aside(partial(afresh, c, forget, partial(run, c, b, body)))


def afresh(c: Lifting, forget: Collection[str], work: Callable[[], None]) -> None:
    """Do the work without what is known of the entries of some variables."""
    c.stored = {entry: value for entry, value in c.stored.items() if entry[0] not in forget}
    work()


def inner_loop(c: Lifting, b: Batch, s: ir.For) -> None:
    """A rectangle, or one flat batch of pairs, if that can be; else a loop that stays, over arrays."""
    before = c.mark(b)
    if len(b.axes) > 1:
        return pairs_or_loop(c, b, s, flat=False)
    try:
        pairs_or_loop(c, b, s, flat=False)
    except OneAxis:
        c.back_to(before, b)
        pairs_or_loop(c, b, s, flat=True)
    return None


def pairs_or_loop(c: Lifting, b: Batch, s: ir.For, flat: bool) -> None:
    before, writes, sums = c.mark(b), c.writes, c.sums
    own = {name for name in accumulated(s.body) if not is_shared(b, name)}
    try:
        c.writes, c.sums = outer_writes(s) | writes, accumulated(s.body) & (own | sums)
        pairs = nest(c, b, s, flat)
        c.unless_empty(pairs, partial(run, c, pairs, s.body))
        c.writes, c.sums = writes, sums
    except Dependent:
        c.back_to(before, b)
        lower, upper = lift(c, b, s.lower), lift(c, b, s.upper)
        if any_axes(lower, upper):
            return abreast(c, b, s)
        body = captured(c, b, s.body, forget=set(outer_writes(s)))
        c.out.append(replace(s, lower=lower, upper=upper, body=body))
    return None


def abreast(c: Lifting, b: Batch, s: ir.For) -> None:
    """Loops of different bounds, one for each entry of the batch: a step is run for those it belongs to."""
    if is_masked(b):
        raise Dependent("which iterations there are depends on the branch around the loop")
    if len(b.axes) > 1:
        raise OneAxis
    lower, upper = (c.name("bound", to_batch(c, b, bound)) for bound in (s.lower, s.upper))

    def step() -> None:
        within = restrict(c, b, batching.where_within, (lower, upper, ir.Var(s.variable, INT)))
        c.unless_empty(within, partial(run, c, within, s.body))

    bounds = (helper(batching.earliest, (lower,), INT), helper(batching.latest, (upper,), INT))
    c.out.append(ir.For(s.variable, *bounds, c.aside(partial(afresh, c, set(outer_writes(s)), step)), s.span))


def repeat(c: Lifting, b: Batch, s: ir.While) -> None:
    """`while`, until every entry is done: a step is run for those that go on."""
    if is_masked(b) or has_mask(c, b, s.condition):
        raise Dependent("parameters decide how often a loop runs")
    axis, name = b.axis, c.fresh("running")
    running = ir.Var(name, along(INT, name))

    def look() -> None:
        going = helper(batching.where_true, (to_batch(c, b, s.condition),), running.type)
        c.out.append(ir.Assign(running.name, going, s.span, declares=True))

    def step() -> None:
        run(c, restricted(c, b, {axis: c.name("at", running)}), s.body)
        look()

    look()
    size = helper(batching.batch_size, (running,), INT)
    body = c.aside(partial(afresh, c, set(outer_writes(s)), step))
    c.out.append(ir.While(size, body, s.span))
