"""A loop that carries state becomes a scan, with all that needs no order taken out of its steps.

Before the scan, what the steps read but do not carry is computed for all of them at once.  The scan then
runs the state alone.  After it the state before every step is known, so that the whole body, terms of the
target and filled variables included, runs once as arrays.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.varying import unknown_names, varies, varying_names
from ppl.kernel.ir.walk import (
    assigned_names,
    backward_slice,
    declared_names,
    substituted,
    used_names,
    walk,
    walk_statements,
    without,
)
from ppl.optimise.passes.batch import (
    Batch,
    Dependent,
    Lifting,
    LiftOptions,
    any_axes,
    count_of,
    first_entry,
    helper,
)
from ppl.optimise.passes.fission import Fission
from ppl.optimise.passes.inline import rename
from ppl.optimise.passes.iterations import OuterLifting, enter, nest, new_attempt, run, shared_sums, update
from ppl.optimise.passes.lift import lift, local, path_to, spread
from ppl.optimise.passes.loop_body import set_once
from ppl.optimise.passes.recurrence import CarriedValue, Recurrence
from ppl.stdlib import batching
from ppl.types import INT, VOID, Tuple, axes_of, core, element_type, is_complex, over_axes

Stmts = tuple[ir.Stmt, ...]
Finish = Callable[[Sequence[ir.Stmt]], Stmts]


def scanned(r: Recurrence, options: LiftOptions, finish: Finish, around: OuterLifting = None) -> Stmts:
    """The statements that do what the loop does; `finish` runs the passes over the loops of statements.

    Around it are many draws, iterations of other loops, both, or nothing.

    Raises:
        Dependent: the body cannot run as arrays even when the state is known.
    """
    inside = None if options.unknown is None else unknown_names(r.body, {*options.unknown, *own_names(r)})
    c, b = new_attempt(r.loop, LiftOptions(options.fresh, inside), around)
    if around is not None and b.loops:
        c.outside, c.moving = around[0], around[0].moving
    require_one_length(c, b, r)
    require_own_states(b, r)
    if options.unknown is not None:
        require_steady_loops(r.body, {r.loop.variable, *assigned_names(r.body)}, bool(b.loops))
    r = with_own_copies(c, b, r)
    batch = nest(c, b, r.loop)
    head, c.out = c.out, []
    own = own_names(r) | declared_names(r.body)
    carry_draws(c, r)
    nexts = tuple(s.next for s in r.states)
    move = backward_slice(silent(r.body, own), used_names(nexts))
    fission = Fission({s.var.name for s in r.states}, {r.loop.variable}, c.fresh)
    before, step = fission.divide(move)
    before = backward_slice(before, used_names((step, nexts)))
    also_varying(c, (*fission.once, *before, *step))
    once = finish(fission.once)
    enter_body(c, batch, before, r)
    run(c, batch, before)
    scan = make_scan(c, batch, r, step, finish)
    c.out.append(scan)
    follow(c, batch, r, scan, assigned_names(move))
    nonempty = count_of(batch.indices[steps_of(batch)])
    return (*head, ir.If(nonempty, (*once, *c.out), (), r.loop.span))


def enter_body(c: Lifting, b: Batch, body: Sequence[ir.Stmt], r: Recurrence) -> None:
    """Enter the loop with this body, whose state is no variable from outside."""
    enter(c, replace(r.loop, body=tuple(body)))
    if c.outside is not None and b.parent is not None:
        c.sums -= shared_sums(r.loop, (c.outside, b.parent))
        for name, writes in c.outside.writes.items():
            others = [w for w in writes if r.loop.variable not in w.loops]
            c.writes[name] = [*c.writes.get(name, []), *others]
    c.writes = {name: w for name, w in c.writes.items() if name not in own_names(r)}


def require_one_length(c: Lifting, b: Batch, r: Recurrence) -> None:
    """Dependent, where not all draws take the same steps."""
    if any_axes(lift(c, b, r.loop.lower), lift(c, b, r.loop.upper)):
        raise Dependent("the number of steps of the recurrence differs from draw to draw")
    if c.draws is not None and path_to(b, c.draws.root):
        raise Dependent("the recurrence runs for some draws only")


def require_own_states(b: Batch, r: Recurrence) -> None:
    """Dependent, where iterations of the loops around share a state, or a mask says which of them count."""
    if b.is_masked:
        raise Dependent("the recurrence runs for some iterations only")
    for s in r.states:
        if b.loops and s.outer and not s.items and b.owner(s.outer) is not b:
            raise Dependent(f"`{s.outer}` is carried from one iteration to the next")


def require_steady_loops(body: Stmts, changing: set[str], masks: bool, under: bool = False) -> None:
    """Dependent, where compiled code knows not how often a loop in a step runs, or for which entries."""
    for s in body:
        if isinstance(s, ir.For):
            if under or used_names((s.lower, s.upper)) & (changing - {s.variable}):
                raise Dependent("an inner loop differs from step to step")
            require_steady_loops(s.body, changing - {s.variable}, masks, under)
        elif isinstance(s, ir.If):
            inside = under or (masks and bool(used_names(s.condition) & changing))
            require_steady_loops((*s.then, *s.otherwise), changing, masks, inside)


def with_own_copies(c: Lifting, b: Batch, r: Recurrence) -> Recurrence:
    """The recurrence, with names of their own for variables of which this batch picks some entries."""
    copies: dict[str, str] = {}
    read = variables((r.body, tuple(s.start for s in r.states))) if b.positions else []
    for v in read:
        owner = b.owner(v.name)
        if owner is not None and path_to(b, owner) and v.name not in assigned_names(r.body):
            copies[v.name] = c.local(b, v.name, local(b, v, owner)).name
    states = tuple(replace(s, start=rename(s.start, copies, {})) for s in r.states)
    return replace(r, body=tuple(rename(s, copies, {}) for s in r.body), states=states)


def steps_of(batch: Batch) -> str:
    """The axis of the steps, the innermost."""
    return batch.axes[-1]


def carry_draws(c: Lifting, r: Recurrence) -> None:
    """Find what varies from draw to draw; where one state does, all have the axis of the draws."""
    if c.draws is None:
        return
    names = varying_names(r.body, {*c.draws.varying})
    if any(varies(s.start, names) or s.next.name in names for s in r.states):
        names |= {s.var.name for s in r.states}
    c.draws.varying |= names
    also_varying(c, r.body)


def also_varying(c: Lifting, body: Sequence[ir.Stmt]) -> None:
    """Find what varies among statements with names of their own."""
    if c.draws is not None:
        c.draws.varying |= varying_names(body, {*c.draws.varying})


def lead(c: Lifting, b: Batch, r: Recurrence) -> tuple[str, ...]:
    """The axes of the states before that of the steps: of loops around, and of draws where they vary."""
    assert b.parent is not None
    varying = c.draws is not None and r.states[0].var.name in c.draws.varying
    return b.parent.axes if varying else b.parent.loops


def own_names(r: Recurrence) -> set[str]:
    """The names that stand for state and entries inside the loop."""
    return {s.var.name for s in r.states} | {f.local.name for f in r.filled}


# --- The scan ------------------------------------------------------------------------------------


def make_scan(c: Lifting, b: Batch, r: Recurrence, body: Stmts, finish: Finish) -> ir.Scan:
    refuse_complex(body)
    carried = tuple(s.var for s in r.states)
    carried_names = tuple(v.name for v in carried)
    entries = inputs(c, b, body, r)
    varying = {name: value for name, value in entries.items() if steps_of(b) in axes_of(value.type)}
    is_inside, in_loops = b.parent is not None and bool(b.parent.axes), len(b.loops) > 1
    batch, batch_next = ((), ()) if in_loops else at_once(c, b, r, body, entries)
    start = () if is_inside else tuple(named(c, s.start) for s in r.states)
    body, after = own_copy(c, body, r, {*carried_names, *varying})
    if is_inside:
        body, after, start = with_outer_axes(c, b, r, body, after, entries)
    step = steady_out(c, body if is_inside else finish(body), {*carried_names, *varying})
    ints = {name: value for name, value in varying.items() if element_type(value.type) == INT}
    batch = tuple(substituted(s, ints) for s in batch)
    batch = steady_out(c, batch, {*carried_names, *(varying.keys() - ints.keys())})
    inside = (step, batch, after, batch_next)
    own = {v.name for v in carried} | varying.keys() | assigned_names((*step, *batch)) | {ir.DRAW}
    fixed = [n for n in variables(inside) if n.name not in own]
    if any(isinstance(core(v.type), Tuple) for v in fixed):
        raise Dependent("each step reads a tuple")
    if ir.DRAW not in lead(c, b, r) and any(ir.DRAW in axes_of(v.type) for v in fixed):
        raise Dependent("the recurrence reads what differs from draw to draw, but its state does not differ")
    return ir.Scan(
        after=tuple(c.fresh(s.outer or s.var.name) for s in r.states),
        carried=tuple(v.name for v in carried),
        start=start,
        inputs=tuple(varying),
        entries=tuple(varying.values()),
        fixed=tuple(fixed),
        step=step,
        next=after,
        batch=batch,
        batch_next=batch_next,
        span=r.loop.span,
    )


def refuse_complex(body: Stmts) -> None:
    """Derivatives of a scan are stored as reals."""
    if any(is_complex(getattr(n, "type", VOID)) for n in walk(body)):
        raise Dependent("complex numbers are carried from one iteration to the next")


def steady_out(c: Lifting, body: Stmts, changing: set[str]) -> Stmts:
    """The statements less what is the same in every call, which moves before the scan."""
    fission = Fission(changing, set(), c.fresh)
    before, step = fission.divide(body)
    c.out += [*fission.once, *before]
    return step


def named(c: Lifting, e: ir.Expr) -> ir.Expr:
    return e if isinstance(e, ir.Var | ir.Const) else c.name("start", e)


def inputs(c: Lifting, b: Batch, body: Stmts, r: Recurrence) -> dict[str, ir.Expr]:
    """The loop variable, and the variables computed before the step that it reads."""
    own = {s.var.name for s in r.states} | assigned_names(body)
    whole = (body, tuple(s.next for s in r.states))
    read = {v.name: v for v in variables(whole) if v.name not in own and b.owner(v.name) is not None}
    loop = {r.loop.variable: ir.Var(r.loop.variable, INT)}
    return {name: lift(c, b, v) for name, v in (loop | read).items()}


def at_once(
    c: Lifting, b: Batch, r: Recurrence, body: Stmts, entries: Mapping[str, ir.Expr]
) -> tuple[Stmts, tuple[ir.Expr, ...]]:
    """The step for all steps at once, in names that hold one entry for each."""
    axes = (*lead(c, b, r), b.axis)
    values = ir.Var(r.loop.variable, over_axes(INT, b.axis))
    own = {s.var.name for s in r.states} | set(entries)
    inner = Lifting(c.span, LiftOptions(c.options.fresh), draws=c.draws)
    body, last = own_copy(c, body, r, own)
    enter_body(inner, b, body, r)
    locals_ = {name: axes_of(value.type) for name, value in entries.items() if name != r.loop.variable}
    locals_ |= {s.var.name: axes for s in r.states}
    at = Batch({**b.indices, b.axis: values}, {r.loop.variable: values}, locals_, b.parent, draws=b.draws)
    run(inner, at, body)
    after = tuple(spread(at, lift(inner, at, e), axes) for e in last)
    return tuple(inner.out), after


def with_outer_axes(
    c: Lifting, b: Batch, r: Recurrence, body: Stmts, after: Sequence[ir.Expr], entries: Mapping[str, ir.Expr]
) -> tuple[Stmts, tuple[ir.Expr, ...], tuple[ir.Expr, ...]]:
    """A step, the states after it, and those at the start, of all draws and iterations of loops around."""
    assert b.parent is not None
    axes, steps = lead(c, b, r), steps_of(b)
    locals_ = {
        name: tuple(axis for axis in axes_of(value.type) if axis != steps) for name, value in entries.items()
    }
    locals_ |= {s.var.name: axes for s in r.states}
    at = replace(b.parent, locals=locals_, parent=b.parent, positions={})
    unknown = None if c.options.unknown is None else {*c.options.unknown, *entries}
    inner = Lifting(c.span, LiftOptions(c.options.fresh, unknown), once=set_once(body), draws=c.draws)
    run(inner, at, body)
    last = tuple(spread(at, lift(inner, at, e), axes) for e in after)
    begin = Lifting(c.span, LiftOptions(c.options.fresh), draws=c.draws)
    start = [spread(b.parent, lift(begin, b.parent, s.start), axes) for s in r.states]
    c.out += begin.out
    return tuple(inner.out), last, tuple(named(c, e) for e in start)


def own_copy(c: Lifting, body: Stmts, r: Recurrence, declared: set[str]) -> tuple[Stmts, tuple[ir.Expr, ...]]:
    """The body and its next states with names of their own but for what is given."""
    names = {name: c.fresh(name) for name in sorted(assigned_names(body) - declared)}
    if c.draws is not None:
        c.draws.varying |= {new for name, new in names.items() if name in c.draws.varying}
    copied = tuple(rename(s, names, {}) for s in body)
    return copied, tuple(rename(s.next, names, {}) for s in r.states)


def follow(c: Lifting, b: Batch, r: Recurrence, scan: ir.Scan, moved: set[str]) -> None:
    """The rest of the loop, now that the state before every step is known; `moved` has been set for it.

    What differs from draw to draw is not computed for its size alone.
    """
    varying = c.draws.varying if c.draws else set[str]()
    body = statements_left(r, scan, lambda s: not (assigned_names((s,)) <= moved or used_names(s) & varying))
    read = used_names(body) | assigned_names(body)  # a branch of some steps sets some entries
    axes = (*lead(c, b, r), steps_of(b))
    for s, start, after in zip(r.states, scan.start, scan.after, strict=True):
        b.locals[s.var.name] = axes
        values = ir.Var(after, over_axes(s.var.type, *axes))
        before = helper(batching.before, (start, values), values.type)
        if s.var.name in read:
            c.out.append(ir.Assign(s.var.name, before, c.span, declares=True))
    enter_body(c, b, body, r)
    for name in scan.after:
        b.locals[name] = axes
    run(c, b, body)
    for s, after in zip(r.states, scan.after, strict=True):
        if s.outer:
            keep_last(c, b, s, ir.Var(after, over_axes(s.var.type, *axes)))


def keep_last(c: Lifting, b: Batch, s: CarriedValue, after: ir.Var) -> None:
    """Set the variable outside the loop, or its entry, to the last of a state's values."""
    assert b.parent is not None
    last: ir.Expr = helper(batching.last, (after,), over_axes(s.var.type, *axes_of(after.type)[:-1]))
    if c.draws is not None and ir.DRAW in axes_of(after.type) and s.outer not in c.draws.varying:
        last = first_entry(last, over_axes(s.var.type, *b.parent.loops))  # all draws share it, but not others
    if not s.items:
        c.out.append(ir.Assign(s.outer, last, c.span))
        return
    entry = c.local(b.parent, "last", last)
    update(c, b.parent, ir.Update(s.outer, (s.items,), replace(entry, type=s.var.type), c.span))


