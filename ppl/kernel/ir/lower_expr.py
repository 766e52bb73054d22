"""Expressions of the typed tree, resolved: overloads chosen, promotions written out."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import binary, walk
from ppl.kernel.language import ast
from ppl.kernel.language.calls import suffix_of
from ppl.kernel.language.facts import Facts, ResolvedCall, UserMatch
from ppl.kernel.language.higher_order import HIGHER_ORDER
from ppl.kernel.language.laplace import INTS, LAPLACE, MEAN_AND_FACTOR
from ppl.kernel.language.scope import UserFunction
from ppl.kernel.language.solvers import SOLVERS
from ppl.records import dataclass, field, replace
from ppl.stdlib.functions.operators import OPERATORS, require_int
from ppl.stdlib.functions.slices import length_of_tail
from ppl.stdlib.laplace.latent import drawn_about, latent_of, mean_and_factor
from ppl.stdlib.laplace.marginal import EmbeddedLaplace
from ppl.stdlib.laplace.mode import NEWTON
from ppl.stdlib.library import standard
from ppl.stdlib.record import Distribution, Function
from ppl.stdlib.signatures import Match, Pattern, parse_signature
from ppl.types import (
    COMPLEX,
    INT,
    MATRIX,
    REAL,
    VECTOR,
    VOID,
    Tuple,
    Type,
    array_dims,
    array_of,
    complex_of,
    core,
    element_type,
    indexed_type,
    is_complex,
    is_tuple,
    items_of,
)

ARITHMETIC = frozenset(OPERATORS[op].name for op in ("+", "-", "*")) | {"sum", "prod"}
INT_32 = ir.Callee("require_int", require_int, "elementwise")


@dataclass
class Lowering:
    """The context of lowering: the facts, the emitted name of each user function, fresh names."""

    facts: Facts
    functions: dict[UserFunction, str] = field(default_factory=dict)
    temporaries: int = 0
    data_if: Mapping[str, ir.DataIf] = field(default_factory=dict)
    """When data, or the arguments of the function that is being lowered, are data."""
    local: ir.DataIf = None
    """When any other real variable is data."""

    def fresh(self, hint: str) -> str:
        """A name no program can have: names may not end in two underscores; nor a pass, which counts anew."""
        self.temporaries += 1
        return f"{hint}_{self.temporaries}_lowered__"


def lower_expr(c: Lowering, e: ast.Expr) -> ir.Expr:
    t = c.facts.types[e]
    match e:
        case ast.IntLiteral(value=value):
            return ir.Const(value, INT)
        case ast.RealLiteral(text=text):
            return ir.Const(float(text.replace("_", "")), REAL)
        case ast.ImaginaryLiteral(text=text):
            return ir.Const(complex(0.0, float(text.removesuffix("i").replace("_", ""))), COMPLEX)
        case ast.Variable(name=name):
            return ir.Var(name, t)
        case ast.Call():
            return lower_call(c, e, t)
        case ast.Binary(op="&&" | "||"):
            word = "and" if e.op == "&&" else "or"
            return ir.Logical(word, lower_expr(c, e.left), lower_expr(c, e.right), t)  # type: ignore[arg-type]
        case ast.Binary(left=left, right=right):
            return call(c, c.facts.calls[e], [lower_expr(c, left), lower_expr(c, right)], t)
        case ast.Unary(operand=operand) | ast.Transpose(operand=operand):
            return fold_sign(e, call(c, c.facts.calls[e], [lower_expr(c, operand)], t))
        case ast.Ternary():
            then, otherwise = (promote(lower_expr(c, b), t) for b in (e.then, e.otherwise))
            return ir.Select(lower_expr(c, e.condition), then, otherwise, t)
        case ast.Indexed():
            return lower_indexed(c, e, t)
        case ast.Projection(base=base, item=item):
            return ir.Item(lower_expr(c, base), item, t)
        case ast.ArrayLiteral(items=items) | ast.RowVectorLiteral(items=items):
            item_type = indexed_type(t, (False,))
            return ir.MakeArray(tuple(promote(lower_expr(c, i), item_type) for i in items), t)
        case ast.TupleLiteral(items=items):
            return ir.MakeTuple(tuple(lower_expr(c, i) for i in items), t)
        case ast.StringLiteral():
            raise AssertionError("the checker lets no such value through")


def fold_sign(e: ast.Expr, applied: ir.Expr) -> ir.Expr:
    """-1 is a constant, not a call."""
    match e, applied:
        case ast.Unary(op="-"), ir.Apply(args=(ir.Const(value, t),)):
            return ir.Const(-value, t)
        case ast.Unary(op="+"), ir.Apply(args=(operand,)):
            return operand
        case _:
            return applied


# --- Promotion -----------------------------------------------------------------------------------


def promote(e: ir.Expr, to: Type) -> ir.Expr:
    """`e` as a value of the wanted type: ints made real, and either complex, where needed."""
    if isinstance(e, ir.MakeArray) and not e.items:
        return replace(e, type=to)
    if e.type == to == INT:
        return within_int(e)
    if isinstance(to, Tuple) and isinstance(e.type, Tuple) and e.type != to:
        return ir.MakeTuple(tuple(promote(i, t) for i, t in zip(items_in(e), to.items, strict=True)), to)
    if is_tuple(to) and e.type != to:
        return ir.Promote(e, to)
    to_complex = is_complex(to) and not is_complex(e.type) and e.type != VOID
    if not to_complex and (core(e.type) != INT or core(to) != REAL):
        return e
    if isinstance(e, ir.Const):
        return ir.Const(complex(e.value) if to_complex else float(e.value), to)
    return ir.Promote(within_int(e), complex_of(e.type) if to_complex else array_of(REAL, array_dims(e.type)))


def items_in(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """The items of a tuple."""
    if isinstance(e, ir.MakeTuple):
        return e.items
    return tuple(ir.Item(e, k, t) for k, t in enumerate(items_of(e.type), 1))


def within_int(e: ir.Expr) -> ir.Expr:
    """The result of int arithmetic, if a variable of 32 bits holds it."""
    if isinstance(e, ir.Apply) and e.type == INT and e.callee.name in ARITHMETIC:
        return ir.Apply(INT_32, (e,), INT)
    return e


# --- Calls ---------------------------------------------------------------------------------------


def lower_call(c: Lowering, e: ast.Call, t: Type) -> ir.Expr:
    if e not in c.facts.calls:  # target(), which the checker knows by name
        return ir.TargetSoFar(t)
    called = c.facts.calls[e]
    if e.name in LAPLACE:
        return lower_laplace(c, e.name, e.args, called)
    if e.name in HIGHER_ORDER:
        return lower_higher_order(c, e, called)
    args = [lower_expr(c, a) for a in e.args]
    if isinstance(called, UserMatch):
        return user_call(c, called, args, may_drop(e.name))
    if e.name in SLICES:
        base, *where = args
        return ir.Index(base, SLICES[e.name](where), t)
    if e.name == "tail" and isinstance(args[0], ir.Var):
        return ir.Index(args[0], (last_of(*args),), t)
    if e.name in WITHOUT_ARGUMENTS:
        name, values = WITHOUT_ARGUMENTS[e.name]
        return library_apply(name, [ir.Const(value, REAL) for value in values], t)
    return call(c, called, args, t, may_drop(e.name))


def may_drop(name: str) -> bool:
    """Whether a call by this name leaves constants out where Stan's `propto` does."""
    return suffix_of(name) in ("lupdf", "lupmf", "lp")


