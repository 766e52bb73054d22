"""IR expressions as Python text.

Operators are written infix where Python's means the same; every other call goes through `lib`, which the
loader fills for one namespace.
"""

from collections.abc import Callable, Sequence
from math import isfinite

from ppl.kernel.emit.emit_entries import (
    Entries,
    IndexText,
    axes_of_slot,
    cross_index,
    entries_of,
    needs_cross_index,
)
from ppl.kernel.emit.text import Binding, ReduceMode, Writer, python_name, tuple_text
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.sizes import meetings
from ppl.kernel.ir.varying import varies
from ppl.kernel.ir.walk import implicit_arguments_of, used_names
from ppl.stdlib.batching import WITH_OUTER
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import (
    INT,
    Type,
    array_dims,
    array_of,
    axes_of,
    core,
    element_type,
    is_complex,
    is_tuple,
    items_of,
    rank,
)

INFIX = {OPERATORS[op].name: sign for op, sign in (("+", "+"), ("-", "-"), (".*", "*"))}
TIMES, DIVIDE, ELT_DIVIDE = (OPERATORS[op].name for op in ("*", "/", "./"))
NEGATE, NOT = OPERATORS["unary -"].name, OPERATORS["unary !"].name
COMPARE = {OPERATORS[op].name: op for op in ("==", "!=", "<", "<=", ">", ">=")}


def expr(w: Writer, e: ir.Expr) -> str:
    """The text of an expression, in parentheses where it is an operator's."""
    match e:
        case ir.Const(value=value):
            return constant(value)
        case ir.Var(name=name):
            return python_name(name)
        case ir.Apply():
            return application(w, e)
        case ir.CallUser():
            return user_call(w, e)
        case ir.Solve():
            return solve(w, e)
        case ir.Logical() | ir.Select():
            return choice(w, e)
        case ir.Index(base=base, items=items) if is_tuple(base.type) and (
            len(items) > 1 or not ir.drops_axis(items[0])
        ):
            return indexed_tuples(w, operand(w, base), items)
        case ir.Index(base=base):
            return indexed(w, base, lambda name: index(w, name, e.items))
        case ir.Gather():
            return gather(w, e)
        case ir.MakeArray():
            return make_array(w, e)
        case ir.MakeTuple(items=items):
            return tuple_of(w, items)
        case ir.Item(base=base, number=number):
            return f"{operand(w, base)}[{number - 1}]"
        case ir.Promote(value=value, type=t) if is_tuple(t):
            return promoted_tuples(expr(w, value), value.type, t)
        case ir.Promote(value=value, type=t):
            return promoted(expr(w, value), value.type, t)
        case ir.TargetSoFar():
            return "lib.target_so_far(target)"


def promoted(text: str, actual: Type, wanted: Type) -> str:
    """A value with its ints made real, and either complex, where that is wanted."""
    if is_complex(wanted) and not is_complex(actual):
        return f"lib.as_complex({text})"
    return f"lib.real({text})" if element_type(actual) == INT and element_type(wanted) != INT else text


def promoted_tuples(text: str, actual: Type, wanted: Type, depth: int = 0) -> str:
    """An array of tuples, or an item of one, with the numbers in it promoted."""
    if not is_tuple(wanted):
        return promoted(text, actual, wanted)
    if dims := array_dims(wanted):
        one = f"item{depth}"
        inner, below = (array_of(core(t), dims - 1) for t in (actual, wanted))
        return f"[{promoted_tuples(one, inner, below, depth + 1)} for {one} in {text}]"
    items = enumerate(zip(items_of(actual), items_of(wanted), strict=True))
    return tuple_text(promoted_tuples(f"{text}[{k}]", f, t, depth) for k, (f, t) in items)


def tuple_of(w: Writer, items: Sequence[ir.Expr]) -> str:
    return tuple_text(expr(w, i) for i in items)


