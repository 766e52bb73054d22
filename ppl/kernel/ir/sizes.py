"""Checks that containers meet in equal sizes, which NumPy would not make: it repeats one of size 1.

Sizes come from declarations. Where two of them are not the same expression of data, they are compared once,
when a program gets its data, under the conditions that the statement stands under. Where data do not tell,
calls and assignments compare the sizes when they run (`compares`, `fits`).
"""

from collections import ChainMap
from collections.abc import Collection, MutableMapping, Sequence
from typing import Any, NamedTuple

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.linear import linear
from ppl.kernel.ir.lower_expr import library_apply
from ppl.kernel.ir.printer import expr
from ppl.kernel.ir.walk import (
    binary,
    changing_names,
    implicit_arguments_of,
    jumps,
    surely,
    used_names,
    walk,
    walk_statements,
    with_blocks,
    with_parts,
)
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import INT, ROW_VECTOR, VECTOR, Type, core, element_type, is_tuple, rank


class Meeting(NamedTuple):
    """Two arguments of a call, by position, whose last axes, so many, must have the same sizes.

    `inner` are how many axes each has after these. The first comes before the other.
    """

    one: int
    other: int
    axes: int = 1
    inner: tuple[int, int] = (0, 0)


def by_rows(x: int, *rows: int) -> tuple[Meeting, ...]:
    """Those of a matrix x with as many rows as other arguments have entries."""
    first, *others = rows
    of_x = (Meeting(min(k, x), max(k, x), inner=(int(x < k), int(k < x))) for k in rows)
    return (*(Meeting(first, k) for k in others), *of_x)


OWN_MEETINGS = {
    "log_mix": (Meeting(0, 1),),
    "multi_gp": (Meeting(0, 1), Meeting(0, 2, inner=(1, 0))),
    "multi_gp_cholesky": (Meeting(0, 1), Meeting(0, 2, inner=(1, 0))),
    "categorical_logit_glm": (*by_rows(1, 0), Meeting(2, 3)),
    "ordered_logistic_glm": by_rows(1, 0),
    "binomial_logit_glm": by_rows(2, 0, 1, 3),
    **dict.fromkeys(("bernoulli_logit_glm", "poisson_log_glm"), by_rows(1, 0, 2)),
    **dict.fromkeys(("normal_id_glm", "neg_binomial_2_log_glm"), by_rows(1, 0, 2, 4)),
}
OF_PAIRS = ("distance", "squared_distance", "columns_dot_product", "rows_dot_product")
OF_TWO_LENGTHS = ("categorical", "categorical_logit", "ordered_logistic", "ordered_probit")
"""Densities of many draws at once with arguments of different lengths."""


def meetings(e: ir.Apply) -> list[Meeting]:
    """Arguments that a call takes entry by entry, or row by row."""
    callee, ranks = e.callee, e.ranks
    name = callee.family.name if callee.family is not None else callee.name
    if name in OWN_MEETINGS and callee.implicit != "rng":
        own = OWN_MEETINGS[name]
        return [m for m in own if ranks[m.one] > m.inner[0] and ranks[m.other] > m.inner[1]]
    whole = callee.batch == "elementwise" or name in OF_PAIRS
    together = [r > 0 and (whole or not k) for r, k in zip(ranks, callee.cores or ranks, strict=True)]
    if not any(together) and is_of_vectors(callee):
        together = [r > 0 for r in ranks]
        ranks = tuple(r if rank(core(a.type)) == 1 else 1 for r, a in zip(ranks, e.args, strict=True))
    first, *others = (k for k, t in enumerate(together) if t) if any(together) else (0,)
    return [Meeting(first, k, min(ranks[first], ranks[k])) for k in others]


def is_of_vectors(callee: ir.Callee) -> bool:
    """Whether all containers of a density have one length, or rows of one length."""
    family = callee.family
    return family is not None and family.batch == "leading" and family.name not in OF_TWO_LENGTHS


AxisSizes = tuple[ir.Expr, ...] | None
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


