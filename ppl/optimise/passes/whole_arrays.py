"""Variables that a loop filled or read from end to end, set and taken as a whole.

`vector[N] mu; for (n in 1:N) mu[n] = ...` has become an assignment to the entries 1, ..., N of mu, which are
all that it has: no copy of the old entries is needed, nor its adjoint.  The same goes for the `x[n]` of such
a loop, and for the rectangle that a nest fills.
"""

from collections import Counter
from collections.abc import Sequence

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import changing_names, rewrite, used_names, walk, with_blocks
from ppl.optimise.passes.batch import count_of, spread_over
from ppl.records import dataclass, field, replace
from ppl.stdlib import batching
from ppl.types import INT, array_of, axes_of, entry, over_axes

AXES = {"rows": 0, "cols": 1, "size": 0}
"""Functions that say how long an axis is, of what has two axes or, the last, one."""


def whole_arrays(p: ir.Program) -> ir.Program:
    """A variable whose entries are all set or read is set or read as a whole.

    It reads the index sets that loops have become.
    """
    before, variables = (p.transformed_data, p.transformed_parameters), (*p.data, *p.parameters)

    def filled(body: ir.Stmts, outputs: frozenset[str]) -> ir.Stmts:
        blocks = before if body in before else (*before, body)
        return Definitions.of(sum(blocks, ()), variables).filled(body)

    return p.with_bodies(filled, lambda body: Definitions.of(body).filled(body))