def constant(value: int | float | complex) -> str:
    if isinstance(value, complex):
        parts = value.real, value.imag
        return (
            f"({value!r})" if all(map(isfinite, parts)) else f"lib.complex({', '.join(map(constant, parts))})"
        )
    if isinstance(value, float) and not isfinite(value):
        return f"float('{value}')"
    return f"({value!r})" if value < 0 else repr(value)


def operand(w: Writer, e: ir.Expr) -> str:
    text = expr(w, e)
    return text if text.endswith((")", "]")) or text.isidentifier() else f"({text})"


def choice(w: Writer, e: ir.Logical | ir.Select) -> str:
    if isinstance(e, ir.Logical):
        return f"(1 * {condition(w, e)})" if differs(w, e) else f"(1 if {condition(w, e)} else 0)"
    if not differs(w, e.condition):
        return f"({expr(w, e.then)} if {condition(w, e.condition)} else {expr(w, e.otherwise)})"
    names = sorted(map(python_name, used_names((e.then, e.otherwise))))
    sides = (f"(lambda {', '.join(names)}: {expr(w, side)})" for side in (e.then, e.otherwise))
    return f"lib.branch({', '.join([condition(w, e.condition), *sides, *names])})"


def differs(w: Writer, e: ir.Expr) -> bool:
    """Whether the value of an expression may differ from point to point, where that matters."""
    return w.unknown is not None and varies(e, w.unknown)


def condition(w: Writer, e: ir.Expr) -> str:
    """The text of an expression used as a truth value."""
    match e:
        case ir.Logical(op=op, left=left, right=right) if differs(w, e):
            return f"lib.{op}_then({condition(w, left)}, lambda: {condition(w, right)})"
        case ir.Logical(op=op, left=left, right=right):
            return f"({condition(w, left)} {op} {condition(w, right)})"
        case ir.Apply(callee=ir.Callee(name=name), args=(left,)) if name == NOT and not differs(w, e):
            return f"not {condition(w, left)}"
        case ir.Apply(callee=ir.Callee(name=name), args=(left, right)) if name in COMPARE and not e.axes:
            return f"{expr(w, left)} {COMPARE[name]} {expr(w, right)}"
        case _:
            return f"{expr(w, e)} != 0"


# --- Calls ---------------------------------------------------------------------------------------


def user_call(w: Writer, e: ir.CallUser) -> str:
    args = [expr(w, a) for a in e.args]
    name = variant(w, e) if e.data_if is not None and w.propto else e.name
    arguments = ", ".join([*args, *e.implicit])
    if e.batch == "whole":
        return f"{name}({arguments})"
    helper, varying = ("each", has_axes(e.args)) if e.batch == "none" else ("join", [False, True, True, True])
    return f"lib.{helper}({name}, {marks((*varying, *(False for _ in e.implicit)))}, {arguments})"


def solve(w: Writer, e: ir.Solve) -> str:
    arguments = f"{e.solver!r}, {e.function}, {tuple_of(w, e.args)}, {tuple_of(w, e.settings)}"
    if axes_of(e.type):
        arguments += f", {marks(has_axes((*e.args, *e.settings)))}"
    return f"lib.solve({arguments})"


def marks(lifted: Sequence[int]) -> str:
    return tuple_text(str(bool(m)) for m in lifted)


def application(w: Writer, e: ir.Apply) -> str:
    args = [expr(w, a) for a in e.args]
    if e.axes:
        return lifted_application(w, e, args)
    args = compared(w, e, args)
    infix = infix_text(e, args)
    return call_text(w, e, whole_mode(e.callee), args) if infix is None else infix


