"""Checks that containers meet in equal sizes, which NumPy would not make: it repeats one of size 1.

Sizes come from declarations. A check stands only where two of them are not the same expression of data; it is
made once, when a program gets its data, under the conditions that its statement stands under.
"""

from collections.abc import Iterator, Mapping, Sequence

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import linear
from ppl.kernel.ir.lower_expr import library_apply
from ppl.kernel.ir.operators import binary
from ppl.kernel.ir.printer import expr
from ppl.kernel.ir.walk import changing_names, implicit_arguments_of, jumps, surely, used_names, walk
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import INT, ROW_VECTOR, VECTOR, array_dims, core, rank

Sizes = tuple[ir.Expr, ...] | None
"""The size of each axis; None where declarations do not tell."""
ONE = ir.Const(1, INT)
MULTIPLY, TRANSPOSE = OPERATORS["*"].name, OPERATORS["'"].name


def remedy(names: Sequence[str]) -> str:
    """Where to look, given the data by which two sizes are declared."""
    if not names:
        return "Check the declarations of the variables in this statement."
    return (
        f"They are declared by {' and '.join(f'`{n}`' for n in names)}: check the data and the declarations."
    )


def size_checks(p: ir.Program) -> ir.Stmts:
    """Statements that reject data by which containers of the program meet in different sizes."""
    variables = (*p.data, *p.transformed_data_names, *p.parameters)
    variables += (*p.transformed_parameter_names, *p.generated_names)
    sizes: dict[str, Sizes] = {d.name: None if d.items else (*d.dims, *d.sizes) for d in variables}
    of_data = p.data_names - changing_names(p.transformed_data)
    blocks = (p.transformed_data, p.transformed_parameters, p.model, p.generated_quantities)
    return tuple(check for body in blocks for check in Checks(of_data, sizes).of(body))


