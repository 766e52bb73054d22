"""Inner loops that add up earlier entries of a variable, as sums over ranges of them.

`for (k in 1:m) s += w[k] * (t - k >= 1 ? x[t - k] : a);` adds `dot_product(reverse(x[...]), w[...])` to s, of
the k up to min(m, t - 1), and of those behind w[k] * a, by a loop that does not read x.
"""

from collections.abc import Mapping
from functools import reduce

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import int_sum, linear
from ppl.kernel.ir.lower_expr import library_apply
from ppl.kernel.ir.walk import assigned_names, binary, is_invariant, rewrite, substituted, used_names, walk
from ppl.optimise.passes.batch import Dependent
from ppl.optimise.passes.contractions import ONE, TIMES
from ppl.optimise.passes.sums import PLUS, addend, with_sum
from ppl.records import dataclass, replace
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import INT, REAL, core, indexed_type, rank

LEAST: Mapping[str, tuple[int, int]] = {
    OPERATORS[op].name: sign_and_least for op, sign_and_least in
    ((">=", (1, 0)), (">", (1, 1)), ("<=", (-1, 0)), ("<", (-1, 1)))
}  # fmt: skip
"""Of a comparison, the sign of left - right with which it holds, and the least value of that."""


def with_sums_of_ranges(body: ir.Stmts, name: str) -> ir.Stmts:
    """The statements of a step; those after an inner loop that adds up entries of a variable read its sum.

    Raises:
        Dependent: an inner loop reads the variable in another way.
    """
    for k, s in enumerate(body):
        if isinstance(s, ir.For) and name in used_names(s):
            total, sum_, rest = sum_of(s, name)
            after = body[k + 1 :]
            if total.name in assigned_names(after) or not is_invariant(sum_, after[:-1]):
                raise Dependent("the sum is changed after the loop")
            whole = binary("+", total, sum_, REAL)
            after = tuple(substituted(each, {total.name: whole}) for each in after)
            return (*body[:k], *rest, *with_sums_of_ranges(after, name))
    return body


def sum_of(s: ir.For, name: str) -> tuple[ir.Var, ir.Expr, ir.Stmts]:
    """The variable that a loop adds to, the sum over entries of `name`, and the loop that adds the others."""
    match s.body:
        case (ir.Assign() as add,):
            pass
        case _:
            raise Dependent("the loop does more than add up")
    added = addend(add)
    if added is None or add.value.type != REAL or added[0].callee.name != PLUS:
        raise Dependent("the loop does more than add up")
    total, e = added[0].args[0], added[1]
    choices = [n for n in walk(e) if isinstance(n, ir.Select) and name in used_names(n)]
    steps = Steps(s.variable, s.lower, s.upper)
    rest: ir.Stmts = ()
    if choices:
        choice = choices[0]
        holds = name in used_names(choice.then)
        steps, others = steps.where(choice.condition, holds)
        read, other = (choice.then, choice.otherwise)[:: 1 if holds else -1]
        e, other = replaced(e, choice, read), replaced(e, choice, other)
        value = with_sum(add.value, replace(added[0], args=(total, other)))
        rest = (replace(s, lower=others.lower, upper=others.upper, body=(replace(add, value=value),)),)
    if name in used_names((rest, s.lower, s.upper)) or not isinstance(total, ir.Var):
        raise Dependent("the loop reads the variable elsewhere")
    return total, steps.sum(e, name), rest


def replaced(e: ir.Expr, choice: ir.Select, side: ir.Expr) -> ir.Expr:
    """The expression where a choice takes one side."""
    return rewrite(e, lambda n: side if n == choice else n)


@dataclass(frozen=True)
class Steps:
    """The steps of a loop, from `lower` to `upper`."""

    variable: str
    lower: ir.Expr
    upper: ir.Expr

    def where(self, condition: ir.Expr, holds: bool) -> "tuple[Steps, Steps]":
        """The steps for which a comparison of its variable holds, or fails, and the others."""
        match condition:
            case ir.Apply(callee=ir.Callee(name=word), args=(left, right)) if (
                word in LEAST and left.type == INT
            ):
                sign, least = LEAST[word]
            case _:
                raise Dependent("the condition does not compare the variable of the loop")
        excess = int_sum("-", left, right) if sign > 0 else int_sum("-", right, left)
        form = linear(excess)
        if form is None or abs(form.slope(self.variable)) != 1:
            raise Dependent("the condition does not compare the variable of the loop")
        at_zero = self.at(excess, ir.Const(0, INT))
        if form.slope(self.variable) < 0:  # up to the last for which it holds
            last = int_sum("-", at_zero, ir.Const(least, INT))
        else:  # from the first, so up to the last for which it fails
            last = int_sum("-", ir.Const(least - 1, INT), at_zero)
        first, after = self.up_to(last), self.after(last)
        return (first, after) if (form.slope(self.variable) < 0) == holds else (after, first)

    def up_to(self, last: ir.Expr) -> "Steps":
        return replace(self, upper=library_apply("min", [self.upper, last], INT))

    def after(self, last: ir.Expr) -> "Steps":
        return replace(
            self, lower=library_apply("max", [self.lower, int_sum("+", last, ir.Const(1, INT))], INT)
        )

    def at(self, e: ir.Expr, step: ir.Expr) -> ir.Expr:
        """An expression of ints at a step."""
        return substituted(e, {self.variable: step})

    def sum(self, e: ir.Expr, name: str) -> ir.Expr:
        """The sum of what each step adds: of entries of `name`, with the weights that a list has."""
        alone, lists = [f for f in factors(e) if self.variable not in used_names(f)], []
        for factor in factors(e):
            if self.variable in used_names(factor):
                lists.append(self.range_of(factor))
        same = len({core(x.type) for x in lists}) == 1
        if len(lists) > 2 or name in used_names(tuple(alone)) or not same:
            raise Dependent("not a sum of products")
        sum_ = library_apply("dot_product" if len(lists) == 2 else "sum", lists, REAL)
        return reduce(lambda x, y: binary("*", x, y, REAL), (f for f in alone if f != ONE), sum_)

    def range_of(self, e: ir.Expr) -> ir.Expr:
        """The entries of a list that the steps read, in the order of the steps."""
        match e:
            case ir.Index(base=ir.Var() as base, items=(ir.At(index=index),)) if rank(base.type) == 1:
                form = linear(index)
                if form is None or abs(form.slope(self.variable)) != 1:
                    raise Dependent("entries are not read in order")
                ends = self.at(index, self.lower), self.at(index, self.upper)
                forward = form.slope(self.variable) > 0
                between = ir.Between(*(ends if forward else ends[::-1]))
                part = ir.Index(base, (between,), indexed_type(base.type, (True,)))
                return part if forward else library_apply("reverse", [part], part.type)
            case ir.Promote(value=value) if rank(value.type) == 0:
                raise Dependent("weights are ints")
        raise Dependent("weights are not a list")


def factors(e: ir.Expr) -> list[ir.Expr]:
    """Those that an expression is the product of."""
    match e:
        case ir.Apply(callee=ir.Callee(name=name), args=(x, y)) if name == TIMES:
            return [*factors(x), *factors(y)]
    return [e]