@dataclass(frozen=True)
class Definitions:
    """The sizes of containers, and how variables that are set once were made.

    The steps of a scan see but one entry of its inputs, under the same name: these are left to `steps`.
    """

    sizes: dict[str, tuple[ir.Expr, ...]]
    made: dict[str, ir.Expr]
    inputs: frozenset[str] = frozenset()
    whole: list[ir.Stmt] = field(default_factory=list)
    """The assignments that set what was declared before them."""

    @classmethod
    def of(cls, body: Sequence[ir.Stmt], variables: Sequence[ir.Declared] = ()) -> "Definitions":
        """Of statements, and of variables that are there when they run."""
        nodes = list(walk(tuple(body)))
        declared = [n for n in nodes if isinstance(n, ir.Declare) or (isinstance(n, ir.Assign) and n.shape)]
        once, changing = Counter(n.name for n in declared), changing_names(body)
        sizes = {
            n.name: n.shape
            for n in declared
            if once[n.name] == 1 and isinstance(n.shape, tuple) and not used_names(n.shape) & changing
        }
        sizes |= {d.name: (*counts(d), *d.dims, *d.sizes) for d in variables if not d.items}
        values = {n.name: n.value for n in nodes if isinstance(n, ir.Assign) and n.name not in changing}
        return cls(
            sizes, values, frozenset(name for n in nodes if isinstance(n, ir.Scan) for name in n.inputs)
        )

    def filled(self, body: Sequence[ir.Stmt]) -> ir.Stmts:
        return self.declared_once(tuple(rewrite(s, self.change) for s in body))

    def change(self, n: object) -> object:
        if isinstance(n, ir.Gather):
            return self.read_whole(n)
        if isinstance(n, ir.Scan):
            return self.steps(n)
        if not isinstance(n, ir.Scatter) or n.name not in self.sizes:
            return n
        whole = self.set_whole(n)
        if whole is not n:
            self.whole.append(whole)
        return whole

    def declared_once(self, body: ir.Stmts, outside: frozenset[str] = frozenset()) -> ir.Stmts:
        """The statements, where what is there before a branch or a loop is set in it, not declared."""
        whole = {id(one) for one in self.whole}
        own: set[str] = set()
        out: list[ir.Stmt] = []
        for s in body:
            match s:
                case ir.Declare(name=name):
                    own.add(name)
                case ir.Assign(name=name) if id(s) in whole:
                    s = replace(s, declares=name in own or name not in outside)
                case ir.Assign(name=name, declares=True):
                    own.add(name)
            out.append(with_blocks(s, lambda inner: self.declared_once(inner, outside | own)))
        return tuple(out)

    def set_whole(self, n: ir.Scatter) -> ir.Stmt:
        """One assignment, where the entries that are set are all there are."""
        sizes = self.sizes[n.name][len(n.picks) :]
        loops = [self.whole_axis(item, size) for item, size in zip(n.items, sizes, strict=False)]
        axes = (*axes_of(n.type), *(axis for axis in loops if axis))
        if any(n.picks) or not loops or None in loops or len({*axes}) < len(axes):
            return n
        here = axes_of(n.value.type)
        if [a for a in axes if a in here] != [*here] or any(a not in here for a in axes_of(n.type)):
            return n
        indices = {axes_of(i.index.type)[0]: i.index for i in n.items if isinstance(i, ir.At)}
        shape = () if n.fits or len(loops) == len(sizes) else self.sizes[n.name]
        return ir.Assign(n.name, spread_over(n.value, axes, indices), n.span, declares=True, shape=shape)

    def whole_axis(self, item: ir.IndexItem, size: ir.Expr) -> str | None:
        """The axis of the loop, where an index runs once through all entries there are."""
        if isinstance(item, ir.At) and len(axes_of(item.index.type)) == 1 and self.is_range(item.index, size):
            return axes_of(item.index.type)[0]
        return None

    def read_whole(self, n: ir.Gather) -> ir.Expr:
        """The variable itself along the loops that run through it, or what other indices pick of that."""
        if not isinstance(n.base, ir.Var) or any(n.picks) or n.base.name in self.inputs:
            return n
        sizes = self.sizes.get(n.base.name, ())[len(n.picks) :]
        axes, items = list(axes_of(n.base.type)), list(n.items)
        for size in sizes:
            axis = self.whole_axis(items[0], size) if items else None
            others = {a for i in items[1:] if isinstance(i, ir.At) for a in axes_of(i.index.type)}
            if axis is None or axis in (*axes, *others):
                break
            axes.append(axis)
            items.pop(0)
        if len(items) == len(n.items) or [a for a in axes_of(n.type) if a in axes] != axes:
            return n
        entries = sum(isinstance(i, ir.At) and entry(i.index.type) == INT for i in items)
        of_each = ir.Var(n.base.name, over_axes(array_of(entry(n.type), entries), *axes))
        return ir.Gather(of_each, (None,) * len(axes), tuple(items), n.type) if items else of_each

    def steps(self, n: ir.Scan) -> ir.Scan:
        """The scan, its steps reading whole entries of the inputs where they read all of one."""
        steps = {name: len(axes_of(e.type)) - 1 for name, e in zip(n.inputs, n.entries, strict=True)}
        sizes = {
            name: (*self.sizes[name][:k], *self.sizes[name][k + 1 :])
            for name, k in steps.items()
            if name in self.sizes
        }
        inside = Definitions(sizes, self.made)
        return replace(n, step=inside.filled(n.step), next=tuple(rewrite(e, inside.change) for e in n.next))

    def is_range(self, e: ir.Expr, size: ir.Expr) -> bool:
        """Whether it is 1, ..., size."""
        match self.made.get(e.name) if isinstance(e, ir.Var) else e:
            case ir.Apply(callee=ir.Callee(impl=batching.loop_range), args=(lower, upper)):
                return lower == ir.Const(1, INT) and self.known(upper) == self.known(size)
        return False

    def known(self, size: ir.Expr) -> ir.Expr:
        """The declared size, where it was asked of a variable: `rows(X)` of a `matrix[N, K] X` is N.

        `trips(1, N)` differs from N below 0 alone, where neither has entries.
        """
        match self.made.get(size.name) if isinstance(size, ir.Var) else size:
            case ir.Apply(callee=ir.Callee(name=function), args=(ir.Var(name=name),)) if function in AXES:
                sizes = self.sizes.get(name, ())
                of_each = len(sizes) == (1 if function == "size" else 2)
                return sizes[AXES[function]] if of_each else size
            case ir.Apply(callee=ir.Callee(impl=batching.trips), args=(ir.Const(value=1), upper)):
                return self.known(upper)
        return size


def counts(d: ir.Declared) -> tuple[ir.Expr, ...]:
    """How many entries a variable has along the axes around its own, those of the draws."""
    return tuple(count_of(ir.Var(axis, over_axes(INT, axis))) for axis in axes_of(d.type))