def range_of_length(start: ir.Expr, count: ir.Expr) -> ir.Between:
    """start:(start + count - 1)."""
    one = ir.Const(1, INT)
    if start == one:
        return ir.Between(one, count)
    return ir.Between(start, binary("-", binary("+", start, count, INT), one, INT))


def last_of(base: ir.Expr, count: ir.Expr) -> ir.Between:
    """The range of the last `count` indices; its length is at least 0."""
    size = library_apply("size", [base], INT)
    if not isinstance(count, ir.Const):
        count = ir.Apply(ir.Callee("length_of_tail", length_of_tail, "whole"), (count,), INT)
    return ir.Between(binary("+", binary("-", size, count, INT), ir.Const(1, INT), INT), size)


WITHOUT_ARGUMENTS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "std_normal_rng": ("normal_rng", (0.0, 1.0))
}
"""Draws that take no arguments, whose axes would say how many are wanted, as those of a wider family."""

SLICES: Mapping[str, Callable[[Sequence[ir.Expr]], tuple[ir.IndexItem, ...]]] = {
    "row": lambda w: (ir.At(w[0]),),
    "col": lambda w: (ir.Between(None, None), ir.At(w[0])),
    "head": lambda w: (ir.Between(ir.Const(1, INT), w[0]),),
    "segment": lambda w: (range_of_length(w[0], w[1]),),
    "block": lambda w: (range_of_length(w[0], w[2]), range_of_length(w[1], w[3])),
    "sub_col": lambda w: (range_of_length(w[0], w[2]), ir.At(w[1])),
    "sub_row": lambda w: (ir.At(w[0]), range_of_length(w[1], w[2])),
}
"""Functions that only pick: as indices, loops over them become array operations."""


