"""Loops over segments of different lengths, as of groups or choice sets stored one after the other.

`x[start[t]:end[t]]` has another size in every iteration, so that the iterations are no arrays together.
Those of one size are: the loop becomes one over the sizes there are, and what it does for each goes through
all iterations of that size at once.  Where there are about as many sizes as iterations, the loop stays as it
is; and where iterations write to segments that have an entry in common.  Either the data tell.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial, reduce

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import int_sum
from ppl.kernel.ir.sizes import ONE
from ppl.kernel.ir.walk import assigned_names, binary, substituted, used_names, walk
from ppl.optimise.passes.batch import Batch, Dependent, Lifting, LiftOptions, any_axes, helper
from ppl.optimise.passes.iterations import (
    OuterLifting,
    attempt,
    by_group,
    loop_as_arrays,
    remaining_loop,
    run,
)
from ppl.optimise.passes.lift import lift, may_fail, spread, to_batch
from ppl.optimise.passes.widths import reached
from ppl.stdlib import batching
from ppl.types import INT


def arrays_by_width(s: ir.For, options: LiftOptions, around: OuterLifting = None) -> ir.Stmts:
    """The statements that do what a loop over segments does.

    Raises:
        Dependent: there is no such segment, or an iteration needs what another one computes.
    """
    segments = tuple(dict.fromkeys(segments_of(s)))
    if not segments:
        raise Dependent("no range of indices varies from one iteration to the next")
    c, batch = attempt(s, replace(options, by_size=True), around)
    batch = replace(batch, ranges=frozenset(segments), segments=frozenset(segments))
    c.unless_empty(batch, partial(by_width, c, batch, s, segments))
    return tuple(c.out)


def arrays_by_size(s: ir.For, options: LiftOptions, around: OuterLifting = None) -> ir.Stmts:
    """The same where sizes are known only inside: iterations are grouped where they ask for them.

    Raises:
        Dependent: nothing has a size, or an iteration needs what another one computes.
    """
    if not any(isinstance(n, ir.Between | ir.Declare) for n in walk(s.body)):
        raise Dependent("nothing has a size")
    return loop_as_arrays(s, replace(options, by_size=True), around)


def segments_of(s: ir.For) -> Iterator[ir.Between]:
    """Ranges whose ends the loop variable tells, and nothing else that changes in the loop.

    The ends are looked at for all iterations beforehand: where one may have none, as x[start[t - 1]:N] after
    `if (t > 1)`, the range has to stand outside the branch as well.
    """
    changed = assigned_names(s.body)
    certain = set(reached(s.body)) if not any(isinstance(n, ir.Jump) for n in walk(s.body)) else set()
    for n in walk(s.body):
        if isinstance(n, ir.Between) and n.is_closed:
            names = used_names(n)
            safe = n in certain or not any(map(may_fail, n.ends))
            if safe and s.variable in names and not names & changed:
                yield n


def by_width(c: Lifting, b: Batch, s: ir.For, segments: tuple[ir.Between, ...]) -> None:
    """A loop over the groups of iterations whose segments are of the same sizes."""
    bounds = {x: [c.name("end", to_batch(c, b, end)) for end in x.ends] for x in segments}
    ends = [end for pair in bounds.values() for end in pair]
    groups, statements = by_group(c, b, ends, lambda within: run(c, within, s.body))
    conditions: list[ir.Expr] = [helper(batching.pays_by_width, (groups,), INT)]
    conditions += [helper(batching.are_disjoint, bounds[x], INT) for x in written(s, segments)]
    together = reduce(lambda one, other: ir.Logical("and", one, other, INT), conditions)
    assert b.parent is not None
    one_by_one = c.aside(partial(remaining_loop, c, b.parent, s)) if c.draws else (s,)
    c.out.append(ir.If(together, (statements,), one_by_one, s.span))


def of_one_length(
    c: Lifting, b: Batch, s: ir.For, scan: Callable[[ir.For], ir.Stmts | None]
) -> ir.Stmts | None:
    """A recurrence inside other loops as a scan; where it is shorter in some, of the longest if that pays.

    Raises:
        Dependent: its length differs from draw to draw, or it stands in a branch on parameters.
    """
    lower, upper = lift(c, b, s.lower), lift(c, b, s.upper)
    if not any_axes(lower, upper):
        return scan(s)
    over = b.over(lower, upper)
    if b.is_masked or b.draws in over or used_names((s.lower, s.upper)) & assigned_names((s,)):
        raise Dependent("the number of steps of the recurrence differs from draw to draw")
    ends = [spread(b, x, over) for x in (lower, upper)]
    longest = ir.Var(c.fresh("longest"), INT)
    named = ir.Assign(longest.name, helper(batching.longest, ends, INT), s.span, declares=True)
    t, before = ir.Var(s.variable, INT), int_sum("-", s.lower, ONE)
    body = tuple(substituted(each, {t.name: int_sum("+", before, t)}) for each in s.body)
    here = binary("<=", t, int_sum("-", s.upper, before), INT)
    steps = scan(replace(s, lower=ONE, upper=longest, body=(ir.If(here, body, (), s.span),)))
    if steps is None:
        return None
    pays = helper(batching.are_of_like_length, ends, INT)
    one_by_one = c.aside(partial(remaining_loop, c, b, s))
    return (named, ir.If(pays, steps, one_by_one, s.span))


def written(s: ir.For, segments: tuple[ir.Between, ...]) -> set[ir.Between]:
    """The segments that statements write to."""
    steps = (n.path[0] for n in walk(s.body) if isinstance(n, ir.Update))
    return {item for step in steps if isinstance(step, tuple) for item in step} & {*segments}  # type: ignore[return-value]
