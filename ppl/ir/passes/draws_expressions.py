"""Expressions along the draws: the value of every draw, or that which all share."""

from collections.abc import Sequence
from dataclasses import replace

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import Dependent, at_place, first_entry, helper, same_along
from ppl.ir.passes.draws_branches import for_some
from ppl.ir.passes.draws_state import (
    DRAW,
    SIZES,
    Along,
    Mask,
    Stmts,
    any_tuple,
    by_draw,
    is_flat_size,
    is_helper,
    less_one,
    over,
    picked,
    spread,
    whose_var,
)
from ppl.ir.passes.lift import indices, may_fail, truth, unset_like
from ppl.stdlib import batching, over_draws
from ppl.stdlib.record import Impl
from ppl.types import INT, REAL, Tuple, Type, along, axes_of, core, entry, rank

LANES = "lanes__"
"""The axis of all entries of all draws, one after the other."""
Picks = tuple[ir.Expr | None, ...]
Branch = tuple[Impl, ir.Var, ir.Expr]
"""What finds the draws of a branch by a test, and the value there."""


def shared(c: Along, es: Sequence[ir.Expr]) -> tuple[ir.Expr, ...]:
    """Expressions that all draws share."""
    values = lift_all(c, es)
    if any(map(c.axis, values)):
        raise Dependent("a size or an index differs from draw to draw")
    return values


def laid(c: Along, e: ir.Expr) -> ir.Expr:
    """The value of every draw, though it be the same for all."""
    return of_each(c, lift_draws(c, e))


def of_each(c: Along, value: ir.Expr) -> ir.Expr:
    """The same of what lifting made."""
    if c.is_set(value):
        raise Dependent("a value differs in size from draw to draw")
    return value if c.axis(value) else spread(value)


def of_one(c: Along, e: ir.Expr) -> ir.Expr:
    """The value of one draw, whose shape all have.

    An array of tuples has its own shape: the axis of the draws is that of the items.
    """
    value = lift_draws(c, e)
    is_array = c.axis(value) == ir.DRAW and not isinstance(core(e.type), Tuple)
    return first_entry(value, e.type, 0) if is_array else value


def lift_all(c: Along, es: Sequence[ir.Expr]) -> tuple[ir.Expr, ...]:
    return tuple(lift_draws(c, e) for e in es)


def lift_draws(c: Along, e: ir.Expr) -> ir.Expr:
    """The value of every draw, or that which all share: its type says which of the two it is."""
    match e:
        case ir.Const():
            return e
        case ir.Var(name=name, type=t):
            return replace(e, type=over(t, c.flat.get(name, ir.DRAW if name in c.varying else "")))
        case ir.Promote(value=value):
            value = lift_draws(c, value)
            return replace(e, value=value, type=over(e.type, c.axis(value)))
        case ir.Item(base=base):
            base = lift_draws(c, base)
            return replace(e, base=base, type=over(e.type, c.axis(base)))
        case ir.Apply():
            return lift_call(c, e)
        case ir.CallUser():
            return lift_user_call(c, e)
        case ir.Solve():
            return lift_solve(c, e)
        case ir.Index():
            return lift_index(c, e)
        case ir.Gather():
            return lift_gather(c, e)
        case ir.MakeArray(items=items) | ir.MakeTuple(items=items):
            items = lift_all(c, items)
            sets = {*map(c.axis, items)}
            if any(sets) and (len(sets) > 1 or ir.DRAW in sets or isinstance(core(e.type), Tuple)):
                items = tuple(of_each(c, i) for i in items)
            return replace(e, items=items, type=over(e.type, c.axis(items[0]) if items else ""))
        case ir.Logical():
            return lift_logical(c, e)
        case ir.Select():
            return lift_select(c, e)
        case ir.TargetSoFar():
            return helper(over_draws.for_all, (e, DRAW), over(REAL))
        case _:
            raise Dependent("it is not known for many draws")


# --- Indices -------------------------------------------------------------------------------------


def lift_index(c: Along, e: ir.Index) -> ir.Expr:
    base = lift_draws(c, e.base)
    _, items, whose = lift_places(c, (), e.items)
    if not (c.axis(base) or whose):
        return replace(e, base=base, items=items)
    if isinstance(core(e.base.type), Tuple):  # the lists are the same for all draws
        if whose:
            raise Dependent("an index differs from draw to draw")
        return replace(e, base=base, items=items, type=over(e.type))
    return gathered(c, ir.Gather(base, at_place(e.base), items, e.type), whose)


def lift_gather(c: Along, e: ir.Gather) -> ir.Expr:
    base = lift_draws(c, e.base)
    picks, items, whose = lift_places(c, e.picks, e.items)
    return gathered(c, replace(e, base=base, picks=picks, items=items), whose)


