"""Variables that a loop filled or read from end to end, set and taken as a whole.

`vector[N] mu; for (n in 1:N) mu[n] = ...` has become an assignment to the entries 1, ..., N of mu, which are
all that it has: no copy of the old entries is needed, nor its adjoint.  The same goes for a rectangle, and
for the `x[n]` of such a loop.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ppl.ir import nodes as ir
from ppl.ir.passes.batch import axis_of_range, helper, same_along
from ppl.ir.walk import rewrite, used_names, walk, with_blocks
from ppl.stdlib import batching
from ppl.stdlib.record import Impl
from ppl.types import INT, Type, along, array_of, axes_of, entry, rank

Stmts = tuple[ir.Stmt, ...]

AXES = {"rows": 0, "cols": 1, "size": 0}
"""Functions that say how long an axis is, of what has two axes or, the last, one."""


def whole_arrays(p: ir.Program) -> ir.Program:
    """The pass; it reads the index sets that loops have become."""
    shared = Definitions.of_program(p)
    return replace(
        p,
        functions=tuple(replace(f, body=Definitions.of(f.body).filled(f.body)) for f in p.functions),
        transformed_parameters=shared.filled(p.transformed_parameters),
        model=shared.filled(p.model),
        generated_quantities=shared.filled(p.generated_quantities),
    )


@dataclass(frozen=True)
class Definitions:
    """The sizes of containers and their types, and how variables that are set once were made.

    The steps of a scan see but one entry of its inputs, under the same name: these are left to `steps`.
    """

    sizes: dict[str, tuple[ir.Expr, ...]]
    types: dict[str, Type]
    made: dict[str, ir.Expr]
    inputs: frozenset[str] = frozenset()
    whole: list[ir.Stmt] = field(default_factory=list)
    """The assignments that set what was declared before them."""

    @classmethod
    def of_program(cls, p: ir.Program) -> "Definitions":
        """Of all of it but the bodies of its functions."""
        body = (*p.transformed_data, *p.transformed_parameters, *p.model, *p.generated_quantities)
        return cls.of(body, (*p.data, *p.parameters))

    @classmethod
    def of(cls, body: Sequence[ir.Stmt], variables: Sequence[ir.Declared] = ()) -> "Definitions":
        """Of statements, and of variables that are there when they run."""
        nodes = list(walk(tuple(body)))
        declared = [n for n in nodes if isinstance(n, ir.Declare) or (isinstance(n, ir.Assign) and n.shape)]
        sets = Counter(
            n.name for n in nodes if isinstance(n, ir.Declare | ir.Assign | ir.Update | ir.Scatter)
        )
        once = Counter(n.name for n in declared)
        changing = {name for name, count in sets.items() if count > 1}
        sizes = {
            n.name: n.shape
            for n in declared
            if once[n.name] == 1 and isinstance(n.shape, tuple) and not used_names(n.shape) & changing
        }
        sizes |= {d.name: (*d.dims, *d.sizes) for d in variables if not d.items}
        types = {n.name: n.type if isinstance(n, ir.Declare) else n.value.type for n in declared}
        made = {n.name: n.value for n in nodes if isinstance(n, ir.Assign) and n.name not in changing}
        return cls(
            sizes, types, made, frozenset(name for n in nodes if isinstance(n, ir.Scan) for name in n.inputs)
        )

    def filled(self, body: Sequence[ir.Stmt]) -> Stmts:
        return self.declared_once(tuple(rewrite(s, self.change) for s in body))

    def change(self, n: object) -> object:
        if isinstance(n, ir.Gather):
            return self.read_whole(n)
        if isinstance(n, ir.Scan):
            return self.steps(n)
        if not isinstance(n, ir.Scatter) or n.name not in self.sizes:
            return n
        made = self.set_whole(n)
        if made is not n:
            self.whole.append(made)
        return made

    def declared_once(self, body: Stmts, outside: frozenset[str] = frozenset()) -> Stmts:
        """The statements, where what is there before a branch or a loop is set in it, not declared."""
        own: frozenset[str] = frozenset()
        out: list[ir.Stmt] = []
        for s in body:
            match s:
                case ir.Declare(name=name):
                    own |= {name}
                case ir.Assign(name=name) if any(s is made for made in self.whole):
                    s = replace(s, declares=name in own or name not in outside)
                case ir.Assign(name=name, declares=True):
                    own |= {name}
            out.append(with_blocks(s, partial(self.declared_once, outside=outside | own)))
        return tuple(out)

    def set_whole(self, n: ir.Scatter) -> ir.Stmt:
        """One assignment, where the entries that are set are all there are."""
        sizes, value = self.sizes[n.name], n.value
        match n.items:
            case (ir.At(index=i),) if not n.picks and axes_of(i.type) and self.is_range(i, sizes[0]):
                whole = value if axes_of(value.type) else same_along(value, i)
                return ir.Assign(n.name, whole, n.span, declares=True)
            case (ir.At(index=k),) if len(n.picks) == 1 and n.picks[0] is not None:
                return self.set_rectangle(n, n.picks[0], k)
            case (ir.At(index=i), ir.At(index=k)) if not n.picks:
                return self.set_rectangle(n, i, k)
        return n

    def set_rectangle(self, n: ir.Scatter, i: ir.Expr, k: ir.Expr) -> ir.Stmt:
        """The same of all pairs, row by row."""
        sizes, value = self.sizes[n.name], n.value
        if (
            len(sizes) == 2
            and axes_of(value.type)
            and rank(value.type) == 1
            and self.is_rectangle(i, k, sizes)
        ):
            whole = helper(batching.rectangle, (value, *sizes), self.types[n.name])
            return ir.Assign(n.name, whole, n.span, declares=True)
        return n

    def read_whole(self, n: ir.Gather) -> ir.Expr:
        """The variable itself, a column, row by row, or all over again for each entry of an outer batch."""
        match n:
            case ir.Gather(ir.Var(name), (), (ir.At(i),)) if axes_of(i.type):
                sizes = () if name in self.inputs else self.sizes.get(name, ())
                if sizes and self.is_range(i, sizes[0]):
                    return ir.Var(name, n.type)
                nest = self.maker(i, batching.nested_range)
                if sizes and nest is not None and nest[1:] == (ir.Const(1, INT), sizes[0]):
                    along_inner = along(entry(n.type), self.rectangle_axes(i)[-1])
                    return helper(batching.tile, (ir.Var(name, along_inner), nest[0]), n.type)
            case (
                ir.Gather(ir.Gather(whole, (), (ir.At(i),)), (None,), (ir.At(k),))
                | ir.Gather(whole, (), (ir.At(i), ir.At(k)))
                | ir.Gather(whole, (ir.Var() as i,), (ir.At(k),))
            ) if isinstance(whole, ir.Var) and axes_of(i.type) and axes_of(k.type):
                sizes = () if whole.name in self.inputs else self.sizes.get(whole.name, ())
                if len(sizes) == 2 and self.is_rectangle(i, k, sizes):
                    t = along(entry(n.type), *self.rectangle_axes(k))
                    return helper(batching.row_by_row, (replace(whole, type=t),), n.type)
            case ir.Gather(ir.Var(name) as base, (), (ir.At(i), ir.At() as column)):
                of_rows = name in self.sizes and name not in self.inputs and axes_of(i.type)
                if of_rows and not axes_of(column.index.type) and self.is_range(i, self.sizes[name][0]):
                    row = array_of(entry(n.type), int(column.index.type == INT))
                    rows = replace(base, type=along(row, *axes_of(n.type)))
                    return ir.Gather(rows, (None,), (column,), n.type)
        return n

    def steps(self, n: ir.Scan) -> ir.Scan:
        """The scan, its steps reading whole entries of the inputs where they read all of one."""
        inside = Definitions(
            {name: self.sizes[name][1:] for name in n.inputs if name in self.sizes}, {}, self.made
        )
        return replace(n, step=inside.filled(n.step), next=tuple(rewrite(e, inside.change) for e in n.next))

    def rectangle_axes(self, k: ir.Expr) -> tuple[str, ...]:
        """The axes of the rectangle that an inner loop variable runs through row by row."""
        nest = self.maker(k, batching.nested_range)
        assert nest is not None
        batch, lower, upper = nest
        outer = axes_of(batch.type)
        return (*outer, axis_of_range(lower, upper, outer))

    def maker(self, e: ir.Expr | None, impl: Impl) -> tuple[ir.Expr, ...] | None:
        """The arguments of the call of `impl` that made a variable."""
        value = self.made.get(e.name) if isinstance(e, ir.Var) else e
        return value.args if isinstance(value, ir.Apply) and value.callee.impl is impl else None

    def is_range(self, e: ir.Expr, size: ir.Expr) -> bool:
        """Whether it is 1, ..., size."""
        bounds = self.maker(e, batching.loop_range)
        return (
            bounds is not None and bounds[0] == ir.Const(1, INT) and self.known(bounds[1]) == self.known(size)
        )

    def known(self, size: ir.Expr) -> ir.Expr:
        """The declared size, where it was asked of a variable: `rows(X)` of a `matrix[N, K] X` is N."""
        match self.made.get(size.name) if isinstance(size, ir.Var) else size:
            case ir.Apply(callee=ir.Callee(name=asked), args=(ir.Var(name=name),)) if asked in AXES:
                sizes = self.sizes.get(name, ())
                of_each = len(sizes) == (1 if asked == "size" else 2)
                return sizes[AXES[asked]] if of_each else size
        return size

    def is_rectangle(self, i: ir.Expr, k: ir.Expr, sizes: tuple[ir.Expr, ...]) -> bool:
        """Whether i and k run through all pairs, row by row."""
        outer = self.made.get(i.name) if isinstance(i, ir.Var) else None
        at = outer.picks[0] if isinstance(outer, ir.Gather) and not outer.items else i
        nest = self.maker(at, batching.nested_positions)
        if nest is None or nest != self.maker(k, batching.nested_range):
            return False
        rows, lower, upper = nest
        if lower != ir.Const(1, INT) or upper != sizes[1]:
            return False
        if isinstance(outer, ir.Gather):
            return outer.base == rows and self.is_range(rows, sizes[0])
        return self.maker(sizes[0], batching.batch_size) == (rows,)
