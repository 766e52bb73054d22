"""Transformed parameters and generated quantities for many draws at once: the draws are one more loop.

Every variable that may differ from draw to draw gets an axis of the draws before its own, and every statement
is run for all of them, as the iterations of a loop are.  A statement that cannot be is run for one draw after
the other, and its note says why.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import INDICES, Batch, Dependent, Lifting, helper, same_along
from ppl.ir.passes.inline import Inline, NotInlinable, rename
from ppl.ir.passes.iterations import read_entries, run_statement, set_once
from ppl.ir.passes.lift import lift, to_batch
from ppl.ir.passes.vectorise_loops import Note, Vectorise
from ppl.ir.walk import assigned_names, declared_names, used_names, walk
from ppl.stdlib import batching
from ppl.types import INT, Tuple, Type, array_of, core, rank

Stmts = tuple[ir.Stmt, ...]

DRAW = ir.Var("draw__", INDICES)
"""The numbers of the draws, which the emitted functions are given."""
COUNT = helper(batching.batch_size, (DRAW,), INT)


class DrawByDraw(Exception):
    """The program cannot be run for many draws at once; the message says why."""


def over_draws(p: ir.Program) -> tuple[ir.Program, list[Note]]:
    """The program whose parameters are arrays over draws, with no target; a note on each statement left.

    `p` is as the passes left it that make loops independent, `forms.LOOPS`.

    Raises:
        DrawByDraw: a block has what cannot be laid out along draws.
    """
    refuse(p)
    body = (*p.transformed_parameters, *p.generated_quantities)
    if not body and not p.parameters:
        return replace(p, model=()), []
    span = (*p.parameters, *body)[0].span
    lifting = Lifting(span, once=set_once(body), reads=read_entries(body), of_draws=True)
    draws = Draws(lifting, Batch(DRAW, {}), {f.name: f for f in p.functions})
    parameters = tuple(draws.parameter(d) for d in p.parameters)
    transformed = draws.block(p.transformed_parameters, p.transformed_parameter_names)
    generated = draws.block(p.generated_quantities, p.generated_names)
    vectorise = Vectorise(draws.functions, names=draws.lifting.names)
    functions = tuple(replace(f, body=vectorise.statements(f.body)) for f in p.functions)
    lifted = replace(
        p,
        functions=functions,
        parameters=parameters,
        transformed_parameters=transformed,
        model=(),
        generated_quantities=generated,
    )
    return lifted, draws.notes


def along_draws(p: ir.Program) -> ir.Program:
    """The pass."""
    return over_draws(p)[0]


def refuse(p: ir.Program) -> None:
    """DrawByDraw, where draws must keep their order or a variable is no array."""
    body = (*p.transformed_parameters, *p.generated_quantities)
    if any(isinstance(n, ir.Say) and n.what == "print" for n in walk((body, p.functions))):
        raise DrawByDraw("what is printed for a draw stands together")
    declared = (*p.parameters, *p.transformed_parameter_names, *p.generated_names)
    if any(d.items for d in declared):
        raise DrawByDraw("a tuple has no axis for the draws")


@dataclass
class Draws:
    """One attempt: `types` are those of a draw's own value, of each variable along the draws."""

    lifting: Lifting
    batch: Batch
    functions: dict[str, ir.Function]
    types: dict[str, Type] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def parameter(self, d: ir.Declared) -> ir.Declared:
        """The declaration with its bounds laid out along the draws."""
        self.lifting.out = []
        arguments = self.bounds(d)
        if self.lifting.out:
            raise DrawByDraw(f"the bounds of `{d.name}` need statements of their own")
        self.own(d.name, d.type)
        return replace(d, arguments=arguments)

    def bounds(self, d: ir.Declared) -> tuple[ir.Expr, ...]:
        """The arguments of a constraint, laid out along the draws."""
        try:
            return tuple(to_batch(self.lifting, self.batch, a) for a in d.arguments)
        except Dependent as why:
            raise DrawByDraw(str(why)) from None

    def own(self, name: str, t: Type) -> None:
        """From here on the variable has an axis of the draws."""
        self.batch.locals.add(name)
        self.types[name] = t

    def block(self, body: Stmts, outputs: Sequence[ir.Declared]) -> Stmts:
        c = self.lifting
        c.out, c.stored = [], {}
        for s in body:
            c.span = s.span
            self.statement(s)
        for d in outputs:
            self.laid_out(d)
        return tuple(c.out)

    def laid_out(self, d: ir.Declared) -> None:
        """An output that is the same for all draws, once for each of them."""
        if d.name not in self.batch.locals:
            same = same_along(ir.Var(d.name, d.type), self.batch.index)
            self.lifting.out.append(ir.Assign(d.name, same, d.span, declares=True))
            self.own(d.name, d.type)

    def statement(self, s: ir.Stmt) -> None:
        """For all draws at once, at best with the functions it calls written out; else for one by one."""
        if isinstance(s, ir.CheckDeclared):
            return self.check(s)
        if isinstance(s, ir.Declare | ir.Assign):
            self.note_type(s)
        try:
            return self.attempt(lambda: self.written_out(s))
        except (Dependent, NotInlinable):
            pass
        try:
            return self.attempt(lambda: run_statement(self.lifting, self.batch, s))
        except Dependent as why:
            self.notes.append(Note(s.span, str(why)))
            self.one_by_one(s)

    def attempt(self, work: Callable[[], None]) -> None:
        """Run it, or leave everything as it was."""
        c, b = self.lifting, self.batch
        mark, known, stored, types = len(c.out), set(b.locals), dict(c.stored), dict(self.types)
        kept = c.writes, c.sums
        try:
            work()
        except (Dependent, NotInlinable):
            del c.out[mark:]
            b.locals, c.stored, self.types = known, stored, types
            c.writes, c.sums = kept
            raise

    def written_out(self, s: ir.Stmt) -> None:
        for inner in Inline(self.functions, self.lifting.fresh, with_rng=True).statements((s,)):
            if isinstance(inner, ir.Declare | ir.Assign):
                self.note_type(inner)
            run_statement(self.lifting, self.batch, inner)

    def note_type(self, s: ir.Declare | ir.Assign) -> None:
        if isinstance(s, ir.Declare):
            self.types[s.name] = s.type
        elif s.declares:
            self.types[s.name] = s.value.type

    def check(self, s: ir.CheckDeclared) -> None:
        """The check of a value that has an axis of the draws, as its bounds have."""
        self.laid_out(s.declared)
        declared = replace(s.declared, arguments=self.bounds(s.declared))
        self.lifting.out.append(replace(s, declared=declared, over_draws=True))

    # --- One draw after the other ---

    def one_by_one(self, s: ir.Stmt) -> None:
        """A loop over the draws, in which the statement sees the values of one draw under other names."""
        c = self.lifting
        if isinstance(s, ir.Declare):
            raise DrawByDraw(f"the size of `{s.name}` may differ from draw to draw")
        if isinstance(s, ir.Assign) and s.declares:
            self.declare(s)
            s = replace(s, declares=False, shape=())
        outer = self.batch.locals - declared_names(s)
        changed = sorted(assigned_names((s,)) & outer)
        own = {name: c.fresh(name) for name in sorted(used_names(s) & outer | {*changed})}
        draw = ir.Var(c.fresh("draw"), INT)
        at: tuple[ir.IndexItem, ...] = (ir.At(draw),)
        types = self.types
        begin = (
            ir.Assign(mine, ir.Index(ir.Var(name, array_of(types[name], 1)), at, types[name]), s.span, True)
            for name, mine in own.items()
        )
        end = (ir.Update(name, (at,), ir.Var(own[name], types[name]), s.span) for name in changed)
        inside = Vectorise(self.functions, names=c.names, scans=False).statements((rename(s, own, {}),))
        c.stored = {}
        c.out.append(ir.For(draw.name, ir.Const(1, INT), COUNT, (*begin, *inside, *end), s.span))

    def declare(self, s: ir.Assign) -> None:
        """The variable that a statement declares, unset, along the draws."""
        c, t = self.lifting, s.value.type
        if isinstance(core(t), Tuple) or (rank(t) and not s.shape):
            raise DrawByDraw(f"`{s.name}` has no axis for the draws")
        try:
            sizes = [lift(c, self.batch, size) for size in s.shape]
        except Dependent as why:
            raise DrawByDraw(str(why)) from None
        if any(varies for _, varies in sizes):
            raise DrawByDraw(f"the size of `{s.name}` differs from draw to draw")
        shape = (COUNT, *(size for size, _ in sizes))
        c.out.append(ir.Declare(s.name, array_of(t, 1), shape, s.span))
        self.own(s.name, t)
