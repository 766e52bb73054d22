"""Statements along the draws."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import Dependent, at_positions, helper
from ppl.ir.passes.draws_branches import for_some, for_those
from ppl.ir.passes.draws_expressions import (
    laid,
    lift_all,
    lift_aside,
    lift_draws,
    lift_places,
    of_each,
    of_one,
    shared,
)
from ppl.ir.passes.draws_state import (
    COUNT,
    DRAW,
    INDEX_SETS,
    SIZES,
    Along,
    Functions,
    Stmts,
    by_draw,
    is_flat_size,
    less_one,
    one_step,
    over,
    part_of,
    picked,
    set_of_all,
    spread,
    whose_var,
)
from ppl.ir.passes.iterations import without_continue
from ppl.ir.passes.jumps import has_exit, left_by_flags
from ppl.ir.varying import every_statement, varies, varying_names
from ppl.ir.walk import assigned_names, jumps, rewrite, used_names
from ppl.stdlib import batching, over_draws
from ppl.types import INT, REAL, Tuple, Type, array_of, axes_of, core, entry, rank


def statements(c: Along, body: Sequence[ir.Stmt]) -> Stmts:
    if any(jumps(s, "continue") for s in body) and parts(c.varying, body):
        body = without_continue(body)

    def lay() -> None:
        for s in body:
            c.span = s.span
            lay_statement(c, s)

    return c.aside(lay)


def parts(names: set[str], body: Sequence[ir.Stmt]) -> bool:
    """Whether draws go different ways somewhere in the statements."""
    return any(isinstance(s, ir.If) and varies(s.condition, names) for s in every_statement(body))


def left_together(made: Functions, body: Stmts, start: set[str]) -> Stmts:
    """The statements, where some draws would leave a loop before others with flags; `start` varies before."""
    names = varying_names(body, start)

    def apart(s: ir.For | ir.While) -> bool:
        decides = s.condition if isinstance(s, ir.While) else (s.lower, s.upper)
        return has_exit(s) and (varies(decides, names) or parts(names, s.body))

    return left_by_flags(body, made, apart)


def lay_statement(c: Along, s: ir.Stmt) -> None:
    match s:
        case ir.Declare():
            c.out.append(declare(c, s))
        case ir.Assign():
            assign(c, s)
        case ir.Update(name=name, path=path) if name in c.varying and in_tuple(c, s):
            set_in_tuple(c, s)
        case ir.Update(name=name, path=path, value=value) if name in c.varying:
            items = one_step(path)
            t = c.types[name]  # its axes are those of an array here, though a loop may have set it whole
            put(c, ir.Scatter(name, (), items, value, array_of(entry(t), len(axes_of(t))), s.span))
        case ir.Scatter(name=name) if name in c.varying or name in c.flat:
            put(c, s)
        case ir.Update(name=name, path=path, value=value) if name not in c.flat:
            c.out.append(replace(s, path=lift_path(c, path), value=shared(c, (value,))[0]))
        case ir.Scatter(items=items, value=value, picks=picks):
            (value,) = shared(c, (value,))
            picks, items, _ = lift_places(c, picks, items)
            c.out.append(replace(s, picks=picks, items=items, value=value))
        case ir.Increment(value=value):
            increment(c, s, lift_draws(c, value))
        case ir.CallVoid(call=call):
            made = lift_draws(c, call)
            assert isinstance(made, ir.CallUser)
            c.out.append(replace(s, call=made))
        case ir.For():
            loop(c, s)
        case ir.While():
            repeat(c, s)
        case ir.If():
            branch(c, s)
        case ir.Profile(body=body):
            c.out.append(replace(s, body=statements(c, body)))
        case ir.Return(value=value):
            c.out.append(s if value is None else replace(s, value=laid(c, value)))
        case ir.Scan():
            c.out.append(scan(c, s))
        case ir.CheckDeclared(name=name, declared=d) if varies((ir.Var(name, d.type), bounds(d)), c.varying):
            with_axis(c, name, d.type)
            c.out.append(replace(s, declared=declared(c, d)))
        case ir.Say(what=what, args=args) if what != "print":
            said = tuple(a if isinstance(a, ir.Text) else of_one(c, a) for a in args)
            c.out.append(replace(s, args=said))
        case ir.CheckDeclared(declared=d):
            c.out.append(replace(s, declared=replace(d, arguments=shared(c, d.arguments))))
        case ir.Jump():
            c.out.append(s)
        case _:
            raise Dependent("what is printed for a draw stands together")


def bounds(d: ir.Declared) -> tuple[ir.Expr, ...]:
    """The arguments of its constraints, those of its parts too."""
    return (*d.arguments, *(a for item in d.items for a in bounds(item)))


def with_axis(c: Along, name: str, t: Type) -> None:
    """From here on a variable has the axis of the draws."""
    if name not in c.varying:
        assert c.span is not None
        value = ir.Var(name, t)
        c.out.append(ir.Assign(name, spread(value), c.span, declares=True))
        c.varying.add(name)


def declared(c: Along, d: ir.Declared) -> ir.Declared:
    """A declaration with its bounds laid out along the draws."""
    return replace(
        d,
        type=over(d.type),
        arguments=tuple(map(partial(laid, c), d.arguments)),
        items=tuple(map(partial(declared, c), d.items)),
    )


def declare(c: Along, s: ir.Declare) -> ir.Stmt:
    c.types[s.name] = s.type
    if isinstance(s.shape, ir.TupleShape):
        if s.name not in c.varying:
            return s
        aside = c.functions.fresh("unset")
        c.out.append(replace(s, name=aside))
        value = helper(over_draws.spread_all, (ir.Var(aside, s.type), DRAW), over(s.type))
        return ir.Assign(s.name, value, s.span, declares=True)
    shape = lift_sizes(c, s.shape)
    along = [c.flat[name] for name in sorted(used_names(s.shape) & c.flat.keys())]
    if along:  # one entry for each of an index set
        c.flat[s.name] = along[0]
        return replace(s, type=over(s.type, along[0]), shape=shape)
    if s.name not in c.varying:
        return replace(s, shape=shape)
    return replace(s, type=over(s.type), shape=(COUNT, *shape))


def lift_sizes(c: Along, shape: Sequence[ir.Expr]) -> tuple[ir.Expr, ...]:
    """Sizes, which all draws share; that of an index set that differs by draw is of all together."""
    return tuple(flat_size(c, e) if is_flat_size(c, e) else shared(c, (e,))[0] for e in shape)


def flat_size(c: Along, e: ir.Expr) -> ir.Expr:
    """How many entries an index set that differs by draw has, of all draws together."""
    assert isinstance(e, ir.Apply)
    return replace(e, args=(lift_draws(c, e.args[0]),))


def assign(c: Along, s: ir.Assign) -> None:
    if index_set(c, s):
        return
    if s.declares:
        c.types[s.name] = s.value.type
    value = lift_draws(c, s.value)
    shape = lift_sizes(c, s.shape)
    if c.is_set(value):
        if not (s.declares or s.name in c.flat):
            raise Dependent(f"`{s.name}` differs in size from draw to draw")
        c.flat[s.name] = c.axis(value)
    elif s.name in c.flat:
        raise Dependent(f"`{s.name}` differs in size from draw to draw")
    elif s.name in c.varying:
        value, shape = of_each(c, value), (COUNT, *shape) if shape else ()
    elif c.axis(value):
        raise Dependent(f"`{s.name}` differs from draw to draw")
    c.out.append(replace(s, value=value, shape=shape))


def index_set(c: Along, s: ir.Assign) -> bool:
    """An index set that differs by draw: the entries of all draws, and which draw each is of."""
    value = s.value
    if not (isinstance(value, ir.Apply) and value.callee.impl in INDEX_SETS):
        return False
    args = lift_all(c, value.args)
    if not any(map(c.axis, args)):
        return False
    (axis,) = axes_of(value.type)  # of a rectangle, one index set an axis
    known = c.flat.get(axis) or c.flat.get(s.name)  # a loop finds its index set anew at every step
    whose = known or c.functions.fresh("draw")
    t = whose_var(whose).type
    if any(map(c.is_set, args)):
        if len(args) > 1:
            raise Dependent("the bounds of a loop differ from entry to entry")
        c.out.append(replace(s, value=replace(value, args=args, type=t)))
        owners: ir.Expr = at_positions(whose_var(c.axis(args[0])), less_one(ir.Var(s.name, t)))
    else:
        entries, owners = set_of_all(value.callee.impl, [of_each(c, args[0]), *args[1:]], t)
        c.out.append(replace(s, value=entries))
    c.out.append(ir.Assign(whose, owners, s.span, declares=True))
    c.flat[s.name] = c.flat[whose] = whose
    return True


def put(c: Along, s: ir.Scatter) -> None:
    """Entries of a variable of every draw."""
    value = lift_draws(c, s.value)
    picks, items, whose = lift_places(c, s.picks, s.items)
    whole = over(s.type, c.flat.get(s.name, ir.DRAW))
    if s.name in c.flat:
        value = picked(value, c.flat[s.name])
    elif whose in ("", ir.DRAW):
        if whose:
            value = value if c.axis(value) == ir.DRAW else spread(value)
        elif c.is_set(value):
            raise Dependent(f"`{s.name}` differs in size from draw to draw")
        picks = None, *picks
    else:
        value = picked(value, whose)
        picks = less_one(whose_var(whose)), *picks
    c.out.append(replace(s, items=items, value=value, picks=picks, type=whole))


def increment(c: Along, s: ir.Increment, value: ir.Expr) -> None:
    if c.is_set(value):
        whose = c.axis(value)
        if rank(value.type) != 1:
            value = helper(over_draws.sum_from, (value,), over(REAL, whose))
        value = by_draw(value, whose, over(REAL))
    c.out.append(replace(s, value=value))


def in_tuple(c: Along, s: ir.Update) -> bool:
    return s.name in c.types and isinstance(core(c.types[s.name]), Tuple)


def set_in_tuple(c: Along, s: ir.Update) -> None:
    """A part of a tuple, or of a tuple in an array, of every draw."""
    here: ir.Expr = ir.Var(s.name, c.types[s.name])
    for step in s.path[:-1]:
        here = part_of(here, step)
    last = s.path[-1]
    if isinstance(last, int) or isinstance(core(here.type), Tuple):
        return c.out.append(replace(s, path=lift_path(c, s.path), value=laid(c, s.value)))
    part = ir.Var(c.functions.fresh("part"), here.type)
    c.varying.add(part.name)
    lay_statement(c, ir.Assign(part.name, here, s.span, declares=True))
    put(c, ir.Scatter(part.name, (), last, s.value, part.type, s.span))
    return c.out.append(replace(s, path=lift_path(c, s.path[:-1]), value=laid(c, part)))


def lift_path(c: Along, path: Sequence[ir.Step]) -> tuple[ir.Step, ...]:
    out: list[ir.Step] = []
    for step in path:
        _, items, whose = lift_places(c, (), () if isinstance(step, int) else step)
        if whose:
            raise Dependent("an index differs from draw to draw")
        out.append(step if isinstance(step, int) else items)
    return tuple(out)


def branch(c: Along, s: ir.If) -> None:
    if is_flat_size(c, s.condition):
        condition = flat_size(c, s.condition)
        then, otherwise = statements(c, s.then), statements(c, s.otherwise)
        return c.out.append(replace(s, condition=condition, then=then, otherwise=otherwise))
    condition = lift_draws(c, s.condition)
    if not c.axis(condition):
        then, otherwise = statements(c, s.then), statements(c, s.otherwise)
        return c.out.append(replace(s, condition=condition, then=then, otherwise=otherwise))
    if c.is_set(condition):
        raise Dependent("a branch differs from entry to entry")
    test = c.name("test", condition)
    for impl, side in ((batching.where_true, s.then), (batching.where_false, s.otherwise)):
        if side:
            for_some(c, impl, (test,), side, statements)
    return None


def loop(c: Along, s: ir.For) -> None:
    """The iterations are the same for all draws, though some have fewer; so is what counts them."""
    outer = {s.variable} & c.varying  # another loop's, whose bounds differ
    c.varying -= outer
    iterations(c, s)
    c.varying |= outer


def iterations(c: Along, s: ir.For) -> None:
    lower, upper = lift_all(c, (s.lower, s.upper))
    if not (c.axis(lower) or c.axis(upper)):
        c.out.append(replace(s, lower=lower, upper=upper, body=statements(c, s.body)))
        return
    if c.is_set(lower) or c.is_set(upper):
        raise Dependent("the bounds of a loop differ")
    first = c.name("bound", of_each(c, lower))
    last = c.name("bound", of_each(c, upper))
    within = first, last, ir.Var(s.variable, INT)
    bounds = helper(batching.earliest, (first,), INT), helper(batching.latest, (last,), INT)
    body = c.aside(lambda: for_some(c, batching.where_within, within, s.body, statements))
    c.out.append(ir.For(s.variable, *bounds, body, s.span))


def repeat(c: Along, s: ir.While) -> None:
    """`while`, until every draw is done."""
    if is_flat_size(c, s.condition):
        return c.out.append(replace(s, condition=flat_size(c, s.condition), body=statements(c, s.body)))
    condition, prelude = lift_aside(c, s.condition)
    if not c.axis(condition):
        if prelude:
            raise Dependent("the condition of a loop needs statements of its own")
        return c.out.append(replace(s, condition=condition, body=statements(c, s.body)))
    if c.is_set(condition):
        raise Dependent("a loop differs from entry to entry")
    running = c.functions.fresh("running")

    def look() -> None:
        going = helper(batching.where_true, (laid(c, s.condition),), at.type)
        c.out.append(ir.Assign(running, going, s.span, declares=True))

    at = ir.Var(running, DRAW.type)
    look()

    def step() -> None:
        for_those(c, c.name("at", at), without_continue(s.body), statements)
        look()

    inside = c.aside(step)
    size = helper(batching.batch_size, (at,), INT)
    return c.out.append(ir.While(size, inside, s.span))


def scan(c: Along, s: ir.Scan) -> ir.Scan:
    """The recurrence of every draw; the steps have the axis that follows that of the draws."""
    if not c.varying & {*s.after}:
        return same_for_all(c, s)
    start = tuple(map(partial(laid, c), s.start))
    entries = lift_all(c, s.entries)
    read = used_names((s.step, s.next, s.batch, s.batch_next, s.fixed))
    if any(map(c.is_set, entries)) or read & c.flat.keys():
        raise Dependent("a recurrence differs in length from draw to draw")
    inside = {*s.carried, *(name for name, e in zip(s.inputs, entries, strict=True) if c.axis(e))}
    inside |= (read & c.varying) - {*s.carried, *s.inputs}
    types = c.types | dict(zip(s.carried, (e.type for e in s.start), strict=True))
    bodies = []
    for body, after in ((s.step, s.next), (s.batch, s.batch_next)):
        along = Along(c.functions, varying_names(body, inside), span=s.span, types=dict(types))
        made = statements(along, body)
        bodies.append((made, tuple(map(partial(laid, along), after))))
    (step, after_step), (batch, after_batch) = bodies
    return replace(
        s,
        start=start,
        entries=entries,
        fixed=lift_all(c, s.fixed),  # type: ignore[arg-type]
        step=step,
        next=after_step,
        batch=batch,
        batch_next=after_batch,
    )


def same_for_all(c: Along, s: ir.Scan) -> ir.Scan:
    """A recurrence that knows of what varies the sizes alone, which are found before it."""
    own = {*s.carried, *s.inputs, *assigned_names((*s.step, *s.batch))}

    def found_before(n: Any) -> Any:
        if not (isinstance(n, ir.Apply) and n.callee.impl in SIZES and used_names(n) & c.varying):
            return n
        if used_names(n) & own:
            raise Dependent("the size of what varies is asked for in the steps of a recurrence")
        return c.name("size", shared(c, (n,))[0])

    kept = tuple(v for v in s.fixed if v.name not in c.varying)
    found: ir.Scan = rewrite(replace(s, fixed=kept), found_before)
    if used_names((found.step, found.batch)) & c.varying:
        raise Dependent("a recurrence computes what differs from draw to draw in vain")
    return found