def statements_left(r: Recurrence, scan: ir.Scan, cheap: Callable[[ir.Stmt], bool]) -> Stmts:
    """The statements of the body that do more than move the state, with what is known of it put in.

    A variable that is never read stays for its sizes and indices, which may be wrong, where that is `cheap`.
    """
    after = {s.next.name: ir.Var(a, s.next.type) for s, a in zip(r.states, scan.after, strict=True)}
    body: list[ir.Stmt] = []
    for s in r.body:
        others = [o for o in r.body if o is not s]
        whole = isinstance(s, ir.Assign) and s.declares and s.name not in assigned_names(others)
        if isinstance(s, ir.Assign) and whole and s.name in after:
            s = replace(s, value=after[s.name])
        body.append(s)
    body += [replace(f.store, value=after.get(f.local.name, f.local)) for f in r.filled]
    own = own_names(r) | declared_names(tuple(body))
    return backward_slice(
        body,
        (),
        lambda s: not assigned_names((s,)) <= own or increments(s) or (is_checked(s) and cheap(s)),
    )


def is_checked(s: ir.Stmt) -> bool:
    """Whether sizes are compared in it, or indices with sizes."""
    return any(isinstance(n, ir.Update) or (isinstance(n, ir.Assign) and n.shape) for n in walk_statements(s))


def increments(s: ir.Stmt) -> bool:
    return any(isinstance(n, ir.Increment) for n in walk_statements(s))


def variables(node: Any) -> list[ir.Var]:
    """Every variable that is read, once."""
    return list({n.name: n for n in walk(node) if isinstance(n, ir.Var)}.values())


def silent(body: Sequence[ir.Stmt], inside: set[str]) -> Stmts:
    """The statements without terms, and without what they do to variables from outside."""

    def has_effect(s: ir.Stmt) -> bool:
        return isinstance(s, ir.Increment) or (isinstance(s, ir.Assign | ir.Update) and s.name not in inside)

    return without(body, has_effect)
