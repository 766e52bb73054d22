"""A loop that fills a variable by sums over ranges of its earlier entries becomes a linear recurrence.

`x[t] = a + b * dot_product(x[i:j], w)`, as the renewal equation of an epidemic, reads any number of earlier
entries, so the state of a scan cannot hold them.  But x[t] is linear in them.  Loops whose iterations are
independent compute its coefficients: x[t] is set to a, the scale to b, and row t of a table has the weights w
of the entries before it.  One call of stdlib/linear_recurrence then computes all entries.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial, reduce

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import is_numbered_by, linear
from ppl.kernel.ir.lower_expr import library_apply
from ppl.kernel.ir.walk import (
    Fresh,
    assigned_names,
    backward_slice,
    binary,
    declared_names,
    fresh_names,
    in_branches,
    is_invariant,
    leaves_early,
    mentions,
    substituted,
    used_names,
    walk,
)
from ppl.optimise.passes.batch import Dependent
from ppl.optimise.passes.contractions import MINUS_ONE, NEGATE, ONE, TIMES
from ppl.optimise.passes.inline import rename
from ppl.optimise.passes.loop_body import outer_writes, set_once
from ppl.optimise.passes.recurrence import refuse_effects, with_indices_written_out
from ppl.optimise.passes.sums import MINUS, PLUS
from ppl.optimise.passes.sums_of_ranges import with_sums_of_ranges
from ppl.records import dataclass, replace
from ppl.stdlib.functions.operators import OPERATORS
from ppl.stdlib.linear_recurrence import weights_before, with_recurrence
from ppl.stdlib.record import Impl, LeadingAxis
from ppl.types import INT, MATRIX, REAL, VECTOR, ArrayType, Type, rank

DIVIDE, ELT_TIMES = OPERATORS["/"].name, OPERATORS[".*"].name
FIRST, ZERO = ir.Const(1, INT), ir.Const(0.0, REAL)


@dataclass(frozen=True)
class Range:
    """The entries base[lower:upper], in order or `backwards`."""

    base: ir.Expr
    lower: ir.Expr
    upper: ir.Expr
    backwards: bool = False


@dataclass(frozen=True)
class RecurrenceTerm:
    """A factor, times the sum over earlier entries with their weights, 1 if none, where there are entries."""

    factor: ir.Expr
    entries: Range | None = None
    weights: Range | None = None

    def scaled(self, op: str, by: ir.Expr) -> "RecurrenceTerm":
        alone = op == "*" and self.factor == ONE
        return replace(self, factor=by if alone else binary(op, self.factor, by, REAL))


def by_linear_recurrences(p: ir.Program) -> ir.Program:
    """A loop that fills a variable by sums over ranges of its earlier entries becomes one recurrence."""
    change = partial(rewrite_statement, fresh=fresh_names("_linear"))
    return p.with_density(lambda body: in_branches(body, change), functions=True)


def rewrite_statement(s: ir.Stmt, fresh: Fresh) -> ir.Stmts:
    """A loop as loops of independent iterations and a recurrence; any other statement as it is."""
    if isinstance(s, ir.For) and not leaves_early(s.body):
        body = with_indices_written_out(s.body)
        for name in dict.fromkeys(store.name for store in body if isinstance(store, ir.Update)):
            with suppress(Dependent):
                loop = replace(s, body=with_sums_of_ranges(body, name))
                for k, store in enumerate(loop.body):
                    if isinstance(store, ir.Update) and store.name == name and reads_range(loop.body, name):
                        return replace_loop(loop, k, store, fresh)
    return (s,)


def replace_loop(s: ir.For, k: int, store: ir.Update, fresh: Fresh) -> ir.Stmts:
    """Loops that fill the variable and the weights, the recurrence, and the rest of the loop."""
    before, after = s.body[:k], s.body[k + 1 :]
    refuse_effects((*before, store))
    name, place = store.name, place_in_order(store, s)
    needed, value = without_locals_of(name, before, store.value)
    terms = tuple(terms_of(value, name))
    sums = [term for term in terms if term.entries]
    rest = (*needed, *after)
    dropped = declared_names(before) - declared_names(needed)
    if len(sums) != 1 or any(mentions(each, gone) for each in rest for gone in (name, *dropped)):
        raise Dependent("the loop reads the variable elsewhere")
    require_earlier(sums[0], place)
    require_same_weights(sums[0], s)
    own = [term.factor for term in terms if not term.entries] or [ZERO]
    fill = replace(store, value=reduce(partial(binary, "+", t=REAL), own))
    recurrence = Replacement(s, place, needed, fresh).statements(fill, sums[0])
    loop = replace(s, body=rest)
    has_effect = outer_writes(loop) or any(
        isinstance(n, ir.Increment | ir.CallVoid | ir.Message) for n in walk(rest)
    )
    return (*recurrence, loop) if has_effect else recurrence


def reads_range(body: ir.Stmts, name: str) -> bool:
    """Whether the statements read a range of a variable."""
    return any(
        isinstance(n, ir.Index)
        and isinstance(n.base, ir.Var)
        and n.base.name == name
        and isinstance(n.items[0], ir.Between)
        for n in walk(body)
    )


# --- What the loop does --------------------------------------------------------------------------


def place_in_order(store: ir.Update, s: ir.For) -> ir.Expr:
    """The index of the one entry that a step sets, each step the next."""
    match store:
        case ir.Update(path=((ir.At(index=index) as item,),), value=value) if value.type == REAL:
            at = linear(index)
            in_order = is_numbered_by(item, s.variable, assigned_names(s.body).__contains__)
            if in_order and at and at.slope(s.variable) == 1:
                return index
    raise Dependent("entries are not filled in order")


def without_locals_of(name: str, before: ir.Stmts, value: ir.Expr) -> tuple[ir.Stmts, ir.Expr]:
    """The statements without locals that depend on the variable, and the value with these substituted."""
    independent: list[ir.Stmt] = []
    once, dependent = set_once(before), {name}
    for s in before:
        dependent |= assigned_names((s,)) if used_names(s) & dependent else set()
    for k, s in reversed([*enumerate(before)]):
        if not used_names(s) & dependent:
            independent.insert(0, s)
        elif (
            isinstance(s, ir.Assign)
            and s.name in once
            and s.declares
            and rank(s.value.type) == 0
            and is_invariant(s.value, before[k + 1 :])
        ):
            value = substituted(value, {s.name: s.value})
        else:
            raise Dependent(f"`{name}` is read before the statement that fills it")
    return tuple(independent), value


def terms_of(e: ir.Expr, name: str) -> Iterator[RecurrenceTerm]:
    """The terms of a sum; raises Dependent unless it is linear in the variable."""
    if name not in used_names(e):
        yield RecurrenceTerm(e if e.type == REAL else ir.Promote(e, REAL))
        return
    match e:
        case ir.Apply(callee=ir.Callee(name=op), args=(left, right)) if op in (PLUS, MINUS):
            yield from terms_of(left, name)
            yield from terms_of(right if op == PLUS else binary("*", MINUS_ONE, right, REAL), name)
        case ir.Apply(callee=ir.Callee(name=op), args=(x,)) if op == NEGATE:
            yield from (t.scaled("*", MINUS_ONE) for t in terms_of(x, name))
        case ir.Apply(callee=ir.Callee(name=op), args=(x, y)) if op == TIMES and rank(x.type) == 0:
            by, of = (x, y) if name not in used_names(x) else (y, x)
            yield from (t.scaled("*", invariant(by, name)) for t in terms_of(of, name))
        case ir.Apply(callee=ir.Callee(name=op), args=(x, y)) if op == DIVIDE:
            yield from (t.scaled("/", invariant(y, name)) for t in terms_of(x, name))
        case ir.Apply(callee=ir.Callee(name="dot_product"), args=(x, y)):
            yield product(x, y, name)
        case ir.Apply(callee=ir.Callee(name=op), args=(x, y)) if op == TIMES:
            yield product(x, y, name)
        case ir.Apply(callee=ir.Callee(name="sum"), args=(ir.Apply(callee=inner, args=(x, y)),)):
            if inner.name != ELT_TIMES:
                raise Dependent("not a sum of products")
            yield product(x, y, name)
        case ir.Apply(callee=ir.Callee(name="sum"), args=(x,)):
            yield RecurrenceTerm(ONE, earlier(x, name))
        case _:
            raise Dependent("not linear")


def invariant(e: ir.Expr, name: str) -> ir.Expr:
    """The expression as a real; raises Dependent if it reads the variable."""
    if name in used_names(e):
        raise Dependent("not linear")
    return e if e.type == REAL else ir.Promote(e, REAL)


def product(x: ir.Expr, y: ir.Expr, name: str) -> RecurrenceTerm:
    """The sum of the products of entries of the variable and of weights."""
    entries, weights = (x, y) if name in used_names(x) else (y, x)
    if name in used_names(weights):
        raise Dependent("not linear")
    return RecurrenceTerm(ONE, earlier(entries, name), as_range(weights))


def earlier(e: ir.Expr, name: str) -> Range:
    """The range of entries of the variable that a list is; raises Dependent if it is none."""
    range_ = as_range(e)
    if range_.base != ir.Var(name, range_.base.type):
        raise Dependent("not linear")
    return range_


def as_range(e: ir.Expr) -> Range:
    """A list as a range of another one, or of itself."""
    match e:
        case ir.Apply(callee=ir.Callee(name="reverse"), args=(x,)):
            range_ = as_range(x)
            return replace(range_, backwards=not range_.backwards)
        case ir.Apply(callee=ir.Callee(name="transpose"), args=(x,)) if rank(x.type) == 1:
            return as_range(x)
        case ir.Index(base=base, items=(ir.Between(lower=lower, upper=upper),)):
            if lower is not None and upper is not None and rank(base.type) == 1:
                return Range(base, lower, upper)
    if rank(e.type) != 1:
        raise Dependent("not a list")
    return Range(e, FIRST, library_apply("size", [e], INT))


def require_earlier(t: RecurrenceTerm, place: ir.Expr) -> None:
    """Raise Dependent if a step may read an entry that is not filled yet."""
    assert t.entries is not None
    at, last = linear(place), linear(t.entries.upper)
    ahead = at + -last if at and last else None
    if ahead is None or ahead.terms or ahead.constant < 1:
        raise Dependent("a step reads entries that are not filled yet")


def require_same_weights(t: RecurrenceTerm, s: ir.For) -> None:
    """Raise Dependent if the list of weights changes from step to step."""
    lists = t.weights and t.weights.base
    if s.variable in used_names(lists) or not is_invariant(lists, s.body):
        raise Dependent("the weights change from one step to the next")


# --- What takes its place ------------------------------------------------------------------------


@dataclass(frozen=True)
class Replacement:
    """The statements that take the place of a loop, whose steps need some locals."""

    loop: ir.For
    place: ir.Expr
    locals: ir.Stmts
    fresh: Fresh

    def statements(self, fill: ir.Update, t: RecurrenceTerm) -> ir.Stmts:
        """Loops that fill the variable, the scale, and the ends of ranges; then the entries in order."""
        assert t.entries is not None
        of = t.weights or replace(t.entries, base=self.filled(VECTOR, ONE))
        ends = (t.entries.lower, t.entries.upper, of.lower, of.upper)
        starts = (FIRST, ir.Const(0, INT)) * 2  # no entries where the loop does not come
        tables = [ir.Var(self.fresh("end"), ArrayType(INT)) for _ in ends]
        scale = ir.Var(self.fresh("scale"), VECTOR)
        backwards = ir.Const(int(t.entries.backwards != of.backwards), INT)
        weights = call_of(weights_before, "whole", MATRIX, of.base, *tables, backwards)
        x = ir.Var(fill.name, t.entries.base.type)
        return (
            *(self.declared(each, start) for each, start in zip(tables, starts, strict=True)),
            self.declared(scale, ZERO),
            self.steps(*map(self.set, tables, ends)),
            self.steps(fill, self.set(scale, t.factor)),
            ir.Assign(x.name, call_of(with_recurrence, "leading", x.type, x, scale, weights), fill.span),
        )

    def declared(self, var: ir.Var, value: ir.Expr) -> ir.Assign:
        return ir.Assign(var.name, self.filled(var.type, value), self.loop.span, declares=True)

    def filled(self, t: Type, value: ir.Expr) -> ir.Expr:
        """A list of the value for each entry up to the last that the loop fills."""
        last = substituted(self.place, {self.loop.variable: self.loop.upper})
        size = library_apply("max", [last, ir.Const(0, INT)], INT)
        return library_apply("rep_vector" if t == VECTOR else "rep_array", [value, size], t)

    def steps(self, *body: ir.Stmt) -> ir.For:
        """The loop with this body, and the locals that it needs."""
        needed = backward_slice(self.locals, used_names(body))
        if outer_writes(replace(self.loop, body=needed)):
            raise Dependent("a step reads another variable that the loop fills")
        own = {name: self.fresh(name) for name in declared_names(needed)}
        return replace(self.loop, body=tuple(rename(s, own, {}) for s in (*needed, *body)))

    def set(self, var: ir.Var, value: ir.Expr) -> ir.Update:
        return ir.Update(var.name, ((ir.At(self.place),),), value, self.loop.span)


def call_of(impl: Impl, batch: LeadingAxis, t: Type, *args: ir.Expr) -> ir.Apply:
    return ir.Apply(ir.Callee(impl.__name__, impl, batch), args, t)