def gathered(c: Along, e: ir.Gather, whose: str) -> ir.Expr:
    """The entries, of parts that are lifted but for the type; `whose` is the axis that indices vary over."""
    base, picks, items = e.base, e.picks, e.items
    own, in_place = c.axis(base), None in picks
    if whose == ir.DRAW and c.is_set(base):
        raise Dependent("an index differs from draw to draw and in a loop")
    if c.is_set(base):
        varies = any(axes_of(at.type) for at in (*picks, *indices(items)) if at is not None)
        if varies and not whose:
            raise Dependent("an index set differs from draw to draw")
        return replace(e, type=over(e.type, whose or own)) if varies or in_place else e  # one entry for all
    if not own:
        return replace(e, type=over(e.type, whose))
    if whose in ("", ir.DRAW):
        return replace(e, picks=(None, *picks), type=over(e.type))
    if in_place:
        raise Dependent("an index set differs from draw to draw")
    return replace(e, picks=(less_one(whose_var(whose)), *picks), type=over(e.type, whose))


def lift_places(
    c: Along, picks: Picks, items: Sequence[ir.IndexItem]
) -> tuple[Picks, tuple[ir.IndexItem, ...], str]:
    """Positions along axes and indices; "" where all draws share them, else the axis that they vary over."""
    at = tuple(None if pick is None else lift_draws(c, pick) for pick in picks)
    out: list[ir.IndexItem] = []
    for item in items:
        match item:
            case ir.At(index=index):
                out.append(ir.At(lift_draws(c, index)))
            case ir.Between(lower=lower, upper=upper):
                ends = (None if x is None else shared(c, (x,))[0] for x in (lower, upper))
                out.append(ir.Between(*ends))
    found = {c.axis(index) for index in (*at, *indices(out)) if index is not None} - {""}
    if len(found) > 1:
        raise Dependent("an index set differs from draw to draw")
    return at, tuple(out), found.pop() if found else ""


# --- Conditions ----------------------------------------------------------------------------------


def lift_aside(c: Along, e: ir.Expr) -> tuple[ir.Expr, Stmts]:
    """What lifting gives, and the statements it makes on the way."""
    found: list[ir.Expr] = []
    made = c.aside(lambda: found.append(lift_draws(c, e)))
    return found[0], made


def lift_logical(c: Along, e: ir.Logical) -> ir.Expr:
    left = lift_draws(c, e.left)
    right, made = lift_aside(c, e.right)
    if not (c.axis(left) or c.axis(right) or made):
        return replace(e, left=left, right=right)
    if c.is_set(left) or c.is_set(right) or not may_fail(e.right):
        c.out += made
        impl = batching.both if e.op == "and" else batching.either
        args = ir.Apply(ir.Callee(impl.__name__, impl, "elementwise"), (e.left, e.right), INT)
        return lift_call(c, args)
    decided, undecided = (0, batching.where_true) if e.op == "and" else (1, batching.where_false)
    test = c.name("test", laid(c, e.left))
    return in_branches(c, INT, ir.Const(decided, INT), [(undecided, test, truth(e.right))])


def lift_select(c: Along, e: ir.Select) -> ir.Expr:
    condition = lift_draws(c, e.condition)
    if c.is_set(condition):
        raise Dependent("a choice differs from entry to entry")
    if not c.axis(condition):
        return select_shared(c, e, condition)
    if c.span is None:  # a bound of a parameter, before any statement
        args = condition, laid(c, e.then), laid(c, e.otherwise)
        return helper(over_draws.chosen, args, over(e.type))
    test = c.name("test", condition)
    branches = [(batching.where_true, test, e.then), (batching.where_false, test, e.otherwise)]
    if rank(e.type) and not isinstance(core(e.type), Tuple):
        return merged(c, e.type, test, branches)
    return in_branches(c, e.type, unset_like(e.type), branches)


def merged(c: Along, t: Type, test: ir.Var, branches: Sequence[Branch]) -> ir.Expr:
    """A choice between containers, whose size is known where a side is evaluated."""
    assert c.span is not None
    sides = [ir.Var(c.functions.fresh("side"), over(t)) for _ in branches]
    for side, (impl, _, value) in zip(sides, branches, strict=True):
        c.out.append(ir.Assign(side.name, helper(over_draws.absent, (), side.type), c.span, declares=True))
        sets = ir.Assign(side.name, value, c.span, declares=True)
        for_some(c, impl, (test,), (sets,), set_chosen)
    return helper(over_draws.merged, (test, *sides), over(t))


