"""Tuples, and arrays of tuples, as variables of their own, one for each item.

A tuple goes when it is set whole by a literal, or by another that goes, and read item by item; an array of
tuples goes when each of its entries is set and read so.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import Fresh, bottom_up, fresh_names, parts_of, rewrite, walk, walk_statements
from ppl.source import Span
from ppl.types import Tuple, Type, array_dims, array_of, is_tuple, items_of, rank

Parts = dict[str, tuple[ir.Var, ...]]


def tuple_parts(p: ir.Program) -> ir.Program:
    """A local tuple, or array of tuples, that is set and read by items becomes one variable per item."""
    inside = partial(in_parts, fresh=fresh_names("_item"))
    return p.with_bodies(inside, inside, data=True)


def in_parts(body: Sequence[ir.Stmt], fresh: Fresh, outputs: frozenset[str] = frozenset()) -> ir.Stmts:
    """The statements without the tuples that they declare, as far as those can go; outputs stay."""
    body = tuple(rewrite(s, item_of_literal) for s in body)
    types = {name: t for name, t in declared_tuples(body).items() if name not in outputs}
    whole = set(mentioned_whole(body, types))
    while more := {name for name in types.keys() - whole if any(n in whole for n in sources(body, name))}:
        whole |= more
    parts: Parts = {
        name: tuple(ir.Var(fresh(name), array_of(item, array_dims(t))) for item in items_of(t))
        for name, t in types.items()
        if name not in whole
    }
    if not parts:
        return body
    change = partial(statement, parts=parts, fresh=fresh)
    changed = tuple(rewrite(s, lambda n: item(n, parts)) for s in bottom_up(body, change))
    return in_parts(changed, fresh, outputs)


def item_of_literal(n: Any) -> Any:
    match n:
        case ir.Item(base=ir.MakeTuple(items=items), number=k):
            return items[k - 1]
        case _:
            return n


def item(n: Any, parts: Parts) -> Any:
    match n:
        case ir.Item(base=ir.Var(name=name), number=k) if name in parts:
            return parts[name][k - 1]
        case ir.Item(base=ir.Index(base=ir.Var(name=name), items=items), number=k) if name in parts:
            return ir.Index(parts[name][k - 1], items, n.type)
        case _:
            return n


def is_entry(items: Sequence[ir.IndexItem], t: Type) -> bool:
    """Whether indices are those of one entry of an array."""
    return len(items) == array_dims(t) and all(map(ir.drops_axis, items))


def declared_tuples(body: ir.Stmts) -> dict[str, Type]:
    """The tuples, and arrays of them, that are declared in the statements."""
    types: dict[str, set[Type]] = {}
    for n in walk_statements(body):
        match n:
            case ir.Declare(name=name):
                types.setdefault(name, set()).add(n.type)
            case ir.Assign(name=name, declares=True):
                types.setdefault(name, set()).add(n.value.type)
    return {name: t for name, (t, *others) in types.items() if is_tuple(t) and not others}


def mentioned_whole(node: Any, types: dict[str, Type]) -> list[str]:
    """Tuples that something other than an item, or an assignment to another, asks for or sets."""
    match node:
        case ir.Var(name=name):
            return [name] if name in types else []
        case ir.Item(base=ir.Var()):
            return []
        case ir.Item(base=ir.Index(base=ir.Var(name=name), items=items)) if name in types:
            return [*([] if is_entry(items, types[name]) else [name]), *mentioned_whole(items, types)]
        case ir.Assign(name=name, value=ir.Var(name=other)) if name in types:
            return [] if other in types else [name]
        case ir.Assign(name=name, value=value, shape=shape) if name in types:
            plain = isinstance(value, ir.MakeTuple) and not shape
            return [*([] if plain else [name]), *mentioned_whole(value, types)]
        case ir.Declare(name=name, shape=shape) if name in types:
            return [name] if shape_of_parts(types[name], shape) is None else []
        case ir.Update(name=name, path=((*items,), *_)) if name in types and not is_entry(items, types[name]):
            return [name]
    return [name for part in parts_of(node) for name in mentioned_whole(part, types)]


def sources(body: ir.Stmts, name: str) -> set[str]:
    """The tuples that one is set from, or sets."""
    pairs = [
        (n.name, n.value.name)
        for n in walk(body)
        if isinstance(n, ir.Assign) and isinstance(n.value, ir.Var) and is_tuple(n.value.type)
    ]
    return {b if a == name else a for a, b in pairs if name in (a, b)}


def shape_of_parts(t: Type, shape: ir.DeclaredSizes) -> tuple[ir.DeclaredSizes, ...] | None:
    """The shapes of the items, each with the array axes; None where those are not known."""
    if isinstance(shape, ir.TupleShape):
        return tuple(with_axes(shape.dims, item) for item in shape.items)
    items = items_of(t)
    sized = array_dims(t) or any(rank(i) or isinstance(i, Tuple) for i in items)
    return None if sized else ((),) * len(items)


def with_axes(dims: tuple[ir.Expr, ...], shape: ir.DeclaredSizes) -> ir.DeclaredSizes:
    """A shape with more array axes around it."""
    if isinstance(shape, ir.TupleShape):
        return replace(shape, dims=(*dims, *shape.dims))
    return (*dims, *shape)


def statement(s: Any, parts: Parts, fresh: Fresh) -> ir.Stmts:
    """Statements of a tuple, as statements of its parts; others as they are."""
    if getattr(s, "name", "") not in parts:
        return (s,)
    own = parts[s.name]
    values: tuple[ir.Expr, ...]
    match s:
        case ir.Declare(shape=shape):
            shapes = shape_of_parts(s.type, shape)
            assert shapes is not None
            return tuple(ir.Declare(v.name, v.type, x, s.span) for v, x in zip(own, shapes, strict=True))
        case ir.Assign(value=ir.MakeTuple(items=items)) if not s.declares:
            first, read = read_first(items, s.span, fresh)
            return (*first, *(ir.Assign(v.name, e, s.span) for v, e in zip(own, read, strict=True)))
        case ir.Assign(value=ir.MakeTuple(items=items)):
            values = items
        case ir.Assign(value=ir.Var(name=other)):
            values = parts[other]
        case ir.Update(path=(int() as k,)):
            return (ir.Assign(own[k - 1].name, s.value, s.span),)
        case ir.Update(path=(int() as k, *rest)):
            return (replace(s, name=own[k - 1].name, path=tuple(rest)),)
        case ir.Update(path=(tuple() as at, int() as k, tuple() as more, *rest)):
            return (replace(s, name=own[k - 1].name, path=((*at, *more), *rest)),)
        case ir.Update(path=(at, int() as k, *rest)):
            return (replace(s, name=own[k - 1].name, path=(at, *rest)),)
        case ir.Update(path=(at,), value=ir.MakeTuple(items=items)):
            first, read = read_first(items, s.span, fresh)
            return (*first, *(ir.Update(v.name, (at,), e, s.span) for v, e in zip(own, read, strict=True)))
        case ir.Update(path=(at,), value=value):
            (value_,), (whole,) = read_first((value,), s.span, fresh)
            numbered = enumerate(zip(own, items_of(value.type), strict=True), start=1)
            each = (ir.Update(v.name, (at,), ir.Item(whole, k, t), s.span) for k, (v, t) in numbered)
            return (value_, *each)
    return tuple(ir.Assign(v.name, e, s.span, s.declares) for v, e in zip(own, values, strict=True))


def read_first(
    values: Sequence[ir.Expr], span: Span, fresh: Fresh
) -> tuple[Sequence[ir.Stmt], Sequence[ir.Var]]:
    """Values that may read what they are to set, in variables of their own."""
    read = [ir.Var(fresh("item"), e.type) for e in values]
    return [ir.Assign(v.name, e, span, declares=True) for v, e in zip(read, values, strict=True)], read
