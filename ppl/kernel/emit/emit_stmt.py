"""IR statements as Python text."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ppl.kernel.emit import emit_branches
from ppl.kernel.emit.emit_entries import axes_set, entries_of, own_axes_set
from ppl.kernel.emit.emit_expr import (
    aligned,
    condition,
    differs,
    expr,
    picked,
    tuple_of,
    where,
    where_entries,
)
from ppl.kernel.emit.text import Writer, python_name, tuple_text
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import assigned_names, names_after, used_names, walk_statements
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import (
    INT,
    Type,
    array_dims,
    array_of,
    axes_of,
    core,
    entry,
    is_complex,
    is_tuple,
    items_of,
    rank,
)

TRANSPOSE = OPERATORS["'"].name


def whole_body(w: Writer, body: Sequence[ir.Stmt]) -> None:
    """All statements of one function."""
    with w.having(changing=changed_in_place(body)):
        statements(w, body)


def statements(w: Writer, body: Sequence[ir.Stmt]) -> None:
    with w.knowing(()) as scope:
        for s in body:
            with w.at(s.span):
                statement(w, s)
            w.define(names_after((s,)), scope)


def statement(w: Writer, s: ir.Stmt) -> None:
    match s:
        case ir.Declare(name=name):
            w.line(f"{python_name(name)} = {unset(w, s.shape, core(s.type))}")
        case ir.Assign(name=name, value=value):
            shared = w.changing.isdisjoint({name, *used_names(value)})
            w.line(f"{python_name(name)} = {fitted(w, s, expr(w, value) if shared else owned(w, value))}")
        case ir.Update(name=name, path=path, value=value):
            in_tuple = any(isinstance(step, int) for step in path) or is_tuple(value.type)
            own = 0 if s.fits else rank(value.type)
            update(w, python_name(name), path, owned(w, value) if in_tuple else expr(w, value), own)
        case ir.Scatter():
            scatter(w, s)
        case ir.Increment(what=what, value=value):
            increment(w, what, value)
        case ir.CallVoid(call=call):
            w.line(expr(w, call))
        case ir.For(variable=variable, lower=lower, upper=upper, body=body):
            bounds = f"{expr(w, lower)}, {expr(w, upper)} + 1"
            with w.block(f"for {python_name(variable)} in range({bounds}):"), w.knowing({variable}):
                statements(w, body)
        case ir.Scan():
            scan(w, s)
        case ir.While(condition=test) if differs(w, test) and emit_branches.can_be_functions(w, s):
            emit_branches.loop(w, s, statements)
        case ir.While(condition=test, body=body):
            with w.block(f"while {condition(w, test)}:"):
                statements(w, body)
        case ir.If(condition=test) if differs(w, test) and emit_branches.can_be_functions(w, s):
            emit_branches.branch(w, s, statements)
        case ir.If():
            branches(w, s)
        case ir.Profile(name=name, body=body):
            with w.block(f"with lib.profile({name!r}):"):
                statements(w, body)
        case ir.Return(value=value):
            emit_branches.give_back(w, [] if value is None else [expr(w, value)])
        case ir.Jump(word=word):
            w.line(word)
        case ir.Message(what=what, args=args):
            texts = [repr(a.value) if isinstance(a, ir.Text) else expr(w, a) for a in args]
            w.line(f"lib.{what}({', '.join(texts)})")
        case ir.CheckDeclared():
            check_declared(w, s)


# --- Values --------------------------------------------------------------------------------------


def fitted(w: Writer, s: ir.Assign, text: str) -> str:
    """The value, once its size is known to be the variable's."""
    if is_tuple(s.value.type):
        checks = not s.declares and has_containers(s.value.type)
        return f"lib.same_sizes({python_name(s.name)}, {text})" if checks else text
    if rank(s.value.type) == 0:
        return text
    if s.shape:
        return f"lib.sized({text}, {', '.join(expr(w, size) for size in s.shape)})"
    return text if s.declares else f"lib.same_size({python_name(s.name)}, {text})"