def select_shared(c: Along, e: ir.Select, condition: ir.Expr) -> ir.Expr:
    """A choice that is the same for all draws; statements of one side are run where it is chosen."""
    (then, before), (otherwise, before_other) = lift_aside(c, e.then), lift_aside(c, e.otherwise)
    if not (c.axis(then) or c.axis(otherwise)):
        return replace(e, condition=condition, then=then, otherwise=otherwise)
    if c.is_set(then) or c.is_set(otherwise):
        raise Dependent("a choice differs from entry to entry")
    then, otherwise = of_each(c, then), of_each(c, otherwise)
    if not (before or before_other):
        return replace(e, condition=condition, then=then, otherwise=otherwise, type=then.type)
    assert c.span is not None
    name = c.functions.fresh("chosen")
    sides = (
        (*before, ir.Assign(name, then, c.span, True)),
        (*before_other, ir.Assign(name, otherwise, c.span, True)),
    )
    c.out.append(ir.If(condition, *sides, c.span))
    return ir.Var(name, then.type)


def in_branches(c: Along, t: Type, start: ir.Expr, branches: Sequence[Branch]) -> ir.Expr:
    """A variable that starts the same everywhere and is set where a test comes out as a branch wants."""
    name = c.functions.fresh("chosen")
    assert c.span is not None
    c.varying.add(name)
    c.types[name] = t
    c.out.append(ir.Assign(name, same_along(start, DRAW), c.span, declares=True))
    for impl, test, value in branches:
        for_some(c, impl, (test,), (ir.Assign(name, value, c.span),), set_chosen)
    return ir.Var(name, over(t))


def set_chosen(c: Along, body: Stmts) -> Stmts:
    """One assignment, whose value every draw gets."""
    (s,) = body
    assert isinstance(s, ir.Assign)
    return c.aside(lambda: c.out.append(replace(s, value=laid(c, s.value))))


# --- Calls ---------------------------------------------------------------------------------------


def lift_call(c: Along, e: ir.Apply) -> ir.Expr:
    if e.callee.impl in SIZES:
        return lift_size(c, e)
    if e.callee.impl in (batching.both, batching.either):  # one of them may be the same in all iterations
        e = replace(e, callee=replace(e.callee, batch="elementwise"))
    args = lift_all(c, e.args)
    if e.callee.passes == "rng" and not any(map(c.axis, args)):
        args = one_a_draw(args)
    axes = {c.axis(a) for a in args} - {""}
    if not axes:
        return replace(e, args=args)
    if sets := axes - {ir.DRAW}:
        return call_along(c, e, args, sets)
    if e.callee.impl in over_draws.OF_BATCHES or is_helper(e.callee):
        return call_of_batches(c, e, args)
    by_rows = e.callee.batch == "none" and e.callee.cores
    callee = replace(e.callee, batch="leading") if by_rows else e.callee
    if callee.batch == "none" and e.axes:
        raise Dependent(f"`{callee.name}` is called once for each entry of each draw")
    sizes = any(c.axis(made) and a.type == INT for a, made in zip(e.args, args, strict=True))
    if sizes and rank(e.type) and callee.batch != "elementwise":
        raise Dependent(f"the result of `{callee.name}` may differ in size from draw to draw")
    if callee.batch == "none":
        c.note(f"{callee.name} takes one draw at a time")
    return replace(e, callee=callee, args=args, type=over(e.type))