def size_checks(p: ir.Program) -> ir.Program:
    """The program, which rejects data by which containers meet in different sizes.

    Operations and assignments for which data do not tell compare the sizes when they run.
    """
    of_data = p.data_names - changing_names(p.transformed_data)
    sizes: dict[str, AxisSizes] = {
        d.name: None if d.items else (*d.dims, *d.sizes) for d in (*p.data, *p.parameters)
    }
    functions = (replace(f, body=Checks(frozenset(), {}, sure=False).of(f.body)[0]) for f in p.functions)
    blocks, rejections = dict[str, ir.Stmts](), list[ir.Stmt]()
    for name in ("transformed_data", "transformed_parameters", "model", "generated_quantities"):
        checks = Checks(of_data, sizes)
        blocks[name], added = checks.of(getattr(p, name))
        sizes |= checks.local
        rejections += added
    blocks["transformed_data"] += tuple(rejections)
    return replace(p, functions=tuple(functions), **blocks)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Checks:
    """Facts within a block: names of data that do not change, and sizes of variables.

    With `sure` data alone tell that its statements run.
    """

    of_data: frozenset[str]
    sizes: MutableMapping[str, AxisSizes]
    local: dict[str, AxisSizes] = field(default_factory=dict)
    sure: bool = True

    def of(self, body: Sequence[ir.Stmt]) -> tuple[ir.Stmts, ir.Stmts]:
        """The statements, and those that reject data by their sizes."""
        out, rejections = list[ir.Stmt](), list[ir.Stmt]()
        for s in body:
            self.forget(s)
            s, own = self.compared(s)
            match s:
                case ir.Declare(name=name, shape=shape):
                    self.local[name] = shape if isinstance(shape, tuple) else None
                case ir.Assign(name=name, declares=True):
                    self.local[name] = s.shape or self.size_of(s.value)
            s, inner = self.inside(s)
            out.append(s)
            rejections += (*own, *inner)
        return tuple(out), tuple(rejections)

    def forget(self, s: ir.Stmt) -> None:
        """Sizes of ints that a statement changes are those of before."""
        ints = {n.name for n in walk_statements(s) if is_int_set(n)}
        if ints:
            known = {**self.sizes, **self.local}.items()
            self.local.update({name: None for name, size in known if used_names(size) & ints})

    def inside(self, s: ir.Stmt) -> tuple[ir.Stmt, ir.Stmts]:
        """The statement with its blocks compared, and what rejects data there, under its condition."""
        if not isinstance(s, ir.If | ir.For | ir.While | ir.Profile):
            return s, ()
        condition = condition_of(s)
        below = replace(self, sizes=ChainMap(self.local, self.sizes), local={})
        if condition is None or not self.is_of_data(condition):
            below = replace(below, sure=False)
        blocks: list[ir.Stmts] = []

        def compared(block: Sequence[ir.Stmt]) -> ir.Stmts:
            changed, own = replace(below, local={}).of(block)
            blocks.append(own)
            return changed

        s = with_blocks(s, compared)
        if condition is None or not any(blocks):
            return s, ()
        then, otherwise = (*blocks, ())[:2]
        return s, then if condition == ONE else (ir.If(condition, then, otherwise, s.span),)

    def compared(self, s: ir.Stmt) -> tuple[ir.Stmt, ir.Stmts]:
        """The statement, its blocks aside, and what rejects data by which containers meet in it."""
        parts = (s.lower, s.upper) if isinstance(s, ir.For) else getattr(s, "condition", None) or s
        if isinstance(s, ir.Profile | ir.Declare | ir.CheckDeclared):
            return s, ()
        certain = self.sure and not isinstance(s, ir.While)
        surely_met = {id(e) for e in surely(parts)} if certain else set[int]()
        open_calls, pairs = set[int](), list[tuple[ir.Expr, ir.Expr]]()
        for e in walk(parts):
            if isinstance(e, ir.Apply):
                met = [self.differences(self.met(e, m), id(e) in surely_met) for m in meetings(e)]
                if None in met:
                    open_calls.add(id(e))
                pairs += (pair for each in met for pair in each or ())
        if isinstance(s, ir.Update):
            s, more = self.assigned(s, certain)
            pairs += more
        if open_calls:
            s = checked(s, open_calls)
        return s, tuple(rejection(a, b, s.span) for a, b in pairs)

    def assigned(self, s: ir.Update, certain: bool) -> tuple[ir.Update, Sequence[tuple[ir.Expr, ir.Expr]]]:
        """An assignment to entries, which says whether the value is known to fit, and the sizes by which."""
        match s.path:
            case (tuple() as items,) if not is_tuple(s.value.type):
                here = self.indexed(self.known(s.name), items)
                met = (here, self.size_of(s.value)) if rank(s.value.type) else ((), ())
                pairs = self.differences(met, certain)
                return replace(s, fits=pairs is not None), pairs or ()
        return s, ()

    def differences(self, met: Sequence[AxisSizes], certain: bool) -> list[tuple[ir.Expr, ir.Expr]] | None:
        """Sizes to be compared with the data; None where that is not known by the data."""
        one, other = met
        if one is None or other is None:
            return None
        differing = [(a, b) for a, b in zip(one, other, strict=False) if not is_same(a, b)]
        return differing if not differing or (certain and self.is_of_data(tuple(differing))) else None

    def is_of_data(self, node: object) -> bool:
        return used_names(node) <= self.of_data and not any(map(is_effect, walk(node)))

    def met(self, e: ir.Apply, m: Meeting) -> list[AxisSizes]:
        """The sizes of the axes by which two arguments meet."""
        ends = zip(map(self.size_of, (e.args[m.one], e.args[m.other])), m.inner, strict=True)
        return [size and size[len(size) - m.axes - inner : len(size) - inner] for size, inner in ends]

    def known(self, name: str) -> AxisSizes:
        return self.local[name] if name in self.local else self.sizes.get(name)

    def size_of(self, e: ir.Expr) -> AxisSizes:
        """The size of each axis of a container."""
        match e:
            case ir.Var(name=name, type=t):
                return self.known(name) or own_axes(name, t)
            case ir.Item(base=ir.Var(name=name), number=number, type=t):
                return own_axes(f"{name}.{number}", t)
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

    def indexed(self, sizes: AxisSizes, items: Sequence[ir.IndexItem]) -> AxisSizes:
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