@dataclass(frozen=True)
class Checks:
    """What is known within a block: names of data that stay as they are, and sizes of variables."""

    of_data: frozenset[str]
    sizes: Mapping[str, Sizes]
    local: dict[str, Sizes] = field(default_factory=dict)

    def of(self, body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
        """Those of statements that each run."""
        for s in body:
            for one, other in self.meetings(s):
                yield from self.compared(one, other, s.span)
            match s:
                case ir.Declare(name=name, shape=shape):
                    self.local[name] = shape if isinstance(shape, tuple) else None
                case ir.Assign(name=name, declares=True):
                    self.local[name] = s.shape or self.size_of(s.value)
                case ir.For() if not any(map(jumps, s.body)):
                    yield from self.under(binary("<=", s.lower, s.upper, INT), s.body, (), s.span)
                case ir.If():
                    yield from self.under(s.condition, s.then, s.otherwise, s.span)
                case ir.Profile():
                    yield from self.inside.of(s.body)

    @property
    def inside(self) -> "Checks":
        return replace(self, sizes={**self.sizes, **self.local}, local={})

    def under(
        self, condition: ir.Expr, then: Sequence[ir.Stmt], otherwise: Sequence[ir.Stmt], span: Span
    ) -> Iterator[ir.Stmt]:
        """Those of statements under a condition, where data alone tell whether it holds."""
        if self.is_of_data(condition):
            one, other = (tuple(self.inside.of(body)) for body in (then, otherwise))
            if one or other:
                yield ir.If(condition, one, other, span)

    def compared(self, one: Sizes, other: Sizes, span: Span) -> Iterator[ir.Stmt]:
        """That each two sizes are equal."""
        for a, b in zip(one or (), other or (), strict=False):
            if self.is_of_data((a, b)) and not is_same(a, b):
                n, m = not_negative(a), not_negative(b)
                advice = ir.Text(f"]. {remedy(sorted(used_names((a, b))))}")
                message = (ir.Text("Sizes do not match: ["), n, ir.Text("] and ["), m, advice)
                yield ir.If(binary("!=", n, m, INT), (ir.Message("reject", message, span),), (), span)

    def is_of_data(self, node: object) -> bool:
        return used_names(node) <= self.of_data and not any(map(is_effect, walk(node)))

    def meetings(self, s: ir.Stmt) -> Iterator[tuple[Sizes, Sizes]]:
        """The sizes of containers that meet in a statement, that of a loop or branch aside."""
        match s:
            case ir.Update(name=name, path=(tuple() as items,), value=value):
                here = self.indexed(self.known(name), items)
                yield here, self.size_of(value)
        parts = (s.lower, s.upper) if isinstance(s, ir.For) else getattr(s, "condition", None) or s
        for e in () if isinstance(s, ir.Profile | ir.Declare) else surely(parts):
            if isinstance(e, ir.Apply):
                first, *others = self.aligned(e) or (None,)
                yield from ((first, other) for other in others)

    def aligned(self, e: ir.Apply) -> list[Sizes]:
        """The sizes of arguments that a call takes entry by entry, or row by row."""
        if e.callee.batch == "elementwise" and not e.callee.cores:
            return [self.size_of(a) for a in e.args if rank(a.type)]
        if e.callee.family is not None:
            rows = [a for a in e.args if core(a.type) in (VECTOR, ROW_VECTOR) and array_dims(a.type) == 1]
            return [size and size[:1] for size in map(self.size_of, rows)]
        return []

    def known(self, name: str) -> Sizes:
        return self.local[name] if name in self.local else self.sizes.get(name)

    def size_of(self, e: ir.Expr) -> Sizes:
        """The size of each axis of a container."""
        match e:
            case ir.Var(name=name):
                return self.known(name)
            case ir.Promote(value=value):
                return self.size_of(value)
            case ir.Index(base=base, items=items):
                return self.indexed(self.size_of(base), items)
            case ir.MakeArray(items=(first, *_) as items):
                inner = self.size_of(first) if rank(first.type) else ()
                return None if inner is None else (ir.Const(len(items), INT), *inner)
            case ir.Apply(callee=callee, args=(x, y)) if (
                callee.name == MULTIPLY and rank(x.type) and rank(y.type)
            ):
                left, right = self.size_of(x), self.size_of(y)
                if left is None or right is None:
                    return None
                outer = core(x.type) == VECTOR and core(y.type) == ROW_VECTOR
                return (*left, *right) if outer else (*left[:-1], *right[1:])
            case ir.Apply(callee=callee, args=(x,)) if callee.name == TRANSPOSE:
                size = self.size_of(x)
                return size and size[::-1]
            case ir.Apply(callee=callee, args=args) if callee.batch == "elementwise" and not callee.reduce:
                return next(
                    (size for a in args if rank(a.type) == rank(e.type) and (size := self.size_of(a))), None
                )
            case _:
                return None

    def indexed(self, sizes: Sizes, items: Sequence[ir.IndexItem]) -> Sizes:
        """The sizes of what indices pick."""
        if sizes is None:
            return None
        leading: list[ir.Expr] = []
        for size, item in zip(sizes, items, strict=False):
            match item:
                case ir.At(index=index) if rank(index.type):
                    picked = self.size_of(index)
                    if picked is None:
                        return None
                    leading += picked
                case ir.Between(lower=lower, upper=upper):
                    before = ONE if lower is None else lower
                    last = size if upper is None else upper
                    leading.append(binary("+", binary("-", last, before, INT), ONE, INT))
        return (*leading, *sizes[len(items) :])


def is_effect(node: object) -> bool:
    """Whether an expression is of more than its variables: the target, a generator, a function's body."""
    return bool(implicit_arguments_of(node)) or isinstance(node, (ir.TargetSoFar, ir.CallUser, ir.Solve))


def not_negative(size: ir.Expr) -> ir.Expr:
    """The size, at least 0: a range `lower:upper` that is empty may have a negative one."""
    return library_apply("max", [size, ir.Const(0, INT)], INT) if isinstance(size, ir.Apply) else size


def is_same(a: ir.Expr, b: ir.Expr) -> bool:
    """Whether two sizes are one expression, as `N - 1` and `N - 2 + 1` are."""
    one, other = linear(a, lambda _: True), linear(b, lambda _: True)
    return one == other if one is not None and other is not None else expr(a) == expr(b)
