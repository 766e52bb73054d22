"""Sums of products in a nest of loops, as products of matrices.

Of `for (j in 1:J) for (c in 1:C) { ... for (i in 1:I) s += a[j, i] * b[c, i]; ... }` no factor needs both j
and c.  The factors are computed by loops over j and i, and over i and c; the sums over i are the entries of a
product of matrices.  A sum may also be that of an array that the innermost loop fills.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property, partial, reduce
from typing import Any, cast

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import trips
from ppl.kernel.ir.walk import (
    Fresh,
    assigned_names,
    binary,
    fresh_names,
    has_effects,
    in_branches,
    leaves_early,
    rewrite,
    used_names,
    walk,
)
from ppl.optimise.passes.sums import MINUS, PLUS, addend, with_sum
from ppl.records import dataclass, replace
from ppl.stdlib import batching
from ppl.stdlib.functions.operators import OPERATORS
from ppl.stdlib.functions.sums import total
from ppl.types import INT, MATRIX, REAL, rank

TIMES, NEGATE = OPERATORS["*"].name, OPERATORS["unary -"].name
ONE, MINUS_ONE = ir.Const(1.0, REAL), ir.Const(-1.0, REAL)
MOST_PRODUCTS = 8
"""Products of matrices that one sum may become."""


class Inseparable(Exception):
    """A factor varies over both outer loops, or is not known to be the same where it would be computed."""


def contract(p: ir.Program) -> ir.Program:
    """Sums of products in a nest of three loops become products of matrices.

    Sums in nests of outermost loops are computed before them.
    """
    contracted = partial(outermost, fresh=fresh_names("_product"))
    return p.with_density(lambda body: in_branches(body, contracted))


def outermost(outer: ir.Stmt, fresh: Fresh) -> ir.Stmts:
    """The contractions for the sums in a loop, and the loop that reads them; other statements as they are."""
    if not isinstance(outer, ir.For) or leaves_early(outer.body):
        return (outer,)
    before: list[ir.Stmt] = []
    body = list(outer.body)
    for k, s in enumerate(body):
        for inner in s.body if isinstance(s, ir.For) else ():
            if isinstance(s, ir.For) and isinstance(inner, ir.For):
                nest = Nest(outer, s, inner)
                try:
                    statement, sum_ = nest.product(fresh)
                    body[k] = s = replace(s, body=tuple(nest.summed(s.body, sum_)))
                    before += statement
                except Inseparable:
                    pass
    return (*before, replace(outer, body=tuple(body)))


@dataclass(frozen=True)
class Nest:
    """Three loops one in the other, the innermost of which ends by adding to a sum or by filling an array."""

    outer: ir.For
    middle: ir.For
    inner: ir.For

    @cached_property
    def values(self) -> Mapping[str, ir.Expr]:
        """Scalars that the innermost loop declares."""
        own = [s for s in self.inner.body[:-1] if isinstance(s, ir.Assign) and s.declares]
        if len(own) < len(self.inner.body) - 1 or any(rank(s.value.type) for s in own):
            raise Inseparable
        return {s.name: s.value for s in own}

    @cached_property
    def changing(self) -> set[str]:
        return assigned_names(self.outer.body) - self.values.keys()

    def axes(self, e: ir.Expr) -> set[str]:
        """The variables of the loops that an expression varies over."""
        if has_effects(e):
            raise Inseparable  # it draws, or adds to the target
        axes: set[str] = set()
        for name in used_names(e):
            if name in self.values:
                axes |= self.axes(self.values[name])
            elif name in (self.outer.variable, self.middle.variable, self.inner.variable):
                axes.add(name)
            elif name in self.changing:
                raise Inseparable
        return axes

    def is_separate(self, e: ir.Expr) -> bool:
        return not {self.outer.variable, self.middle.variable} <= self.axes(e)

    def products(self, e: ir.Expr) -> list[list[ir.Expr]]:
        """The factors of each of the products that an expression is the sum of."""
        match e:
            case _ if self.is_separate(e):
                return [[e]]
            case ir.Var(name=name):
                return self.products(self.values[name])
            case ir.Apply(callee=ir.Callee(name=name), args=(a, b)) if name == PLUS:
                return self.products(a) + self.products(b)
            case ir.Apply(callee=ir.Callee(name=name), args=(a, b)) if name == MINUS:
                return [*self.products(a), *([MINUS_ONE, *factors] for factors in self.products(b))]
            case ir.Apply(callee=ir.Callee(name=name), args=(a, b)) if name == TIMES:
                return [x + y for x in self.products(a) for y in self.products(b)]
            case ir.Apply(callee=ir.Callee(name=name), args=(a,)) if name == NEGATE:
                return [[MINUS_ONE, *factors] for factors in self.products(a)]
        raise Inseparable

    @property
    def addend(self) -> ir.Expr:
        """The summand of the innermost loop."""
        last = self.inner.body[-1]
        path, at = getattr(last, "path", ()), ir.At(ir.Var(self.inner.variable, INT))
        match addend(last):
            case (_, e) if not used_names(path) & {self.inner.variable, *self.values}:
                return e
            case None if isinstance(last, ir.Update) and path == ((at,),):
                return last.value
        raise Inseparable

    def product(self, fresh: Fresh) -> tuple[ir.Stmts, ir.Expr]:
        """Statements that compute the sums of all iterations of the outer loops, and the sum of one."""
        for loop in (self.outer, self.middle, self.inner):
            fixed = not used_names(loop.upper) & {*self.changing, *self.values, self.outer.variable}
            if loop.lower != ir.Const(1, INT) or not fixed or has_effects(loop.upper):
                raise Inseparable
        if self.addend.type != REAL or self.is_separate(self.addend):
            raise Inseparable
        products = self.products(self.addend)
        if len(products) > MOST_PRODUCTS:
            raise Inseparable
        row = self.outer.variable
        of_rows = [[f for f in factors if row in self.axes(f)] for factors in products]
        others = [[f for f in factors if row not in self.axes(f)] for factors in products]
        left, a = self.filled(self.outer, self.inner, of_rows, fresh)
        right, b = self.filled(self.inner, self.middle, others, fresh)
        each = (binary("*", x, y, MATRIX) for x, y in zip(a, b, strict=True))
        sums = ir.Var(fresh("sums"), MATRIX)
        value = reduce(lambda x, y: binary("+", x, y, MATRIX), each)
        assignment = ir.Assign(sums.name, value, self.inner.span, declares=True)
        return (*left, *right, assignment), ir.Index(sums, entry(self.outer, self.middle), REAL)

    def filled(
        self, rows: ir.For, columns: ir.For, entries: list[list[ir.Expr]], fresh: Fresh
    ) -> tuple[ir.Stmts, list[ir.Var]]:
        """Loops that fill matrices with products, and the matrices."""
        span, over = self.inner.span, {rows.variable, columns.variable}
        variables = [ir.Var(fresh("factors"), MATRIX) for _ in entries]
        values = [reduce(lambda x, y: binary("*", x, y, REAL), factors or [ONE]) for factors in entries]
        sets = [
            ir.Update(v.name, (entry(rows, columns),), ir.Promote(e, REAL) if e.type == INT else e, span)
            for v, e in zip(variables, values, strict=True)
        ]
        own = [s for s in self.inner.body[:-1] if isinstance(s, ir.Assign) and self.axes(s.value) <= over]
        nest = replace(rows, body=(replace(columns, body=(*own, *sets)),))
        sizes = tuple(trips(loop.lower, loop.upper) for loop in (rows, columns))
        return (*(ir.Declare(v.name, MATRIX, sizes, span) for v in variables), nest), variables

    def summed(self, body: ir.Stmts, sum_: ir.Expr) -> Iterator[ir.Stmt]:
        """The body of the middle loop without the innermost, whose sum is known."""
        last = self.inner.body[-1]
        assert isinstance(last, ir.Assign | ir.Update)
        if added := addend(last):
            value = with_sum(last.value, replace(added[0], args=(added[0].args[0], sum_)))
            yield from (replace(last, value=value) if s is self.inner else s for s in body)
            return
        declared = [s for s in body if isinstance(s, ir.Declare) and s.name == last.name]
        if len(declared) != 1 or not self.is_only_summed(last.name):
            raise Inseparable
        (size,) = cast(tuple[ir.Expr], declared[0].shape)
        if size != self.inner.upper:
            rest = ir.Callee("unset_after", batching.unset_after, "none")
            sum_ = binary("+", sum_, ir.Apply(rest, (self.inner.upper, size), REAL), REAL)
        for s in body:
            if s is not self.inner and s is not declared[0]:
                yield rewrite(s, lambda n: sum_ if is_sum(n, last.name) else n)

    def is_only_summed(self, name: str) -> bool:
        """Whether nothing but the sum is asked of an array that is set at one place."""
        nodes = [n for n in walk(self.outer.body) if getattr(n, "name", "") == name]
        sums = sum(is_sum(n, name) for n in walk(self.outer.body))
        return len(nodes) == sums + 2  # these, its declaration and where it is set


def entry(rows: ir.For, columns: ir.For) -> tuple[ir.At, ...]:
    return ir.At(ir.Var(rows.variable, INT)), ir.At(ir.Var(columns.variable, INT))


def is_sum(n: Any, name: str) -> bool:
    """Whether a node is the sum of a variable."""
    match n:
        case ir.Apply(callee=ir.Callee(impl=impl), args=(ir.Var(name=of),)):
            return impl is total and of == name
    return False