def condition_of(s: ir.Stmt) -> ir.Expr | None:
    """The condition under which the first block of a statement runs, where that decides before it."""
    match s:
        case ir.For(lower=lower, upper=upper, body=body) if not any(map(jumps, body)):
            return binary("<=", lower, upper, INT)
        case ir.If(condition=condition):
            return condition
        case ir.Profile():
            return ONE
    return None


def is_int_set(s: ir.Stmt) -> bool:
    """Whether a statement changes an int, or ints, that are there before it."""
    match s:
        case ir.Assign(value=value, declares=False) | ir.Update(value=value):
            return element_type(value.type) == INT
    return False


def own_axes(name: str, t: Type) -> AxisSizes:
    """The sizes of a container about which no more is known, as names that no program has."""
    return tuple(ir.Var(f"{name} {k}", INT) for k in range(rank(t)))


def checked(node: Any, calls: Collection[int]) -> Any:
    """A node in which some calls, by their ids, compare the sizes of their arguments when they run."""
    changed = with_parts(node, lambda part: checked(part, calls))
    return replace(changed, callee=replace(changed.callee, compares=True)) if id(node) in calls else changed


def rejection(a: ir.Expr, b: ir.Expr, span: Span) -> ir.Stmt:
    """A statement that rejects data if two sizes differ."""
    n, m = not_negative(a), not_negative(b)
    advice = ir.Text(f"]. {remedy(sorted(used_names((a, b))))}")
    message = (ir.Text("Sizes do not match: ["), n, ir.Text("] and ["), m, advice)
    return ir.If(binary("!=", n, m, INT), (ir.Message("reject", message, span),), (), span)


def not_negative(size: ir.Expr) -> ir.Expr:
    """The size, at least 0: a range `lower:upper` that is empty may have a negative one."""
    return library_apply("max", [size, ir.Const(0, INT)], INT) if isinstance(size, ir.Apply) else size


def is_same(a: ir.Expr, b: ir.Expr) -> bool:
    """Whether two sizes are one expression, as `N - 1` and `N - 2 + 1` are."""
    if a == b:
        return True
    one, other = linear(a, lambda _: True), linear(b, lambda _: True)
    return one == other if one is not None and other is not None else expr(a) == expr(b)
