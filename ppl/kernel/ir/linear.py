"""Int arithmetic: constants put together, and expressions as sums of variables.

The first makes finitely many statements of a function that calls itself with a constant one less, down to
zero; the second tells `x[t]` from `x[t - 1]`.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ppl.arrays import NUMPY
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.printer import expr
from ppl.kernel.ir.walk import binary, rewrite, used_names
from ppl.records import dataclass
from ppl.stdlib import batching
from ppl.stdlib.functions.operators import LARGEST_INT, LOWEST_INT, OPERATORS, require_int
from ppl.types import INT

KNOWN = frozenset(
    o.impl for op in ("+", "-", "*", "==", "!=", "<", "<=", ">", ">=") for o in OPERATORS[op].overloads
)


def folded(body: Sequence[ir.Stmt]) -> ir.Stmts:
    """The statements with what constants decide decided."""
    return decided(tuple(rewrite(s, fold) for s in body))


def fold(node: Any) -> Any:
    match node:
        case ir.Apply(callee=callee, args=args, type=t) if t == INT and callee.impl in KNOWN:
            numbers = [int(a.value) for a in args if isinstance(a, ir.Const) and a.type == INT]
            return ir.Const(int(callee.impl(NUMPY, *numbers)), INT) if len(numbers) == len(args) else node
        case ir.Apply(callee=callee, args=(ir.Const(value=value) as number,)) if callee.impl is require_int:
            return number if LOWEST_INT <= value <= LARGEST_INT else node  # which stops what evaluates it
        case ir.Logical(op=op, left=ir.Const(value=value)) if bool(value) == (op == "or"):
            return ir.Const(int(op == "or"), INT)
        case ir.Select(condition=ir.Const(value=value), then=then, otherwise=otherwise):
            return then if value else otherwise
        case _:
            return node


def decided(body: ir.Stmts) -> ir.Stmts:
    """Branches on constants replaced by what they run; nothing follows a return."""
    out: list[ir.Stmt] = []
    for s in body:
        match s:
            case ir.If(condition=ir.Const(value=value), then=then, otherwise=otherwise):
                out += decided(then if value else otherwise)
            case ir.If(then=then, otherwise=otherwise):
                out.append(replace(s, then=decided(then), otherwise=decided(otherwise)))
            case _:
                out.append(s)
        if out and isinstance(out[-1], ir.Return):
            break
    return tuple(out)


PLUS, MINUS, NEGATE = (OPERATORS[op].name for op in ("+", "-", "unary -"))

SIGNS = {PLUS: 1, MINUS: -1}


@dataclass(frozen=True)
class Linear:
    """`constant` plus whole multiples of variables, none of them zero."""

    constant: int
    terms: frozenset[tuple[str, int]]

    def __add__(self, other: "Linear") -> "Linear":
        counts = Counter(dict(self.terms))
        for name, k in other.terms:
            counts[name] += k
        return Linear(self.constant + other.constant, frozenset((v, k) for v, k in counts.items() if k))

    def __neg__(self) -> "Linear":
        return Linear(-self.constant, frozenset((v, -k) for v, k in self.terms))

    def slope(self, name: str) -> int:
        return dict(self.terms).get(name, 0)


def linear(e: ir.Expr, as_variable: Callable[[ir.Index], bool] = lambda entry: False) -> Linear | None:
    """The expression in this form; None for any other.

    Entries of int arrays may count as variables, under their text.
    """
    match e:
        case ir.Const(value=value, type=t) if t == INT:
            return Linear(int(value), frozenset())
        case ir.Var(name=name, type=t) if t == INT:
            return Linear(0, frozenset({(name, 1)}))
        case ir.Apply(callee=callee, args=(x,)) if callee.impl is require_int and e.type == INT:
            return linear(x, as_variable)
        case ir.Apply(callee=callee, args=(x,)) if callee.name == NEGATE and e.type == INT:
            of_x = linear(x, as_variable)
            return None if of_x is None else -of_x
        case ir.Apply(callee=callee, args=(x, y)) if callee.name in SIGNS and e.type == INT:
            of_x, of_y = linear(x, as_variable), linear(y, as_variable)
            if of_x is None or of_y is None:
                return None
            return of_x + (of_y if SIGNS[callee.name] > 0 else -of_y)
        case ir.Index(type=t) if t == INT and as_variable(e):
            return Linear(0, frozenset({(expr(e), 1)}))
        case _:
            return None


def linear_index(item: ir.IndexItem) -> Linear | None:
    """The one entry that an index picks, in this form."""
    return linear(item.index) if isinstance(item, ir.At) else None


def is_numbered_by(item: ir.IndexItem, v: str, changes: Callable[[str], bool]) -> bool:
    """Whether an index is a variable or its negative plus what does not change: x[n], x[n - first[g] + 1]."""
    if not isinstance(item, ir.At):
        return False
    at = linear(item.index, lambda entry: not any(n == v or changes(n) for n in used_names(entry)))
    return at is not None and abs(at.slope(v)) == 1 and not any(changes(n) for n, _ in at.terms if n != v)


def int_sum(op: str, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """left + right, or left - right, of ints."""
    return fold(binary(op, left, right, INT))


def trips(lower: ir.Expr, upper: ir.Expr) -> ir.Expr:
    """How often a loop runs, which is 0 times where its bounds cross."""
    if isinstance(lower, ir.Const) and isinstance(upper, ir.Const):
        return ir.Const(max(0, int(upper.value) - int(lower.value) + 1), INT)
    return ir.Apply(ir.Callee("trips", batching.trips, "none"), (lower, upper), INT)