def lower_higher_order(c: Lowering, e: ast.Call, called: ResolvedCall) -> ir.Expr:
    """reduce_sum is one call over the whole; map_rect one call a shard, joined."""
    assert isinstance(called, UserMatch)
    if e.name in SOLVERS:
        return lower_solver(c, e, called)
    first, *rest = (lower_expr(c, a) for a in e.args[1:])
    if e.name == "map_rect":
        return replace(user_call(c, called, [first, *rest]), batch="shards")
    whole = [first, ir.Const(1, INT), library_apply("size", [first], INT), *rest[1:]]
    partial_sum = e.args[0]
    assert isinstance(partial_sum, ast.Variable)
    return user_call(c, called, whole, may_drop(partial_sum.name))


def library_apply(name: str, args: Sequence[ir.Expr], t: Type) -> ir.Apply:
    """The call of a function of the standard library by its name."""
    overload = standard().overload(name, tuple(a.type for a in args))
    assert overload is not None
    return apply(overload, args, t)


def lower_laplace(c: Lowering, name: str, args: Sequence[ast.Expr], called: ResolvedCall) -> ir.Expr:
    """The call with the covariance computed before it; of the settings, those that change the answer."""
    assert isinstance(called, UserMatch)
    record = LAPLACE[name]
    size, _, given, *settings = args[record.block :]
    covariance = user_call(c, called, items_in(lower_expr(c, given)))
    limits: list[ir.Expr] = [ir.Const(NEWTON.objective, REAL), ir.Const(NEWTON.most_steps, INT)]
    start: list[ir.Expr] = []
    if record.settings:
        theta_init, tolerance, most_steps, *_ = items_in(lower_expr(c, settings[0]))
        start, limits = [theta_init], [promote(tolerance, REAL), most_steps]
    block = lower_expr(c, size)
    if record.likelihood is None:
        numbers = [promote(x, REAL) for x in (*limits, block)]
        return lower_own_laplace(c, name, args, covariance, (*numbers, *start))
    y, index, *parameters = (lower_expr(c, a) for a in args[: record.block])
    leads = [promote(y, INTS), promote(index, INTS), *each_theta(parameters)]
    return ir.Apply(laplace_callee(name), (*leads, covariance, block, *limits), record.returns)


def each_theta(parameters: Sequence[ir.Expr]) -> list[ir.Expr]:
    """The likelihood's own parameter, if it has one, as one for each theta, and m."""
    *own, m = parameters
    if own and own[0].type != VECTOR:
        count = library_apply("size", [m], INT)
        own = [library_apply("rep_vector", [promote(own[0], REAL), count], VECTOR)]
    return [*own, m]


@cache
def laplace_callee(name: str) -> ir.Callee:
    """One for each name, so that a call is the same function wherever it stands."""
    record = LAPLACE[name]
    if record.returns == MEAN_AND_FACTOR:
        return ir.Callee(name, mean_and_factor, "leading")
    if record.likelihood is None:
        return ir.Callee(name, drawn_about, "none", implicit="rng")
    if record.draws:
        return ir.Callee(name, latent_of(record.likelihood), "none", implicit="rng")
    return ir.Callee(name, EmbeddedLaplace(record.likelihood), "leading")


def lower_own_laplace(
    c: Lowering, name: str, args: Sequence[ast.Expr], covariance: ir.Expr, settings: tuple[ir.Expr, ...]
) -> ir.Expr:
    """The likelihood's arguments, the covariance in place of theta; draws and moments are of its solution."""
    called = c.facts.calls[args[0]]
    assert isinstance(called, UserMatch)
    function = called.function
    arguments = [covariance, *items_in(lower_expr(c, args[1]))]
    returns = LAPLACE[name].returns
    begin = tuple(promote(a, t) for a, t in zip(arguments, function.args, strict=True))
    solved = ir.Solve(name, c.functions[function], begin, settings, REAL if returns == REAL else MATRIX)
    return solved if returns == REAL else ir.Apply(laplace_callee(name), (solved,), returns)


def lower_solver(c: Lowering, e: ast.Call, called: UserMatch) -> ir.Solve:
    """The function's arguments at the start, those that are shared after its own, and the settings."""
    solver = SOLVERS[e.name]
    args = [lower_expr(c, a) for a in e.args[1:]]
    leads, shared = len(solver.leads), len(called.function.args) - len(solver.own)
    arguments = [*(args[i] for i in solver.start), *args[leads : leads + shared]]
    start = tuple(promote(a, t) for a, t in zip(arguments, called.function.args, strict=False))
    given = [*(args[i] for i in solver.settings), *args[leads + shared :]]
    settings = tuple(promote(a, array_of(REAL, array_dims(a.type))) for a in given)
    function, t, points = c.functions[called.function], c.facts.types[e], len(solver.own)
    return ir.Solve(e.name, function, start, settings, t, points)