def has_containers(t: Type) -> bool:
    """Whether something in a tuple has a size."""
    return is_tuple(t) and (array_dims(t) > 0 or any(rank(i) or has_containers(i) for i in items_of(t)))


def owned(w: Writer, value: ir.Expr) -> str:
    """An assignment copies: a later change of either name must not show in the other."""
    text = expr(w, value)
    of_tuples = is_tuple(value.type)
    aliases = (ir.Var, ir.Index, ir.Select, ir.Item, ir.CallUser, ir.Gather)
    if of_tuples or (rank(value.type) > 0 and (isinstance(value, aliases) or may_be_view(value))):
        return f"lib.own({text})"
    return text


def may_be_view(value: ir.Expr) -> bool:
    """Whether a call may give back its argument; the transpose of a vector does, though elementwise.

    What is spread over an axis (`spread`, `spread_ints`) is a new array.
    """
    if not isinstance(value, ir.Apply) or value.callee.reduce or value.callee.name.startswith("spread"):
        return False
    return value.callee.batch != "elementwise" or value.callee.name == TRANSPOSE


def unset(w: Writer, shape: ir.DeclaredSizes, t: Type) -> str:
    """The value of a variable before it is set: nan, or Stan's smallest int."""
    if isinstance(shape, ir.TupleShape):
        one = tuple_text(unset(w, item, core(k)) for item, k in zip(shape.items, items_of(t), strict=True))
        for size in reversed(shape.dims):
            one = f"[{one} for _ in range({expr(w, size)})]"
        return one
    word = "unset_int" if t == INT else "unset_complex" if is_complex(t) else "unset"
    return f"lib.{word}({', '.join(expr(w, size) for size in shape)})"


def increment(w: Writer, what: str, value: ir.Expr) -> None:
    draws = ir.DRAW in axes_of(value.type)
    if rank(value.type) > int(draws):
        w.line(f"{what}.append(lib.total({expr(w, value)}{', 1' if draws else ''}))")
    else:  # the terms are summed at the end: a variable of many draws may be changed in place before
        w.line(f"{what}.append({owned(w, value)})")


# --- Assignment to parts -------------------------------------------------------------------------


def update(w: Writer, name: str, path: Sequence[ir.PathStep], value: str, own: int) -> None:
    """`name[path] = value`: the parts on the way are taken out, changed, and put back.

    The sizes of so many axes of the value are compared with those of the part.
    """
    if len(path) == 1:
        w.line(f"{name} = {changed(w, name, path[0], value, own)}")
        return
    part = w.temporary()
    w.line(f"{part} = lib.own({picked(w, name, path[0], path[1])})")
    update(w, part, path[1:], value, own)
    w.line(f"{name} = {changed(w, name, path[0], part)}")


def changed(w: Writer, name: str, step: ir.PathStep, value: str, own: int = 0) -> str:
    if isinstance(step, int):
        return f"lib.put_item({name}, {step - 1}, {value})"
    return put(name, where(w, name, step), value, own)


def put(name: str, where: str, value: str, own: int) -> str:
    """An assignment to entries; the last axes of the value may have other sizes."""
    return f"lib.put_sized({name}, {where}, {value}, {own})" if own else f"lib.put({name}, {where}, {value})"


def scatter(w: Writer, s: ir.Scatter) -> None:
    """The value, aligned with the entries that it sets."""
    name, axes = python_name(s.name), axes_set(s)
    at = entries_of(s.type, s.picks, s.items, axes)
    missing = max(own_axes_set(s) - rank(entry(s.value.type)), 0)
    value = aligned(expr(w, s.value), axes_of(s.value.type), axes, missing)
    own = 0 if s.fits or missing else own_axes_set(s)
    w.line(f"{name} = {put(name, where_entries(w, name, at), value, own)}")


# --- Scans ---------------------------------------------------------------------------------------