def call_text(w: Writer, e: ir.Apply, mode: ReduceMode, args: Sequence[str], each: bool = False) -> str:
    """A call, or one for each entry along its axes; a density may leave out the terms of data alone."""
    drops = e.data_if is not None and w.propto
    constant = drops and all(are_data(w, e))
    name = less_constants(w, e, mode) if drops and not constant else bound_name(w, e, mode)
    implicit: list[str] = [*implicit_arguments_of(e)]
    if each:
        name, implicit = "lib.each", [name, marks((*[False] * len(implicit), *has_axes(e.args))), *implicit]
    text = f"{name}({', '.join([*implicit, *args])})"
    if constant:
        return f"lib.zeros_like({text})" if axes_of(e.type) else "0.0"
    return text


def whole_mode(callee: ir.Callee) -> ReduceMode:
    return {"sum": "total", "prod": "product", "": ""}[callee.reduce]  # type: ignore[return-value]


def bound_name(w: Writer, e: ir.Apply, mode: ReduceMode, name: str = "", drops: tuple[int, ...] = ()) -> str:
    """The name in `lib` that the function of a call is bound to: its own, or another."""
    c = e.callee
    axes = len(axes_of(e.type)) if mode in ("rows", "products") else 0
    binding = Binding(c.impl, mode, c.implicit, c.family, drops, c.batch, cores(e), axes, outer(e))
    return w.bind(name or c.name, binding)


def outer(e: ir.Apply) -> int:
    """The number of axes before the one that a function of stdlib/batching adds or works along."""
    if e.callee.impl not in WITH_OUTER:
        return 0
    here, there = axes_of(e.type), axes_of(e.args[0].type)
    fewer, more = (here, there) if len(here) < len(there) else (there, here)
    changes = [k for k, axis in enumerate(more) if axis not in fewer]
    return changes[0] if changes else len(there) - 1


def cores(e: ir.Apply) -> tuple[int, ...]:
    """How many trailing axes of each argument a call works on; array axes of a density's lead."""
    family, batch = e.callee.family, e.callee.batch
    if family is not None and batch != "elementwise":
        each = tuple(rank(core(a.type)) for a in e.args) if family.batch == "leading" else ()
        return e.callee.cores or each
    return e.ranks if batch == "leading" else ()


def infix_text(e: ir.Apply, args: Sequence[str]) -> str | None:
    """Python's operator where it does the same, inf and nan included."""
    name = e.callee.name
    if name == NEGATE and len(args) == 1:
        return f"(-{args[0]})"
    if len(args) != 2 or e.callee.batch != "elementwise":
        return None
    if name in INFIX or name == TIMES:
        return f"({args[0]} {INFIX.get(name, '*')} {args[1]})"
    if name in (DIVIDE, ELT_DIVIDE) and rank(e.type) > 0 and core(e.type) != INT:
        return f"({args[0]} / {args[1]})"
    return None


def lifted_application(w: Writer, e: ir.Apply, args: list[str]) -> str:
    """A call at every place along its axes: arguments aligned, or one call a place."""
    callee = e.callee
    if callee.batch == "none":
        return call_text(w, e, whole_mode(callee), args, each=True)
    own, result_axes = e.ranks, e.axes
    widest = max(own)
    if callee.batch == "leading":
        own = tuple(r - core for r, core in zip(own, cores(e), strict=True))
        widest = max(int(bool(callee.cores)), *own)
    args = [
        aligned(text, axes_of(a.type), result_axes, widest - r)
        for text, a, r in zip(args, e.args, own, strict=True)
    ]
    args = compared(w, e, args)
    if callee.batch == "elementwise":
        infix = infix_text(e, args)
        if infix is not None:
            return infix
    return call_text(w, e, batch_mode(e, widest), args)


def compared(w: Writer, e: ir.Apply, args: Sequence[str]) -> list[str]:
    """The arguments; those that are combined must have the same sizes."""
    args, names = [*args], dict[int, str]()
    for m in meetings(e) if e.callee.compares else ():
        if m.one not in names:
            names[m.one] = w.temporary()
            args[m.one] = f"({names[m.one]} := {args[m.one]})"
        args[m.other] = f"lib.alike({names[m.one]}, {args[m.other]}, {m.axes}, {m.inner})"
    return args