def user_call(c: Lowering, called: UserMatch, args: Sequence[ir.Expr], drops: bool = False) -> ir.CallUser:
    f = called.function
    promoted = tuple(promote(a, t) for a, t in zip(args, f.args, strict=True))
    implicit, when = implicit_arguments(f.name), data_if_each(c, promoted) if drops else None
    return ir.CallUser(c.functions[f], promoted, f.returns, implicit, data_if=when)


def implicit_arguments(name: str) -> tuple[str, ...]:
    """Implicit arguments of a function, by its suffix."""
    return {"lp": ("target",), "jacobian": ("jacobian",), "rng": ("rng",)}.get(suffix_of(name), ())


def apply(
    called: Match, args: Sequence[ir.Expr], t: Type, data_if: tuple[ir.DataIf, ...] | None = None
) -> ir.Apply:
    """The call of an overload, its int arguments made real where its signature says real."""
    if not isinstance(called.callee.record, Distribution):
        patterns = parse_signature(called.overload.signature).args
        real = [p.base == REAL or (p.base == "T" and core(t) != INT) for p in patterns]
        args = [as_real(a) if r else a for a, r in zip(args, real, strict=True)]
        args = [as_complex(a, p, t) for a, p in zip(args, patterns, strict=True)]
    return ir.Apply(library_callee(called), tuple(args), t, data_if=data_if)


def as_complex(e: ir.Expr, pattern: Pattern, result: Type) -> ir.Expr:
    """An argument that its signature has complex, or that stands for any type beside a complex one."""
    is_complex_argument = pattern.base == "C" or (pattern.base == "E" and is_complex(result))
    if is_complex_argument or (not isinstance(pattern.base, str) and is_complex(pattern.base)):
        return promote(e, complex_of(e.type))
    return e


def as_real(e: ir.Expr) -> ir.Expr:
    """An int literal or container made real; a scalar int mixes with reals as it is."""
    if e.type == INT and not isinstance(e, ir.Const):
        return e
    return promote(e, array_of(REAL, array_dims(e.type)))


def library_callee(called: Match) -> ir.Callee:
    callee, overload = called.callee, called.overload
    suffix = suffix_of(callee.name)
    reduce = "" if callee.kind not in ("density", "cdf") else "prod" if suffix == "cdf" else "sum"
    implicit = callee.kind if callee.kind in ("rng", "jacobian") else ""
    family = callee.record if isinstance(callee.record, Distribution) else None
    rejects = isinstance(callee.record, Function) and callee.record.rejects
    return ir.Callee(callee.name, overload.impl, overload.batch, reduce, implicit, family, rejects=rejects)  # type: ignore[arg-type]


def call(c: Lowering, called: ResolvedCall, args: Sequence[ir.Expr], t: Type, drops: bool = False) -> ir.Expr:
    """A call with arguments that are already lowered."""
    if isinstance(called, UserMatch):
        return user_call(c, called, args, drops)
    return apply(called, args, t, data_if_each(c, args) if drops else None)


def data_if_each(c: Lowering, args: Sequence[ir.Expr]) -> tuple[ir.DataIf, ...]:
    return tuple(data_if(c, a) for a in args)


def data_if(c: Lowering, e: ir.Expr) -> ir.DataIf:
    """When an expression is data: its real variables are."""
    needs: frozenset[str] = frozenset()
    if element_type(e.type) == INT:
        return needs
    for n in walk(e):
        match n:
            case ir.Var(name=name, type=t) if element_type(t) != INT:
                when = c.data_if.get(name, c.local)
            case ir.TargetSoFar():
                when = None
            case _:
                continue
        if when is None:
            return None
        needs |= when
    return needs


# --- Indexing ------------------------------------------------------------------------------------


def lower_indexed(c: Lowering, e: ast.Indexed, t: Type) -> ir.Expr:
    base = lower_expr(c, e.base)
    items = tuple(lower_index(c, i) for i in e.indices)
    if isinstance(base, ir.Index) and all(map(ir.drops_axis, base.items)):
        return ir.Index(base.base, (*base.items, *items), t)  # x[i][j] is x[i, j] when i is one int
    return ir.Index(base, items, t)


def lower_index(c: Lowering, index: ast.Index) -> ir.IndexItem:
    match index:
        case ast.SingleIndex(value=value):
            return ir.At(lower_expr(c, value))
        case ast.RangeIndex(lower=lower, upper=upper):
            bounds = [None if b is None else lower_expr(c, b) for b in (lower, upper)]
            return ir.Between(*bounds)
