"""Loops whose iterations are independent become array operations.

If an iteration carries state to the next, a scan computes the state alone.  Other loops remain loops in
Python; a note gives the reason.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeGuard

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.varying import unknown_in, unknown_names, varies, varying_names
from ppl.kernel.ir.walk import (
    Fresh,
    Rewriter,
    assigned_names,
    backward_slice,
    has_effects,
    in_branches,
    jumps,
    used_names,
    walk,
    with_blocks,
)
from ppl.optimise.passes.batch import Batch, Dependent, Lifting, LiftOptions, OneAxis
from ppl.optimise.passes.inline import Inline, NotInlinable, rename
from ppl.optimise.passes.iterations import (
    OuterLifting,
    loop_as_arrays,
    remaining_loop,
    run_statement,
    shared_sums,
)
from ppl.optimise.passes.jumps import with_exit_flags
from ppl.optimise.passes.loop_body import outer_writes
from ppl.optimise.passes.ragged import arrays_by_size, arrays_by_width, of_one_length
from ppl.optimise.passes.recurrence import EFFECTS, of_few_entries, recurrence
from ppl.optimise.passes.scan import scanned, silent
from ppl.optimise.passes.tuple_parts import in_parts
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.types import INT

STOPS = tuple(kind for kind in EFFECTS if kind not in (ir.Jump, ir.While))


def until_break(s: ir.For, fresh: Fresh, unknown: Collection[str]) -> tuple[ir.Stmts, ir.For]:
    """The statements that find the last iteration, and the loop that ends there.

    Raises:
        Dependent: nothing breaks it off, or what the loop computes or what is `unknown` decides when.
    """
    if not any(jumps(each, "break") for each in s.body):
        raise Dependent("nothing ends the loop early")
    own = assigned_names(s.body) - outer_writes(s).keys()
    search = backward_slice(silent(s.body, own), (), jumps)  # what decides whether it goes on
    if used_names(search) & outer_writes(s).keys() or varies(search, unknown):
        raise Dependent("`break` ends the loop early")
    if has_effects(search) or any(isinstance(n, STOPS) for n in walk(search)):
        raise Dependent("it has an effect beyond the target and its own variables")
    names = {name: fresh(name) for name in sorted(assigned_names(search) | {s.variable})}
    last, here = ir.Var(fresh("last"), INT), ir.Var(names[s.variable], INT)
    noted = ir.Assign(last.name, here, s.span)
    renamed = tuple(rename(each, names, {}) for each in search)
    body = in_branches(renamed, lambda each: (noted, each) if is_break(each) else (each,))
    before = (
        ir.Assign(last.name, s.upper, s.span, declares=True),
        ir.For(here.name, s.lower, s.upper, body, s.span),
    )
    steps = in_branches(s.body, lambda each: (replace(each, word="continue") if is_break(each) else each,))
    return before, replace(s, upper=last, body=steps)


def is_break(s: ir.Stmt) -> TypeGuard[ir.Jump]:
    return isinstance(s, ir.Jump) and s.word == "break"


@dataclass(frozen=True)
class Note:
    """The outcome of vectorising a loop.

    `reason` is empty for array operations, else why the loop remains, or is a `scan`; with `by_width` the
    segments of each length are one operation.
    """

    span: Span
    reason: str
    scan: bool = False
    by_width: bool = False


@dataclass
class Vectorise(Rewriter):
    """The loops of a program as array operations or scans, where possible.

    `unknown` variables may differ from point to point.  `scans` are made where gradients are computed.
    """

    functions: dict[str, ir.Function]
    unknown: Collection[str]
    options: LiftOptions = field(default_factory=LiftOptions)
    notes: list[Note] = field(default_factory=list)
    scans: bool = True
    of_few: Mapping[str, int] = field(default_factory=dict)
    """For variables, how many indices an entry of few numbers has, whatever the data."""
    around: OuterLifting = None
    """The batch of all draws, if the loops stand in many draws."""

    def statement(self, s: ir.Stmt) -> ir.Stmts:
        """The statement, each loop in it replaced where possible."""
        if self.around is not None:
            c, b = self.around
            return c.aside(partial(run_statement, c, b, s))
        return self.loop(s) if isinstance(s, ir.For) else (with_blocks(s, self.statements),)

    def loop(self, s: ir.For) -> ir.Stmts:
        """The loop as arrays, by groups of one size or as a scan, else as a loop with a note."""
        try:
            ended = self.ended_early(s) or self.as_arrays(s)
        except Dependent as why:
            if by_width := self.by_width(s):
                self.notes.append(Note(s.span, "", by_width=True))
                return by_width
            scan = self.scan(s) if self.scans else None
            self.notes.append(Note(s.span, str(why), scan is not None))
            return scan or self.remaining(s)
        self.notes.append(Note(s.span, ""))
        return ended

    def loops(self, c: Lifting, b: Batch, s: ir.For) -> None:
        """The same of a loop in many draws."""
        c.out += replace(self, around=(c, b)).loop(s)

    def remaining(self, s: ir.For) -> ir.Stmts:
        """The loop, those inside it replaced where possible."""
        if self.around is None:
            return (replace(s, body=self.statements(s.body)),)
        c, b = self.around
        return c.aside(partial(remaining_loop, c, b, s))

    def inside(self, f: ir.Function) -> "Vectorise":
        """The same, of a function whose arguments may differ from point to point."""
        unknown, options = unknown_names(f.body, f.args), self.options
        options = options if options.unknown is None else replace(options, unknown=unknown)
        return replace(self, unknown=unknown, options=options)

    def ended_early(self, s: ir.For) -> ir.Stmts | None:
        """The loop as arrays if data decide where it ends early, else None."""
        try:
            search, loop = until_break(s, self.options.fresh, self.unknown)
            return (*search, *self.as_arrays(loop))
        except Dependent:
            return None

    def by_width(self, s: ir.For) -> ir.Stmts | None:
        """The loop as arrays, one index set for each size of its segments, or None."""
        return self.inlined_or_not(s, arrays_by_width) or self.inlined_or_not(s, arrays_by_size)

    def scan(self, s: ir.For) -> ir.Stmts | None:
        """The loop as a scan, or None if it is no recurrence."""
        inside = replace(self, notes=[], scans=False)

        def make(loop: ir.For, options: LiftOptions, around: OuterLifting) -> ir.Stmts:
            if around is not None and around[0].draws is not None:
                draws = replace(around[0].draws, loop=inside.loops)
                around = replace(around[0], draws=draws), around[1]
            finish = replace(inside, around=around).statements
            shared = shared_sums(loop, around)
            return scanned(recurrence(loop, options.fresh, self.of_few, shared), options, finish, around)

        return self.inlined_or_not(s, make)

    def inlined_or_not(
        self, s: ir.For, make: Callable[[ir.For, LiftOptions, OuterLifting], ir.Stmts]
    ) -> ir.Stmts | None:
        """The result of `make` for the loop with its functions inlined, or as it is; None if both fail."""
        for functions in (self.functions, {}):
            try:
                return make(self.inlined(s, functions), self.options, self.around)
            except (Dependent, NotInlinable, OneAxis):
                continue
        return None

    def inlined(self, s: ir.For, functions: dict[str, ir.Function]) -> ir.For:
        fresh = self.options.fresh
        functions = {n: replace(f, body=with_exit_flags(f.body, fresh)) for n, f in functions.items()}
        invariant = frozenset(used_names(s.body) - assigned_names((s,)))
        inline = Inline(functions, fresh, with_rng=self.options.any_order, invariant=invariant)
        whole = replace(s, body=in_parts(with_exit_flags(inline.statements(s.body), fresh), fresh))
        if self.around is not None and (draws := self.around[0].draws) is not None:
            draws.varying |= varying_names((whole,), draws.varying)
        return whole

    def as_arrays(self, s: ir.For) -> ir.Stmts:
        """The loop as arrays, with its functions inlined if possible; raises Dependent.

        Functions whose sizes differ are inlined, too, in groups of one size: calls would be made one by one.
        """
        for make in (loop_as_arrays, arrays_by_size):
            with suppress(Dependent, NotInlinable):
                inlined = self.inlined(s, self.functions)
                if inlined.body != s.body:
                    return make(inlined, self.around_scans(inlined), self.around)
        return loop_as_arrays(s, self.around_scans(s), self.around)

    def around_scans(self, s: ir.For) -> LiftOptions:
        """The options for a loop with recurrences inside, which become scans."""
        of_few = {**self.of_few, **of_few_entries(s.body)}

        def scan(c: Lifting, b: Batch, inner: ir.For) -> ir.Stmts | None:
            v = replace(self, around=(c, b), of_few=of_few)
            with suppress(Dependent):
                return of_one_length(c, b, inner, v.scan)
            return None

        return replace(self.options, scan=scan) if self.scans else self.options

    def of_functions(self, functions: Sequence[ir.Function]) -> tuple[ir.Function, ...]:
        """Functions as they are called with what all draws share."""
        inside = ((f, f.body if is_lifted(f) else self.inside(f).statements(f.body)) for f in functions)
        return tuple(replace(f, body=body) for f, body in inside)


def is_lifted(f: ir.Function) -> bool:
    """Whether it is for many points at once, and has no loops to run at once any more."""
    return any(isinstance(s, ir.Assign) and s.name == ir.DRAW for s in f.body)


def vectorise_loops(p: ir.Program) -> ir.Program:
    """Loops whose iterations are independent become operations on arrays, recurrences a scan."""
    return vectorised(p)[0]


def vectorise_with_masks(p: ir.Program) -> ir.Program:
    """The same, but branches on parameters are computed for all entries, and then selected."""
    return vectorised(p, masks=True)[0]


def small_entries(p: ir.Program) -> Mapping[str, int]:
    """For variables of the log density and of functions, how many indices an entry of few numbers has."""
    return of_few_entries((*p.log_density, *(s for f in p.functions for s in f.body)))


def vectorised(p: ir.Program, masks: bool = False) -> tuple[ir.Program, list[Note]]:
    """The program and a note on every outermost loop, in the order of the program.

    With `masks`, all entries go through branches that parameters decide.
    """
    unknown = unknown_in(p, generated=True)
    plain = Vectorise({f.name: f for f in p.functions}, unknown, scans=False, of_few=small_entries(p))
    options = replace(plain.options, unknown=unknown if masks else None)  # the same names, and notes
    v = replace(plain, scans=True, options=options)
    functions, data = v.of_functions(p.functions), plain.statements(p.transformed_data)
    out = replace(p, functions=functions, transformed_data=data).with_density(v.statements)
    return replace(out, generated_quantities=plain.statements(p.generated_quantities)), v.notes