def has_axes(args: Sequence[ir.Expr]) -> list[bool]:
    """Which arguments differ from place to place."""
    return [bool(axes_of(a.type)) for a in args]


def aligned(text: str, axes: Sequence[str], result_axes: Sequence[str], own: int = 0) -> str:
    """A value with axes of length one in place of those that it lacks, and `own` more at the end.

    None is needed before its first axis: NumPy broadcasts from the right.
    """
    missing, gaps = 0, []
    for axis in result_axes[result_axes.index(axes[0]) :] if axes else ():
        if axis in axes:
            gaps.append((axes.index(axis), missing))
            missing = 0
        else:
            missing += 1
    for at, count in [(len(axes), missing + own if axes else 0), *reversed(gaps)]:
        text = f"lib.widen({text}, {at}, {count})" if count else text
    return text


def batch_mode(e: ir.Apply, widest: int) -> ReduceMode:
    """The whole sum when it is a term of the target, else one sum for each place."""
    if e.callee.implicit == "jacobian":
        return "each"
    if not e.callee.reduce:
        return ""
    if not axes_of(e.type):
        return "total"
    if e.callee.reduce == "prod":
        return "products"
    return "each" if widest == 0 and axes_of(e.type) == e.axes else "rows"


# --- Dropping constants --------------------------------------------------------------------------


def less_constants(w: Writer, e: ir.Apply, mode: ReduceMode) -> str:
    """The name of the density without the terms that these arguments allow to drop."""
    family = e.callee.family
    assert family is not None
    known = {name for (name, _), is_data in zip(family.args, are_data(w, e), strict=False) if is_data}
    drops = tuple(k for k, constant in enumerate(family.constants) if known.issuperset(constant[0]))
    name = e.callee.name.replace("_lp", "_lup") if "_lup" not in e.callee.name else e.callee.name
    return bound_name(w, e, mode, name, drops)


def variant(w: Writer, e: ir.CallUser) -> str:
    """The name of the function without the constants that go when these arguments are data."""
    key = e.name, are_data(w, e)
    return w.variants.setdefault(key, f"{e.name}{len(w.variants) + 1}")


def are_data(w: Writer, e: ir.Apply | ir.CallUser) -> tuple[bool, ...]:
    """Whether each argument of a density that drops constants is data in the function being written."""
    return tuple(when is not None and when <= w.data_arguments for when in e.data_if or ())


# --- Indexing ------------------------------------------------------------------------------------


def indexed(w: Writer, base: ir.Expr, inside: Callable[[str], str]) -> str:
    """`base[inside(name)]`: the base runs once, though the index may ask for its size."""
    text = operand(w, base)
    if text.isidentifier():
        return f"{text}[{inside(text)}]"
    name = w.temporary()
    within = inside(name)
    return f"({name} := {text})[{within}]" if name in within else f"{text}[{within}]"


def indexed_tuples(w: Writer, base: str, items: Sequence[ir.IndexItem]) -> str:
    """`base[items]` of an array of tuples."""
    name = base if base.isidentifier() else w.temporary()
    inside = index_text(loose_index, w, name, items)
    first = base if name == base or name not in inside else f"({name} := {base})"
    return f"lib.entries({first}, {inside})"


def index(w: Writer, base: str, items: Sequence[ir.IndexItem]) -> str:
    """The text between the brackets: zero-based, bounds checked.  Index items are zero-based already."""
    return where(w, base, items) if needs_cross_index(items) else index_text(index_item, w, base, items)


def where(w: Writer, base: str, items: Sequence[ir.IndexItem]) -> str:
    """The same as a value, for a call."""
    text = index_text(loose_index, w, base, items)
    if needs_cross_index(items):
        return f"lib.cross_index({base}, {text})"
    return f"({text})" if len(items) > 1 else text