def scan(w: Writer, s: ir.Scan) -> None:
    """Two functions, of one step and of all at once, and the call that runs them.

    They are given all that they read: what a name holds may be another value when derivatives are taken.
    """
    fixed = [*(v.name for v in s.fixed), *sorted(read_from_outside(s))]
    names = [python_name(n) for n in (*s.carried, *s.inputs, *fixed)]
    step, batch = w.temporary("step"), w.temporary("step") if s.batch_next else "None"
    functions = [(step, s.step, s.next)]
    if s.batch_next:
        functions.append((batch, s.batch, s.batch_next))
    for name, body, values in functions:
        with w.block(f"def {name}({', '.join(['lib', *names])}):"):
            for changed in sorted(changed_in_place(body) & {*s.carried, *s.inputs}):
                w.line(f"{python_name(changed)} = lib.own({python_name(changed)})")
            with w.knowing({*s.carried, *s.inputs}):
                whole_body(w, body)
            w.line(f"return {tuple_of(w, values)[1:-1]}")
    arguments = f"{tuple_of(w, s.start)}, {tuple_of(w, s.entries)}, {tuple_text(map(python_name, fixed))}"
    after = ", ".join(map(python_name, s.after))
    if s.outer:
        arguments += f", {len(s.outer)}, {tuple_text(str(len(axes_of(e.type)) - 1) for e in s.entries)}"
    w.line(f"{after}, = lib.scan({step}, {batch}, {arguments})")


def read_from_outside(s: ir.Scan) -> set[str]:
    """Variables that the steps read besides those that the scan names: passes may have added them."""
    own = {*s.carried, *s.inputs, *(v.name for v in s.fixed)}
    read = used_names((s.step, s.next)) - assigned_names(s.step)
    read |= used_names((s.batch, s.batch_next)) - assigned_names(s.batch)
    return read - own


def changed_in_place(body: Sequence[Any]) -> frozenset[str]:
    return frozenset(n.name for n in walk_statements(tuple(body)) if isinstance(n, ir.Update | ir.Scatter))


# --- Branches and checks -------------------------------------------------------------------------


def branches(w: Writer, s: ir.If) -> None:
    """`else if` becomes elif: Python nests no deeper than a hundred blocks."""
    with w.block(f"if {condition(w, s.condition)}:"):
        statements(w, s.then)
    otherwise = s.otherwise
    while len(otherwise) == 1 and isinstance(otherwise[0], ir.If) and not differs(w, otherwise[0].condition):
        inner = otherwise[0]
        with w.at(inner.span), w.block(f"elif {condition(w, inner.condition)}:"):
            statements(w, inner.then)
        otherwise = inner.otherwise
    if otherwise:
        with w.block("else:"):
            statements(w, otherwise)


def check_declared(w: Writer, s: ir.CheckDeclared) -> None:
    """The declared constraint of a transformed quantity, checked once it is computed."""
    for leaf, text in leaves(s.declared, python_name(s.name)):
        if leaf.allows_all:
            continue
        args = "".join(f", {expr(w, a)}" for a in leaf.arguments)
        check = "check_each" if axes_of(s.declared.type) else "check"
        w.line(f"lib.{check}({leaf.constraint!r}, {leaf.name!r}, {text}, {tuple_of(w, leaf.sizes)}{args})")


def leaves(d: ir.Declared, text: str, outer: tuple[ir.Expr, ...] = ()) -> list[tuple[ir.Declared, str]]:
    """The plain variables in a tuple, with the text that reads each.

    In an array of tuples each is an array over `outer`, the axes of the arrays it is in.
    """
    dims = (*outer, *d.dims)
    if not d.items:
        return [(replace(d, dims=dims, type=array_of(d.type, len(outer))), text)]
    below: list[tuple[ir.Declared, str]] = []
    for k, item in enumerate(d.items):
        below += leaves(item, f"lib.items({text}, {len(dims)}, {k})" if dims else f"{text}[{k}]", dims)
    return below
