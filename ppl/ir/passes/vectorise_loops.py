"""Loops whose iterations do not depend on one another become array operations.

Where one carries state to the next, the state alone is left to a scan.  What is then left is a loop in
Python, and its note says why.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import Dependent, Lifting
from ppl.ir.passes.inline import Inline, NotInlinable
from ppl.ir.passes.iterations import Stmts, Unknown, arrays
from ppl.ir.passes.jumps import left_by_flags
from ppl.ir.passes.ragged import arrays_by_size, arrays_by_width
from ppl.ir.passes.recurrence import recurrence
from ppl.ir.passes.scan import scanned
from ppl.ir.passes.tuple_parts import in_parts
from ppl.ir.passes.until_break import until_break
from ppl.ir.unknown import unknown_names
from ppl.ir.walk import assigned_names, used_names, with_blocks
from ppl.source import Span


@dataclass(frozen=True)
class Note:
    """What became of a loop: "" for arrays, `by_width` for each length of its segments; else why it is still
    a loop, or a `scan`.
    """

    span: Span
    reason: str
    scan: bool = False
    by_width: bool = False


@dataclass
class Vectorise:
    functions: dict[str, ir.Function] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    names: list[int] = field(default_factory=lambda: [0])
    scans: bool = True
    """Whether gradients are taken of the code, so that a scan pays."""
    unknown: Collection[str] = ()
    """Variables that may differ from point to point."""
    masks: bool = False
    """Whether branches on those have masks."""
    any_order: bool = False
    """Whether random numbers may be drawn in another order than that of the iterations."""

    def statements(self, body: Sequence[ir.Stmt]) -> Stmts:
        return tuple(out for s in body for out in self.statement(s))

    def statement(self, s: ir.Stmt) -> Stmts:
        """The statement with every loop in it that can go gone."""
        return self.loop(s) if isinstance(s, ir.For) else (with_blocks(s, self.statements),)

    def loop(self, s: ir.For) -> Stmts:
        """The loop as arrays, at best with the functions it calls written out; else the loop."""
        try:
            made = self.ended_early(s) or self.inlined_arrays(s) or self.arrays(s)
        except Dependent as why:
            if by_width := self.by_width(s):
                self.notes.append(Note(s.span, "", by_width=True))
                return by_width
            scan = self.scan(s) if self.scans else None
            self.notes.append(Note(s.span, str(why), scan is not None))
            return scan or (replace(s, body=self.statements(s.body)),)
        self.notes.append(Note(s.span, ""))
        return made

    def inside(self, f: ir.Function) -> "Vectorise":
        """The same, of a function whose arguments may differ from point to point."""
        return replace(self, unknown=unknown_names(f.body, f.args))

    @property
    def masked(self) -> Unknown:
        """Variables on which branches have masks."""
        return self.unknown if self.masks else None

    def ended_early(self, s: ir.For) -> Stmts | None:
        """The loop as arrays where data break it off; None where that is not so."""
        try:
            search, loop = until_break(s, Lifting(s.span, names=self.names).fresh, self.unknown)
            return (*search, *(self.inlined_arrays(loop) or self.arrays(loop)))
        except Dependent:
            return None

    def by_width(self, s: ir.For) -> Stmts | None:
        """The loop as arrays, a set for each size of its segments; None where that cannot be."""
        args = self.names, self.masked, self.any_order
        return self.inlined_or_not(s, lambda loop: arrays_by_width(loop, *args)) or self.inlined_or_not(
            s, lambda loop: arrays_by_size(loop, *args)
        )

    def scan(self, s: ir.For) -> Stmts | None:
        """The loop as a scan; None where its body has another form."""
        fresh = Lifting(s.span, names=self.names).fresh
        inside = replace(self, notes=[], scans=False)
        return self.inlined_or_not(
            s, lambda loop: scanned(recurrence(loop, fresh), self.names, inside.statements, self.masked)
        )

    def inlined_or_not(self, s: ir.For, make: Callable[[ir.For], Stmts]) -> Stmts | None:
        """What is made of the loop, at best with the functions it calls written out; None for nothing."""
        for functions in (self.functions, {}):
            try:
                return make(self.inlined(s, functions))
            except (Dependent, NotInlinable):
                continue
        return None

    def inlined(self, s: ir.For, functions: dict[str, ir.Function]) -> ir.For:
        names = Lifting(s.span, names=self.names)
        functions = {n: replace(f, body=left_by_flags(f.body, names)) for n, f in functions.items()}
        invariant = frozenset(used_names(s.body) - assigned_names((s,)))
        inline = Inline(functions, names.fresh, with_rng=self.any_order, invariant=invariant)
        return replace(s, body=in_parts(left_by_flags(inline.statements(s.body), names), names.fresh))

    def arrays(self, s: ir.For) -> Stmts:
        return arrays(s, self.names, self.masked, self.any_order)

    def inlined_arrays(self, s: ir.For) -> Stmts | None:
        """The same with calls written out; None where there are none, or that does not help."""
        try:
            inlined = self.inlined(s, self.functions)
            return None if inlined.body == s.body else self.arrays(inlined)
        except (Dependent, NotInlinable):
            return None


def vectorise_loops(p: ir.Program) -> ir.Program:
    """The pass."""
    return vectorised(p)[0]


def vectorise_with_masks(p: ir.Program) -> ir.Program:
    """The pass for compiled code, in which branches on parameters are gone through by all entries."""
    return vectorised(p, masks=True)[0]


def vectorise_variables(p: ir.Program) -> ir.Program:
    """The pass for transformed parameters and generated quantities alone."""
    v = Vectorise(functions_of(p), unknown=unknown_of(p), scans=False, any_order=True)
    return replace(
        p,
        functions=tuple(replace(f, body=v.inside(f).statements(f.body)) for f in p.functions),
        transformed_parameters=v.statements(p.transformed_parameters),
        model=(),
        generated_quantities=v.statements(p.generated_quantities),
    )


def functions_of(p: ir.Program) -> dict[str, ir.Function]:
    return {f.name: f for f in p.functions}


def unknown_of(p: ir.Program) -> Collection[str]:
    """The variables that may differ from point to point."""
    body = (*p.transformed_parameters, *p.model, *p.generated_quantities)
    return unknown_names(body, {d.name for d in p.parameters})


def vectorised(p: ir.Program, masks: bool = False) -> tuple[ir.Program, list[Note]]:
    """The program and a note on every outermost loop, in the order of the program."""
    plain = Vectorise(functions_of(p), unknown=unknown_of(p), scans=False)
    v = replace(plain, scans=True, masks=masks)  # the same names and notes
    out = replace(
        p,
        functions=tuple(replace(f, body=v.inside(f).statements(f.body)) for f in p.functions),
        transformed_data=plain.statements(p.transformed_data),
        transformed_parameters=v.statements(p.transformed_parameters),
        model=v.statements(p.model),
        generated_quantities=plain.statements(p.generated_quantities),
    )
    return out, v.notes