def picked(w: Writer, name: str, step: ir.PathStep, following: ir.PathStep) -> str:
    """The part of a variable at one step of a path, before another."""
    if isinstance(following, int) and not isinstance(step, int):
        return indexed_tuples(w, name, step)
    return f"{name}[{step - 1}]" if isinstance(step, int) else f"{name}[{index(w, name, step)}]"


def index_item(w: Writer, base: str, axis: int, item: ir.IndexItem) -> str:
    """The text of one index, into this axis of what has the name."""
    match item:
        case ir.At(index=at):
            return expr(w, at)
        case ir.Between(lower=None, upper=None):
            return ":"
        case ir.Between(lower=lower, upper=upper):
            low = "1" if lower is None else expr(w, lower)
            size = f"lib.axis({base}, {axis})"
            return f"lib.span({low}, {size if upper is None else expr(w, upper)}, {size})"


def loose_index(w: Writer, base: str, axis: int, item: ir.IndexItem) -> str:
    """The same outside brackets, where a lone colon cannot stand."""
    text = index_item(w, base, axis, item)
    return "slice(None)" if text == ":" else text


def gather(w: Writer, e: ir.Gather) -> str:
    """NumPy's own index where it gives the axes in this order, else index arrays for all of them.

    With an axis of the draws `lib.pick` takes the entries; its adjoint is faster than that of an index.
    """
    at = entries_of(e.base.type, e.picks, e.items, axes_of(e.type))
    of_draws = at.whole[:1] == (ir.DRAW,)
    if at.is_direct and not of_draws:
        whole = ":, " * len(at.whole)
        return indexed(w, e.base, lambda name: whole + ", ".join(slots(w, name, at, index_item)))
    base, name = expr(w, e.base), w.temporary()
    if base.isidentifier():
        name = base
    text = where_entries(w, name, at, ",")
    first = f"({name} := {base})" if name != base and name in text else base
    return f"lib.pick({first}, {text})" if of_draws else f"{first}[{text}]"


def where_entries(w: Writer, name: str, at: Entries, end: str = "") -> str:
    """The index of entries as a value; with a comma at the `end` a tuple, of one slot too."""
    if not at.is_direct:
        return f"lib.index_of({name}, {cross_index(w, name, at, loose_index)})"
    each = [*["slice(None)"] * len(at.whole), *slots(w, name, at, loose_index)]
    return f"({', '.join(each)}{end})" if end or len(each) > 1 else each[0]


def slots(w: Writer, base: str, at: Entries, text: IndexText) -> list[str]:
    """The indices after the axes that are kept, aligned with one another by name."""
    picked = {axis for item in at.items for axis in axes_of_slot(item)}
    return [
        aligned(text(w, base, k, item), axes_of_slot(item), at.axes[: len(picked)])
        for k, item in enumerate(at.items, len(at.whole))
    ]


def index_text(text: IndexText, w: Writer, base: str, items: Sequence[ir.IndexItem]) -> str:
    return ", ".join(text(w, base, k, i) for k, i in enumerate(items))


def dtype(t: Type) -> str:
    """The name of what an array of this type holds."""
    return "int" if element_type(t) == INT else "complex" if is_complex(t) else "float"


# --- Literals ------------------------------------------------------------------------------------


def names_in(e: ir.MakeArray) -> tuple[str, ...]:
    """The variables that are its items; the empty string stands for any other item."""
    return tuple([i.name if isinstance(i, ir.Var) else "" for i in e.items])


def make_array(w: Writer, e: ir.MakeArray) -> str:
    if w.packs and (pack := w.packs.get(names_in(e))):
        return pack
    items = ", ".join(expr(w, i) for i in e.items)
    if is_tuple(e.type):
        return f"[{items}]"
    if axes := axes_of(e.type):
        return f"lib.stack({len(axes)}, {items})"
    if not e.items:
        return f"lib.empty({rank(e.type)}, {dtype(e.type)!r})"
    if core(e.type) == INT:
        return f"lib.int_array({items})"
    return f"lib.array({items})"
