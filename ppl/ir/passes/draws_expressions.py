"""Expressions along the draws: the value of every draw, or that which all share."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import Dependent, at_place, helper, same_along
from ppl.ir.passes.draws_branches import for_some
from ppl.ir.passes.draws_state import (
    DRAW,
    SIZES,
    Along,
    Indexed,
    Laid,
    Mask,
    State,
    Stmts,
    along_draws,
    along_set,
    any_tuple,
    by_draw,
    first_draw,
    is_flat_size,
    is_helper,
    less_one,
    picked,
    require_entries,
    shared_arguments,
    spread,
    whose_var,
)
from ppl.ir.passes.lift import may_fail, require_argument, truth, unset_like
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
    pairs = [lift_draws(c, e) for e in es]
    if any(state is not False for _, state in pairs):
        raise Dependent("a size or an index differs from draw to draw")
    return tuple(e for e, _ in pairs)


def laid(c: Along, e: ir.Expr) -> ir.Expr:
    """The value of every draw, though it be the same for all."""
    return all_laid((e,), (lift_draws(c, e),))[0]


def all_laid(es: Sequence[ir.Expr], pairs: Sequence[Laid]) -> tuple[ir.Expr, ...]:
    """The same of what lifting made of several expressions."""
    if any(isinstance(state, str) for _, state in pairs):
        raise Dependent("a value differs in size from draw to draw")
    return tuple(value if state else spread(e, value) for e, (value, state) in zip(es, pairs, strict=True))


def of_one(c: Along, e: ir.Expr) -> ir.Expr:
    """The value of one draw, whose shape all have.

    An array of tuples has its own shape: the axis of the draws is that of the items.
    """
    value, state = lift_draws(c, e)
    is_array = state is True and not isinstance(core(e.type), Tuple)
    return first_draw(value, e.type) if is_array else value


def lift_draws(c: Along, e: ir.Expr) -> Laid:
    """The value of every draw, or that which all share, and which of the two it is."""
    match e:
        case ir.Const():
            return e, False
        case ir.Var(name=name):
            if name in c.flat:
                return replace(e, type=along_set(e.type, c.flat[name])), c.flat[name]
            return (replace(e, type=along_draws(e.type)), True) if name in c.varying else (e, False)
        case ir.Promote(value=value):
            value, state = lift_draws(c, value)
            return replace(e, value=value, type=of_state(e.type, state)), state
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
        case ir.MakeArray(items=items):
            pairs = [lift_draws(c, i) for i in items]
            if not any(m for _, m in pairs):
                return replace(e, items=tuple(i for i, _ in pairs)), False
            if isinstance(core(e.type), Tuple):
                return ir.MakeArray(all_laid(items, pairs), along_draws(e.type)), True
            return helper(over_draws.bundle, all_laid(items, pairs), along_draws(e.type)), True
        case ir.MakeTuple(items=items):
            pairs = [lift_draws(c, i) for i in items]
            if not any(m for _, m in pairs):
                return replace(e, items=tuple(i for i, _ in pairs)), False
            return ir.MakeTuple(all_laid(items, pairs), along_draws(e.type)), True
        case ir.Item(base=base):
            value, state = lift_draws(c, base)
            return replace(e, base=value, type=along_draws(e.type) if state else e.type), state
        case ir.Logical():
            return lift_logical(c, e)
        case ir.Select():
            return lift_select(c, e)
        case ir.TargetSoFar():
            return helper(over_draws.for_all, (e, DRAW), along_draws(REAL)), True
        case _:
            raise Dependent("it is not known for many draws")


# --- Indices -------------------------------------------------------------------------------------


def of_state(t: Type, state: State) -> Type:
    """The type of a value that varies so."""
    return along_set(t, state) if isinstance(state, str) else along_draws(t) if state else t


def lift_index(c: Along, e: ir.Index) -> Laid:
    value, state = lift_draws(c, e.base)
    items, whose = lift_indices(c, e.items)
    if state is False and whose is None:
        return replace(e, base=value, items=items), False
    if isinstance(core(e.base.type), Tuple):  # the lists are the same for all draws
        if whose is not None:
            raise Dependent("an index differs from draw to draw")
        return replace(e, base=value, items=items, type=along_draws(e.type)), state
    return lift_gather(c, ir.Gather(e.base, at_place(e.base), e.items, e.type))


def lift_gather(c: Along, e: ir.Gather) -> Laid:
    value, state = lift_draws(c, e.base)
    picks, items, whose = lift_places(c, e.picks, e.items)
    kept = None in e.picks
    if whose is True:
        if isinstance(state, str) or kept:
            raise Dependent("an index differs from draw to draw and in a loop")
        require_entries(e.items)
        picks = (None, *picks) if state else picks
        return replace(e, base=value, items=items, picks=picks, type=along_draws(e.type)), True
    if isinstance(state, str):
        indices = (*e.picks, *(i.index for i in e.items if isinstance(i, ir.At)))
        varies = any(at is not None and axes_of(at.type) for at in indices)
        if not (varies or kept):  # one entry for all
            return replace(e, base=value, items=items, picks=picks), False
        if varies and whose is None:
            raise Dependent("an index set differs from draw to draw")
        own = whose if whose is not None else state
        return replace(e, base=value, items=items, picks=picks, type=along_set(e.type, own)), own
    if whose is None:
        picks = (None, *picks) if state else picks
        return replace(e, base=value, items=items, picks=picks, type=of_state(e.type, state)), state
    if state is False:
        return replace(e, base=value, items=items, picks=picks, type=along_set(e.type, whose)), whose
    if kept:
        raise Dependent("an index set differs from draw to draw")
    picks = (less_one(whose_var(whose)), *picks)
    return replace(e, base=value, items=items, picks=picks, type=along_set(e.type, whose)), whose


def lift_indices(c: Along, items: Sequence[ir.IndexItem]) -> tuple[tuple[ir.IndexItem, ...], Indexed]:
    """Indices: None where all draws share them, True where they differ, or whose their entries are."""
    out: list[ir.IndexItem] = []
    found: set[Literal[True] | str] = set()
    for item in items:
        match item:
            case ir.At(index=index):
                value, state = lift_draws(c, index)
                if state is not False:
                    found.add(state)
                out.append(ir.At(value))
            case ir.Between(lower=lower, upper=upper):
                ends = (None if x is None else shared(c, (x,))[0] for x in (lower, upper))
                out.append(ir.Between(*ends))
    if len(found) > 1:
        raise Dependent("an index set differs from draw to draw")
    return tuple(out), found.pop() if found else None


def lift_places(
    c: Along, picks: Picks, items: Sequence[ir.IndexItem]
) -> tuple[Picks, tuple[ir.IndexItem, ...], Indexed]:
    """As lift_indices, of positions along axes as well."""
    positions = tuple(ir.At(at) for at in picks if at is not None)
    lifted, whose = lift_indices(c, (*positions, *items))
    left = (i.index for i in lifted[: len(positions)] if isinstance(i, ir.At))
    return tuple(None if at is None else next(left) for at in picks), lifted[len(positions) :], whose


# --- Conditions ----------------------------------------------------------------------------------


def lift_logical(c: Along, e: ir.Logical) -> Laid:
    left, left_state = lift_draws(c, e.left)
    found: list[Laid] = []
    made = c.aside(lambda: found.append(lift_draws(c, e.right)))
    right, right_state = found[0]
    if left_state is False and right_state is False and not made:
        return replace(e, left=left, right=right), False
    if isinstance(left_state, str) or isinstance(right_state, str) or not may_fail(e.right):
        c.out += made
        impl = batching.both if e.op == "and" else batching.either
        args = ir.Apply(ir.Callee(impl.__name__, impl, "elementwise"), (e.left, e.right), INT)
        return lift_call(c, args)
    decided, undecided = (0, batching.where_true) if e.op == "and" else (1, batching.where_false)
    test = c.name("test", laid(c, e.left))
    return in_branches(c, INT, ir.Const(decided, INT), [(undecided, test, truth(e.right))])


def lift_select(c: Along, e: ir.Select) -> Laid:
    condition, state = lift_draws(c, e.condition)
    if isinstance(state, str):
        raise Dependent("a choice differs from entry to entry")
    if state is False:
        return select_shared(c, e, condition)
    if c.span is None:  # a bound of a parameter, before any statement
        args = condition, laid(c, e.then), laid(c, e.otherwise)
        return helper(over_draws.chosen, args, along_draws(e.type)), True
    test = c.name("test", condition)
    branches = [(batching.where_true, test, e.then), (batching.where_false, test, e.otherwise)]
    if rank(e.type) and not isinstance(core(e.type), Tuple):
        return merged(c, e.type, test, branches), True
    return in_branches(c, e.type, unset_like(e.type), branches)


def merged(c: Along, t: Type, test: ir.Var, branches: Sequence[Branch]) -> ir.Expr:
    """A choice between containers, whose size is known where a side is evaluated."""
    assert c.span is not None
    sides = [ir.Var(c.functions.fresh("side"), along_draws(t)) for _ in branches]
    for side, (impl, _, value) in zip(sides, branches, strict=True):
        c.out.append(ir.Assign(side.name, helper(over_draws.absent, (), side.type), c.span, declares=True))
        sets = ir.Assign(side.name, value, c.span, declares=True)
        for_some(c, impl, (test,), (sets,), set_chosen)
    return helper(over_draws.merged, (test, *sides), along_draws(t))


def select_shared(c: Along, e: ir.Select, condition: ir.Expr) -> Laid:
    """A choice that is the same for all draws; statements of one side are run where it is chosen."""
    found: list[Laid] = []
    made = [
        c.aside(partial(lambda side: found.append(lift_draws(c, side)), side))
        for side in (e.then, e.otherwise)
    ]
    if not any(state for _, state in found):
        then, otherwise = (value for value, _ in found)
        return replace(e, condition=condition, then=then, otherwise=otherwise), False
    if any(isinstance(state, str) for _, state in found):
        raise Dependent("a choice differs from entry to entry")
    sides = (e.then, found[0]), (e.otherwise, found[1])
    laid = [value if state else spread(side, value) for side, (value, state) in sides]
    if not any(made):
        then, otherwise = laid
        return replace(e, condition=condition, then=then, otherwise=otherwise, type=then.type), True
    assert c.span is not None
    name = c.functions.fresh("chosen")
    bodies = [(*m, ir.Assign(name, v, c.span, True)) for m, v in zip(made, laid, strict=True)]
    c.out.append(ir.If(condition, bodies[0], bodies[1], c.span))
    return ir.Var(name, laid[0].type), True


def in_branches(c: Along, t: Type, start: ir.Expr, branches: Sequence[Branch]) -> Laid:
    """A variable that starts the same everywhere and is set where a test comes out as a branch wants."""
    name = c.functions.fresh("chosen")
    assert c.span is not None
    c.varying.add(name)
    c.types[name] = t
    c.out.append(ir.Assign(name, same_along(start, DRAW), c.span, declares=True))
    for impl, test, value in branches:
        for_some(c, impl, (test,), (ir.Assign(name, value, c.span),), set_chosen)
    return ir.Var(name, along_draws(t)), True


def set_chosen(c: Along, body: Stmts) -> Stmts:
    """One assignment, whose value every draw gets."""
    (s,) = body
    assert isinstance(s, ir.Assign)
    return c.aside(lambda: c.out.append(replace(s, value=laid(c, s.value))))


# --- Calls ---------------------------------------------------------------------------------------


def lift_call(c: Along, e: ir.Apply) -> Laid:
    if e.callee.impl in SIZES:
        if is_flat_size(c, e):
            whose = c.flat[e.args[0].name]  # type: ignore[union-attr]
            return helper(over_draws.counts, (whose_var(whose), DRAW), DRAW.type), True
        if e.callee.impl is batching.positions:
            value, state = lift_draws(c, e.args[0])
            if isinstance(state, str):
                return replace(e, args=(value,), type=along_set(e.type, state)), state
        asked = replace(e, args=tuple(map(partial(of_one, c), e.args)))
        return (replace(asked, callee=replace(e.callee, batch="whole")) if asked.axes else asked), False
    if e.callee.impl in (batching.both, batching.either):  # one of them may be the same in all iterations
        e = replace(e, callee=replace(e.callee, batch="elementwise"))
    pairs = [lift_draws(c, a) for a in e.args]
    states = {state for _, state in pairs}
    if e.callee.passes == "rng" and states <= {False}:
        pairs, states = one_each(e, pairs), {True}
    if states <= {False}:
        return replace(e, args=tuple(a for a, _ in pairs)), False
    along = [state for state in states if isinstance(state, str)]
    if along:
        return call_along(c, e, pairs, along)
    if e.callee.impl in over_draws.OF_BATCHES or is_helper(e.callee):
        return call_of_batches(c, e, pairs), True
    loops = len(e.axes)
    by_rows = e.callee.batch == "none" and e.callee.cores
    callee = replace(e.callee, batch="leading") if by_rows else e.callee
    if callee.batch == "none" and loops:
        raise Dependent(f"`{callee.name}` is called once for each entry of each draw")
    sizes = any(m and a.type == INT for a, (_, m) in zip(e.args, pairs, strict=True))
    if sizes and rank(e.type) and callee.batch != "elementwise":
        raise Dependent(f"the result of `{callee.name}` may differ in size from draw to draw")
    if callee.batch == "none":
        c.note(f"{callee.name} takes one draw at a time")
    return replace(e, callee=callee, args=tuple(a for a, _ in pairs), type=along_draws(e.type)), True


def one_each(e: ir.Apply | ir.CallUser, pairs: Sequence[Laid]) -> list[Laid]:
    """The arguments of a random draw that all draws share, laid out so that each gets one of its own."""
    require_argument(e)
    return [(spread(e.args[0], pairs[0][0]), True), *pairs[1:]]


def call_along(c: Along, e: ir.Apply, pairs: Sequence[Laid], whose: Sequence[str]) -> Laid:
    """A call along an index set that differs by draw, whose entries are the batch."""
    if len(whose) > 1:
        raise Dependent("an index set differs from draw to draw")
    impl, name = e.callee.impl, whose[0]
    args = tuple(picked(a, state, name) for a, state in pairs)
    t = along_set(e.type, name)
    if impl is batching.sum_entries:
        return by_draw(args[0], name, along_draws(e.type)), True
    if impl in (batching.spread, batching.spread_ints):
        if pairs[0][1] is False:
            return replace(e, args=args, type=t), name
        return args[0], name
    if impl is batching.sum_at:
        where = (whose_var(name), *args[2:])
        whole = laid(c, e.args[1])
        return helper(batching.sum_at, (args[0], whole, *where), whole.type), True
    if impl is batching.bundle and all(isinstance(state, str) for _, state in pairs):
        return replace(e, args=args, type=t), name
    if impl in over_draws.OF_BATCHES or is_helper(e.callee):
        raise Dependent("an index set differs from draw to draw")
    if any(axes_of(a.type) not in ((), (name,)) for a in args):
        raise Dependent("an index set differs from draw to draw")
    return replace(e, args=args, type=t), name


def call_of_batches(c: Along, e: ir.Apply, pairs: Sequence[Laid]) -> ir.Expr:
    """What a loop became, with the axis of the draws before its own."""
    impl = over_draws.OF_BATCHES.get(e.callee.impl)
    if impl is None:
        raise Dependent("an index set differs from draw to draw")
    shared = shared_arguments(impl, len(pairs))
    if any(pairs[k][1] for k in shared) and impl is not over_draws.sum_at:
        raise Dependent("an index set differs from draw to draw")
    args = tuple(
        value if k in shared or state else spread(a, value)
        for k, (a, (value, state)) in enumerate(zip(e.args, pairs, strict=True))
    )
    return helper(impl, args, along_draws(e.type))


def lift_solve(c: Along, e: ir.Solve) -> Laid:
    pairs = [lift_draws(c, a) for a in (*e.args, *e.settings)]
    both, mask = tuple(a for a, _ in pairs), tuple(bool(m) for _, m in pairs)
    args, settings = both[: len(e.args)], both[len(e.args) :]
    if any(isinstance(m, str) for _, m in pairs):
        raise Dependent(f"`{e.solver}` solves for one entry at a time")
    if not any(mask):
        return replace(e, args=args, settings=settings), False
    return replace(e, args=args, settings=settings, type=along_draws(e.type)), True


def lift_user_call(c: Along, e: ir.CallUser) -> Laid:
    pairs = [lift_draws(c, a) for a in e.args]
    whose = {state for _, state in pairs if isinstance(state, str)}
    if "rng" in e.passes and not any(state for _, state in pairs):
        pairs = one_each(e, pairs)
    mask = tuple(bool(m) for _, m in pairs)
    args = tuple(a for a, _ in pairs)
    if not any(mask):
        return replace(e, args=args), False
    adds_terms = bool({*e.passes} - {"rng"})
    if adds_terms and e.lifted:
        raise Dependent(f"`{e.name.rstrip('_')}` is called once for each entry of each draw")
    t = along_draws(e.type)
    if whose:
        if len(whose) > 1 or not e.lifted:
            raise Dependent("an index set differs from draw to draw")
        name = whose.pop()
        lanes = tuple(picked(a, state, name) for a, state in pairs)
        over = tuple(m or own for m, own in zip(mask, e.lifted, strict=True))
        return in_lanes(c, e, lanes, over, along_set(e.type, name)), name
    if not e.lifted:
        try:
            return replace(e, name=c.functions.over(e.name, mask, e.type), args=args, type=t), True
        except Dependent as why:
            if adds_terms or isinstance(core(e.type), Tuple) or any_tuple(e.args, mask):
                raise
            c.note(str(why))
            return replace(e, args=args, type=t, lifted=mask), True
    over = tuple(m or own for m, own in zip(mask, e.lifted, strict=True))
    lanes = lanes_of(c, e, args, mask)
    flat = in_lanes(c, e, lanes, over, along(entry(e.type), LANES))
    entries = helper(over_draws.by_draw, (flat, DRAW), t)
    return helper(over_draws.joined, (entries,), t) if e.joined else entries, True


def lanes_of(c: Along, e: ir.CallUser, args: Sequence[ir.Expr], mask: Mask) -> tuple[ir.Expr, ...]:
    """The arguments for every entry of every draw, one after the other."""
    count, of_draws = next((a, m) for a, m, own in zip(args, mask, e.lifted, strict=True) if own)
    entries = first_draw(count, along(entry(count.type), *axes_of(count.type)[1:])) if of_draws else count
    out: list[ir.Expr] = []
    for a, m, own in zip(args, mask, e.lifted, strict=True):
        if m and own:
            out.append(helper(batching.row_by_row, (a,), along(entry(a.type), LANES)))
        elif own:
            out.append(helper(batching.tile, (a, DRAW), along(entry(a.type), LANES)))
        else:
            out.append(helper(over_draws.repeat, (a, entries), along(entry(a.type), LANES)) if m else a)
    return tuple(out)


def in_lanes(c: Along, e: ir.CallUser, lanes: tuple[ir.Expr, ...], over: Mask, t: Type) -> ir.Expr:
    """The call for all lanes at once, else for one after the other."""
    e = replace(e, type=t)
    try:
        name = c.functions.over(e.name, over, None if e.joined else entry(t))
        return replace(e, name=name, args=lanes, lifted=(), joined=False)
    except Dependent as why:
        if any_tuple(e.args, over):
            raise
        c.note(str(why))
        return replace(e, args=lanes, lifted=over, joined=False)
