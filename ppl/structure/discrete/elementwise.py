"""Distribution statements over whole containers of discrete values, entry by entry.

`y ~ normal(mu[z], sigma)` is the loop over n of `y[n] ~ normal(mu[z[n]], sigma)`: each term then touches one
entry of z.
"""

from collections.abc import Callable, Sequence

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.programs.entries import LOCALS
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, code, expr, variable
from ppl.records import dataclass
from ppl.source import Span
from ppl.stdlib.record import Distribution, Function
from ppl.stdlib.signatures import Match, parse_signature
from ppl.structure.discrete.affine import minus, plus, tidy
from ppl.structure.discrete.parameters import Discrete
from ppl.types import array_dims, rank

Touches = Callable[[ast.Node], bool]


class NoElement(Exception):
    """An expression has no form for one entry."""


@dataclass
class Elementwise:
    """`touches` says what depends on a discrete parameter."""

    facts: Facts
    parameters: dict[str, Discrete]
    names: FreshNames
    touches: Touches
    lengths: dict[str, ast.Expr]

    def split(
        self, called: Match, args: Sequence[ast.Expr], span: Span
    ) -> tuple[Stmts, list[ast.Expr], str, ast.Expr] | None:
        """A density of containers for one entry: declarations before a loop, the arguments, the loop.

        None where it has no container that depends on a discrete parameter, or no form for one entry.
        """
        spread = [k for k, own in spread_arguments(called) if rank(self.facts.types[args[k]]) > own]
        if not any(self.touches(args[k]) for k in spread):
            return None
        name = self.names.of_entries()
        index = variable(name, span)
        before: Stmts = ()
        out = list(args)
        try:
            length = self.length(next(args[k] for k in spread if self.touches(args[k])))
            for k in spread:
                if not self.touches(args[k]) and not is_plain(args[k]):
                    local, entry = self.local(args[k])
                    before += entry
                    out[k] = expr("a[i]", span, a=local, i=index)
                else:
                    out[k] = self.element(args[k], index)
        except NoElement:
            return None
        return before, out, name, length

    def local(self, e: ast.Expr) -> tuple[str, Stmts]:
        """A local variable with the value of a container."""
        declaration = LOCALS.get(self.facts.types[e])
        if declaration is None:
            raise NoElement
        name = self.names.fresh("each")
        return name, code(declaration, e.span, e=e, v=name)

    # --- One entry ---

    def element(self, e: ast.Expr, i: ast.Expr) -> ast.Expr:
        """Entry `i` of a container."""
        if rank(self.facts.types[e]) == 0:
            return e
        match e:
            case ast.Variable():
                return expr("a[i]", e.span, a=e, i=i)
            case ast.Indexed(base=base, indices=indices):
                return self.indexed(e, base, indices, i)
            case ast.Binary(op="+" | "-" | ".*" | "./" as op, left=left, right=right):
                return ast.Binary(e.span, op.lstrip("."), self.element(left, i), self.element(right, i))
            case ast.Binary(op="*" | "/" as op, left=left, right=right) if self.is_scaled(op, left, right):
                return ast.Binary(e.span, op, self.element(left, i), self.element(right, i))
            case ast.Unary(op="-" | "+", operand=operand):
                return ast.Unary(e.span, e.op, self.element(operand, i))
            case ast.Call(args=(arg,)) if self.is_unary(e):
                return ast.Call(e.span, e.name, (self.element(arg, i),))
            case ast.Call(name="to_vector" | "to_array_1d" | "to_row_vector", args=(arg,)) if (
                rank(self.facts.types[arg]) == 1
            ):
                return self.element(arg, i)
            case ast.ArrayLiteral() | ast.RowVectorLiteral():
                return expr("a[i]", e.span, a=e, i=i)
            case _:
                raise NoElement

    def is_scaled(self, op: str, left: ast.Expr, right: ast.Expr) -> bool:
        ranks = rank(self.facts.types[left]), rank(self.facts.types[right])
        return 0 in ranks if op == "*" else ranks[1] == 0

    def is_unary(self, e: ast.Call) -> bool:
        """A call of an elementwise function of one argument."""
        called = self.facts.calls.get(e)
        return (
            isinstance(called, Match)
            and isinstance(called.callee.record, Function)
            and called.overload.batch == "elementwise"
            and called.overload.signature == "(T) => T"
        )

    def indexed(
        self, e: ast.Indexed, base: ast.Expr, indices: tuple[ast.Index, ...], i: ast.Expr
    ) -> ast.Expr:
        """The first axis that is kept gets the index `i`; without such an index a further one is added."""
        for k, index in enumerate(indices):
            match index:
                case ast.RangeIndex(lower=lower, upper=_):
                    at = i if lower is None else tidy(plus(expr("a + b", e.span, a=lower, b=i), -1))
                case ast.SingleIndex(value=value) if rank(self.facts.types[value]) > 0:
                    at = self.element(value, i)
                case _:
                    continue
            picks = (*indices[:k], ast.SingleIndex(e.span, at), *indices[k + 1 :])
            return ast.Indexed(e.span, base, picks)
        return ast.Indexed(e.span, base, (*indices, ast.SingleIndex(e.span, i)))

    # --- How many entries ---

    def length(self, e: ast.Expr) -> ast.Expr:
        """The number of entries of a container that depends on a discrete parameter."""
        match e:
            case ast.Variable(name=name) if name in self.parameters:
                return self.parameters[name].dims[0]
            case ast.Variable(name=name) if name in self.lengths:
                return self.lengths[name]
            case ast.Variable() | ast.Indexed() if isinstance(e, ast.Variable) or not self.touches(e):
                word = "size(e)" if array_dims(self.facts.types[e]) else "num_elements(e)"
                return expr(word, e.span, e=e)
            case ast.Indexed(base=ast.Variable(name=name), indices=indices):
                return self.indexed_length(name, indices)
            case ast.Binary(left=left, right=right):
                return self.length_of((left, right))
            case ast.Unary(operand=operand):
                return self.length(operand)
            case ast.Call(args=args):
                return self.length_of(args)
            case ast.ArrayLiteral(items=items) | ast.RowVectorLiteral(items=items):
                return ast.IntLiteral(e.span, len(items))
            case _:
                raise NoElement

    def length_of(self, operands: Sequence[ast.Expr]) -> ast.Expr:
        """That of the operands of an elementwise operation: numbers, and containers of one length."""
        spread = [e for e in operands if rank(self.facts.types[e]) > 0]
        spread.sort(key=lambda e: not self.touches(e))
        if not spread:
            raise NoElement
        return self.length(spread[0])

    def indexed_length(self, name: str, indices: tuple[ast.Index, ...]) -> ast.Expr:
        for k, index in enumerate(indices):
            match index:
                case ast.RangeIndex(lower=lower, upper=upper):
                    if name in self.parameters:
                        upper = upper or self.parameters[name].dims[k]
                    if upper is None:
                        raise NoElement
                    return upper if lower is None else plus(minus(upper, lower), 1)
                case ast.SingleIndex(value=value) if rank(self.facts.types[value]) > 0:
                    if self.touches(value):
                        return self.length(value)
                    return expr("size(e)", value.span, e=value)
        if name in self.parameters and len(self.parameters[name].dims) == len(indices) + 1:
            return self.parameters[name].dims[len(indices)]
        raise NoElement


OWN_AXES = {"reals": 0, "ints": 0, "vectors": 1}
"""How many axes one value has of an argument that may be many."""


def spread_arguments(called: Match) -> list[tuple[int, int]]:
    """The arguments of a density of which it may get many values at once, with the axes of one value."""
    if not isinstance(called.callee.record, Distribution) or called.callee.kind != "density":
        return []
    patterns = parse_signature(called.overload.signature).args
    return [(k, OWN_AXES[p.base]) for k, p in enumerate(patterns) if p.base in OWN_AXES and not p.dims]


def is_plain(e: ast.Expr) -> bool:
    """A variable, or entries of one: to be indexed as it stands."""
    return isinstance(e, ast.Variable) or (isinstance(e, ast.Indexed) and isinstance(e.base, ast.Variable))