def one_a_draw(args: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """The arguments of a random draw, none of which varies, so that each draw gets its own."""
    if not args or isinstance(core(args[0].type), Tuple):
        raise Dependent("a random draw has no argument to say how many are wanted")
    return same_along(args[0], DRAW), *args[1:]


def lift_size(c: Along, e: ir.Apply) -> ir.Expr:
    """What looks at the shape of a value alone."""
    if is_flat_size(c, e):
        whose = c.flat[e.args[0].name]  # type: ignore[union-attr]
        return helper(over_draws.counts, (whose_var(whose), DRAW), DRAW.type)
    if e.callee.impl is batching.positions and c.is_set(value := lift_draws(c, e.args[0])):
        return replace(e, args=(value,), type=over(e.type, c.axis(value)))
    asked = replace(e, args=tuple(of_one(c, a) for a in e.args))
    return replace(asked, callee=replace(e.callee, batch="whole")) if asked.axes else asked


def call_along(c: Along, e: ir.Apply, args: tuple[ir.Expr, ...], sets: set[str]) -> ir.Expr:
    """A call along an index set that differs by draw, whose entries are the batch."""
    if len(sets) > 1:
        raise Dependent("an index set differs from draw to draw")
    impl, (whose,) = e.callee.impl, sets
    first = args[0]
    own = tuple(picked(a, whose) for a in args)
    t = over(e.type, whose)
    if impl is batching.sum_entries:
        return by_draw(own[0], whose, over(e.type))
    if impl in (batching.spread, batching.spread_ints):
        return own[0] if c.axis(first) else replace(e, args=own, type=t)
    if impl is batching.sum_at:
        whole = laid(c, e.args[1])
        return helper(batching.sum_at, (own[0], whole, whose_var(whose), *own[2:]), whole.type)
    loops = any(axes_of(a.type) not in ((), (whose,)) for a in own)
    if impl in over_draws.OF_BATCHES or is_helper(e.callee) or loops:
        raise Dependent("an index set differs from draw to draw")
    return replace(e, args=own, type=t)


def call_of_batches(c: Along, e: ir.Apply, args: Sequence[ir.Expr]) -> ir.Expr:
    """What a loop became, with the axis of the draws before its own."""
    impl = over_draws.OF_BATCHES.get(e.callee.impl)
    if impl is None:
        raise Dependent("an index set differs from draw to draw")
    own, rest = args[: over_draws.OWN[impl]], args[over_draws.OWN[impl] :]
    if any(map(c.axis, rest)) and impl is not over_draws.sum_at:
        raise Dependent("an index set differs from draw to draw")
    return helper(impl, (*(of_each(c, a) for a in own), *rest), over(e.type))


def lift_solve(c: Along, e: ir.Solve) -> ir.Expr:
    args, settings = lift_all(c, e.args), lift_all(c, e.settings)
    if any(map(c.is_set, (*args, *settings))):
        raise Dependent(f"`{e.solver}` solves for one entry at a time")
    varies = any(map(c.axis, (*args, *settings)))
    return replace(e, args=args, settings=settings, type=over(e.type) if varies else e.type)


def lift_user_call(c: Along, e: ir.CallUser) -> ir.Expr:
    args = lift_all(c, e.args)
    if "rng" in e.passes and not any(map(c.axis, args)):
        args = one_a_draw(args)
    mask = tuple(bool(c.axis(a)) for a in args)
    if not any(mask):
        return replace(e, args=args)
    adds_terms = bool({*e.passes} - {"rng"})
    if adds_terms and e.lifted:
        raise Dependent(f"`{e.name.rstrip('_')}` is called once for each entry of each draw")
    each = tuple(m or own for m, own in zip(mask, e.lifted, strict=True)) if e.lifted else mask
    if sets := {c.axis(a) for a in args if c.is_set(a)}:
        if len(sets) > 1 or not e.lifted:
            raise Dependent("an index set differs from draw to draw")
        (whose,) = sets
        return in_lanes(c, e, tuple(picked(a, whose) for a in args), each, over(e.type, whose))
    if not e.lifted:
        try:
            name = c.functions.over(e.name, mask, e.type)
            return replace(e, name=name, args=args, type=over(e.type))
        except Dependent as why:
            if adds_terms or isinstance(core(e.type), Tuple) or any_tuple(e.args, mask):
                raise
            c.note(str(why))
            return replace(e, args=args, type=over(e.type), lifted=mask)
    lanes = lanes_of(e, args, mask)
    flat = in_lanes(c, e, lanes, each, along(entry(e.type), LANES))
    entries = helper(over_draws.by_draw, (flat, DRAW), over(e.type))
    return helper(over_draws.joined, (entries,), over(e.type)) if e.joined else entries


def lanes_of(e: ir.CallUser, args: Sequence[ir.Expr], mask: Mask) -> tuple[ir.Expr, ...]:
    """The arguments for every entry of every draw, one after the other."""
    count, of_draws = next((a, m) for a, m, own in zip(args, mask, e.lifted, strict=True) if own)
    of_one = along(entry(count.type), *axes_of(count.type)[1:])
    entries = first_entry(count, of_one, 0) if of_draws else count
    out: list[ir.Expr] = []
    for a, m, own in zip(args, mask, e.lifted, strict=True):
        lanes = along(entry(a.type), LANES)
        if m and own:
            out.append(helper(batching.row_by_row, (a,), lanes))
        elif own:
            out.append(helper(batching.tile, (a, DRAW), lanes))
        else:
            out.append(helper(over_draws.repeat, (a, entries), lanes) if m else a)
    return tuple(out)


def in_lanes(c: Along, e: ir.CallUser, lanes: tuple[ir.Expr, ...], each: Mask, t: Type) -> ir.Expr:
    """The call for all lanes at once, else for one after the other."""
    e = replace(e, type=t)
    try:
        name = c.functions.over(e.name, each, None if e.joined else entry(t))
        return replace(e, name=name, args=lanes, lifted=(), joined=False)
    except Dependent as why:
        if any_tuple(e.args, each):
            raise
        c.note(str(why))
        return replace(e, args=lanes, lifted=each, joined=False)
