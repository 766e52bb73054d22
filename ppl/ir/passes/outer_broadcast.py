"""A nest over all pairs of two loops, on a rectangle: an axis for the outer loop and one for the inner.

`for (n in 1:N) for (k in 1:K) ... normal_lpdf(y[n] | mu[k], sigma[k])` has become one flat batch of pairs, in
which y stands K times and mu N times.  Here y goes down the rectangle and mu across it, and broadcasting
makes the pairs: nothing is copied, and what depends on one of the loops alone is computed once for each of
its iterations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import axis_of_range, helper
from ppl.ir.passes.whole_arrays import Definitions
from ppl.ir.walk import rewrite, used_names, walk, with_parts
from ppl.stdlib import batching
from ppl.types import INT, Type, along, axes_of, entry

Stmts = tuple[ir.Stmt, ...]


@dataclass(frozen=True)
class Operand:
    """A value of every pair as one of each iteration of the loops it depends on.

    `back` leads from there to the pairs: of a value along the outer loop the position of each pair in it, of
    one along the inner loop the outer batch, for each entry of which it is repeated.
    """

    along: Literal["outer", "inner", "both"]
    value: ir.Expr
    back: ir.Expr | None = None

    def flat(self, t: Type) -> ir.Expr:
        """The value of every pair again, of this type."""
        if self.along == "outer":
            assert self.back is not None
            return ir.Gather(self.value, (self.back,), (), t)
        if self.along == "inner":
            assert self.back is not None
            return helper(batching.tile, (self.value, self.back), t)
        return helper(batching.row_by_row, (self.value,), t)


def outer_broadcast(p: ir.Program) -> ir.Program:
    """The pass; it reads the index sets that loops have become."""
    shared = Pairs.of(Definitions.of_program(p), (*p.transformed_parameters, *p.model))
    return replace(
        p,
        functions=tuple(
            replace(f, body=Pairs.of(Definitions.of(f.body), f.body).statements(f.body)) for f in p.functions
        ),
        transformed_parameters=shared.statements(p.transformed_parameters),
        model=shared.statements(p.model),
    )


@dataclass
class Pairs:
    """`locals` are the variables of every pair, by the names of what they are along the loops.

    The steps of a scan see one entry of what has the same name outside: what they read is left alone.
    """

    definitions: Definitions
    in_scans: frozenset[str]
    locals: dict[str, Operand] = field(default_factory=dict)

    @classmethod
    def of(cls, definitions: Definitions, body: Stmts) -> "Pairs":
        scans = tuple(n for n in walk(body) if isinstance(n, ir.Scan))
        return cls(definitions, frozenset(used_names(scans)))

    def statements(self, body: Sequence[ir.Stmt]) -> Stmts:
        return tuple(out for s in body for out in self.statement(s))

    def statement(self, s: ir.Stmt) -> Stmts:
        match s:
            case ir.If(then=then, otherwise=otherwise):
                condition = rewrite(s.condition, self.change)
                then, otherwise = self.statements(then), self.statements(otherwise)
                return (replace(s, condition=condition, then=then, otherwise=otherwise),)
            case ir.Profile(body=body):
                return (replace(s, body=self.statements(body)),)
            case ir.Scan():
                return (s,)
            case ir.Assign(name=name) if name in self.definitions.made and name not in self.in_scans:
                return self.local(with_parts(s, lambda part: rewrite(part, self.change)))
            case ir.Increment(value=value):
                value = rewrite(value, self.change)
                operand = self.operand(value)  # all are summed, so that there is no need to make them flat
                return (replace(s, value=operand.value if operand and operand.along == "both" else value),)
            case _:
                return (rewrite(s, self.change),)

    def local(self, s: ir.Assign) -> Stmts:
        """What is computed for every pair has its form along the loops under another name.

        The statement stays where it looks at a declared size.
        """
        operand = self.operand(s.value)
        if operand is None or self.variable(self.definitions.made[s.name]):
            return (s,)
        name = f"{s.name.rstrip('_')}_laid__"
        kept = ir.Assign(name, operand.value, s.span, declares=True)
        self.locals[s.name] = replace(operand, value=ir.Var(name, operand.value.type))
        return (kept, s) if s.shape else (kept,)

    # --- Which loops a value depends on ----------------------------------------------------------

    def operand(self, e: ir.Expr) -> Operand | None:
        """A value of every pair along the loops it depends on; None where that is not known."""
        match e:
            case ir.Var(name=name):
                return self.variable(self.definitions.made.get(name))
            case ir.Apply(callee=ir.Callee(impl=batching.tile), args=(value, outer)):
                return Operand("inner", value, outer)
            case ir.Apply(callee=ir.Callee(impl=batching.row_by_row), args=(value,)):
                return Operand("both", value)
            case ir.Gather(base=base, items=(), picks=(ir.Var() as at,)) if self.nest(at):
                return Operand("outer", base, at)
            case ir.Gather(picks=picks) if None not in picks:
                return self.picked(e)
        return None

    def variable(self, made: ir.Expr | None) -> Operand | None:
        """A loop variable, by what its values along the pairs were made with."""
        match made:
            case ir.Gather(base=base, items=(), picks=(ir.Var() as at,)) if self.nest(at):
                return Operand("outer", base, at)
            case ir.Apply(callee=ir.Callee(impl=batching.nested_range), args=(outer, lower, upper)):
                if lower.type == upper.type == INT:
                    inner = along(INT, axis_of_range(lower, upper, axes_of(outer.type)))
                    return Operand("inner", helper(batching.loop_range, (lower, upper), inner), outer)
        return None

    def nest(self, at: ir.Expr) -> bool:
        """Whether these are the outer positions in a nest whose inner bounds are always the same."""
        args = self.definitions.maker(at, batching.nested_positions)
        return args is not None and args[1].type == args[2].type == INT

    def picked(self, e: ir.Gather) -> Operand | None:
        """Entries picked by one of the loops: x[n], x[group[n]], x[k, 2]."""
        at = [i for i in (*e.picks, *indices(e.items)) if i is not None and axes_of(i.type)]
        found = [self.operand(index) for index in at]
        first = found[0] if found else None
        if first is None or first.along == "both":
            return None
        if any(x is None or (x.along, x.back) != (first.along, first.back) for x in found):
            return None
        values = dict(zip(at, (x.value for x in found if x), strict=True))
        items = tuple(ir.At(values.get(i.index, i.index)) if isinstance(i, ir.At) else i for i in e.items)
        picks = tuple(values.get(i, i) if i is not None else i for i in e.picks)
        t = along(entry(e.type), *axes_of(first.value.type))
        return replace(first, value=self.definitions.read_whole(replace(e, items=items, picks=picks, type=t)))

    # --- Calls -----------------------------------------------------------------------------------

    def change(self, n: object) -> object:
        match n:
            case ir.Var(name=name, type=t) if name in self.locals:
                return self.locals[name].flat(t)
            case ir.Apply(callee=ir.Callee(impl=batching.rectangle), args=(values, _, _)):
                operand = self.operand(values)
                return operand.value if operand and operand.along == "both" else n
            case ir.Apply(callee=ir.Callee(impl=batching.sum_at), args=(values, _, at)) if self.nest(at):
                operand = self.operand(values)
                both = operand is not None and operand.along == "both"
                return helper(batching.sum_across, (operand.value,), n.type) if operand and both else n
            case ir.Apply(callee=callee) if n.axes and callee.batch != "none" and not callee.passes:
                return self.call(n)
        return n

    def call(self, e: ir.Apply) -> ir.Expr:
        """The call along the loops its arguments depend on; as it is where one of them is not known."""
        sides = [self.operand(a) if axes_of(a.type) else None for a in e.args]
        found = [side for side in sides if side is not None]
        if any(axes_of(a.type) and side is None for a, side in zip(e.args, sides, strict=True)):
            return e
        is_sum = not axes_of(e.type)
        ways = {side.along for side in found}
        args = tuple(a if side is None else side.value for a, side in zip(e.args, sides, strict=True))
        if len(ways) == 1 and ways != {"both"}:
            along_one = along(entry(e.type), *axes_of(found[0].value.type))
            return (
                e if is_sum else replace(found[0], value=replace(e, args=args, type=along_one)).flat(e.type)
            )
        made = replace(e, args=args)
        if is_sum:
            return made
        return Operand("both", replace(made, type=along(entry(e.type), *rectangle(found)))).flat(e.type)


def indices(items: Sequence[ir.IndexItem]) -> list[ir.Expr]:
    return [i.index for i in items if isinstance(i, ir.At)]


def rectangle(sides: Sequence[Operand]) -> tuple[str, ...]:
    """The axes of all pairs: those of the outer loop, then those of the inner."""
    inner_last = sorted(sides, key=lambda side: side.along == "inner")
    return ir.union(*(axes_of(side.value.type) for side in inner_last))
