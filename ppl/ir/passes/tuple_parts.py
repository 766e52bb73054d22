"""Tuples of a loop's body as variables of their own, one for each item.

A tuple goes when it is set whole by a literal, or by another that goes, and read item by item.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ppl.ir import nodes as ir
from ppl.ir.walk import PART_NAMES, is_node, rewrite, walk, with_blocks
from ppl.types import Tuple, Type, rank

Stmts = tuple[ir.Stmt, ...]
Parts = dict[str, tuple[ir.Var, ...]]


def in_parts(body: Sequence[ir.Stmt], fresh: Callable[[str], str]) -> Stmts:
    """The statements without the tuples that they declare, as far as those can go."""
    body = tuple(rewrite(s, item_of_literal) for s in body)
    types = declared_tuples(body)
    stays = set(mentioned_whole(body, types))
    while more := {name for name in types.keys() - stays if any(n in stays for n in sources(body, name))}:
        stays |= more
    parts: Parts = {
        name: tuple(ir.Var(fresh(name), item) for item in t.items)
        for name, t in types.items()
        if name not in stays
    }
    if not parts:
        return body
    changed = tuple(rewrite(s, lambda n: item(n, parts)) for s in statements(body, parts, fresh))
    return in_parts(changed, fresh)


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
        case _:
            return n


def declared_tuples(body: Stmts) -> dict[str, Tuple]:
    """The tuples that are declared in the statements."""
    found: dict[str, set[Type]] = {}
    for n in walk(body):
        match n:
            case ir.Declare(name=name):
                found.setdefault(name, set()).add(n.type)
            case ir.Assign(name=name, declares=True):
                found.setdefault(name, set()).add(n.value.type)
    return {name: t for name, (t, *others) in found.items() if isinstance(t, Tuple) and not others}


def mentioned_whole(node: Any, types: dict[str, Tuple]) -> list[str]:
    """Tuples that something other than an item, or an assignment to another, asks for or sets."""
    match node:
        case ir.Var(name=name):
            return [name] if name in types else []
        case ir.Item(base=ir.Var()):
            return []
        case ir.Assign(name=name, value=ir.Var(name=other)) if name in types:
            return [] if other in types else [name]
        case ir.Assign(name=name, value=value, shape=shape) if name in types:
            plain = isinstance(value, ir.MakeTuple) and not shape
            return [*([] if plain else [name]), *mentioned_whole(value, types)]
        case ir.Declare(name=name, shape=shape) if name in types:
            return [name] if shape_of_parts(types[name], shape) is None else []
        case ir.Update(name=name, path=path) if name in types and not isinstance(path[0], int):
            return [name]
    parts = node if isinstance(node, tuple) else ()
    if is_node(node):
        parts = tuple(getattr(node, name) for name in PART_NAMES[type(node)])
    return [name for part in parts for name in mentioned_whole(part, types)]


def sources(body: Stmts, name: str) -> set[str]:
    """The tuples that one is set from, or sets."""
    pairs = [
        (n.name, n.value.name)
        for n in walk(body)
        if isinstance(n, ir.Assign) and isinstance(n.value, ir.Var) and isinstance(n.value.type, Tuple)
    ]
    return {b if a == name else a for a, b in pairs if name in (a, b)}


def shape_of_parts(t: Tuple, shape: ir.Shape) -> tuple[ir.Shape, ...] | None:
    """The shapes of the items; None where those are not known."""
    if isinstance(shape, ir.TupleShape):
        return None if shape.dims else shape.items
    return None if any(rank(i) or isinstance(i, Tuple) for i in t.items) else ((),) * len(t.items)


def statements(body: Sequence[ir.Stmt], parts: Parts, fresh: Callable[[str], str]) -> Stmts:
    out: list[ir.Stmt] = []
    for s in body:
        s = with_blocks(s, lambda inner: statements(inner, parts, fresh))
        out += statement(s, parts, fresh) if getattr(s, "name", "") in parts else (s,)
    return tuple(out)


def statement(s: Any, parts: Parts, fresh: Callable[[str], str]) -> Stmts:
    """What is done to a tuple, to its parts."""
    own = parts[s.name]
    values: tuple[ir.Expr, ...]
    match s:
        case ir.Declare(type=Tuple() as t, shape=shape):
            shapes = shape_of_parts(t, shape)
            assert shapes is not None
            return tuple(ir.Declare(v.name, v.type, x, s.span) for v, x in zip(own, shapes, strict=True))
        case ir.Assign(value=ir.MakeTuple(items=items)) if not s.declares:  # items may read the tuple
            read = [ir.Var(fresh("item"), v.type) for v in own]
            first = [ir.Assign(v.name, e, s.span, declares=True) for v, e in zip(read, items, strict=True)]
            return (*first, *(ir.Assign(v.name, e, s.span) for v, e in zip(own, read, strict=True)))
        case ir.Assign(value=ir.MakeTuple(items=items)):
            values = items
        case ir.Assign(value=ir.Var(name=other)):
            values = parts[other]
        case ir.Update(path=(int() as k,)):
            return (ir.Assign(own[k - 1].name, s.value, s.span),)
        case _:
            return (replace(s, name=own[s.path[0] - 1].name, path=s.path[1:]),)
    return tuple(ir.Assign(v.name, e, s.span, s.declares) for v, e in zip(own, values, strict=True))
