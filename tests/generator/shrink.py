"""A smaller program with the same fault.

The tree is made smaller wherever that leaves a program: statements are dropped or give way to what they
enclose, expressions to what they are made of or to a number.  What the checker refuses is no candidate.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ppl.errors import PPLError
from ppl.kernel.language import ast
from ppl.kernel.language.check import check
from ppl.kernel.language.parser import parse
from ppl.kernel.language.printer import print_program
from ppl.source import SourceText

Fails = Callable[[str, Mapping[str, Any]], bool]
MOST = 3000
"""Candidates that are tried."""

EXPRESSIONS = (
    *(
        ast.IntLiteral,
        ast.RealLiteral,
        ast.Variable,
        ast.Call,
        ast.Binary,
        ast.Unary,
        ast.Transpose,
        ast.Ternary,
    ),
    *(ast.Indexed, ast.Projection, ast.ArrayLiteral, ast.RowVectorLiteral, ast.TupleLiteral),
)
BODIES = (ast.For, ast.ForEach, ast.While, ast.If, ast.Block, ast.Profile)


def shrunk(text: str, data: Mapping[str, Any], fails: Fails, most: int = MOST) -> tuple[str, dict[str, Any]]:
    """The smallest program found for which `fails(text, data)`, with the data that it declares."""
    left, known = most, dict(data)
    going = True
    while going and left > 0:
        going = False
        for candidate in candidates(parse(SourceText(text))):
            left -= 1
            if left <= 0:
                break
            made = accepted(candidate, text, known, fails)
            if made is not None:
                (text, known), going = made, True
                break
    return text, known


def accepted(
    tree: ast.Program, text: str, data: Mapping[str, Any], fails: Fails
) -> tuple[str, dict[str, Any]] | None:
    try:
        smaller = print_program(tree)
        if len(smaller) >= len(text) and smaller.count("\n") >= text.count("\n"):
            return None
        again = parse(SourceText(smaller))
        check(again)
        known = {d.name: data[d.name] for d in again.data}
        return (smaller, known) if fails(smaller, known) else None
    except PPLError:
        return None


def candidates(tree: ast.Program) -> Iterator[ast.Program]:
    """Programs with one thing less, the largest things first."""
    yield from sorted(edits(tree), key=weight)


def weight(tree: Any) -> int:
    """How many nodes there are."""
    if isinstance(tree, tuple):
        return sum(map(weight, tree))
    if is_dataclass(tree) and isinstance(tree, ast.Node):
        return 1 + sum(weight(getattr(tree, f.name)) for f in fields(tree) if f.name != "span")
    return 0


def edits(node: Any) -> Iterator[Any]:
    """Every way to take one thing away from a node or from what it holds."""
    yield from locally(node)
    for f in fields(node):
        held = getattr(node, f.name)
        if isinstance(held, ast.Node):
            for made in edits(held):
                yield replace(node, **{f.name: made})
        elif isinstance(held, tuple):
            for made in of_tuple(node, f.name, held):
                yield replace(node, **{f.name: made})


def of_tuple(node: Any, name: str, held: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    droppable = isinstance(node, ast.Program | ast.Block | ast.Profile) or name in ("items", "args")
    for k, item in enumerate(held):
        if droppable:
            yield (*held[:k], *held[k + 1 :])
        if isinstance(item, BODIES):
            yield (*held[:k], *inside(item), *held[k + 1 :])
        if isinstance(item, ast.Node):
            for made in edits(item):
                yield (*held[:k], made, *held[k + 1 :])


def inside(s: Any) -> tuple[Any, ...]:
    """The statements that a statement encloses."""
    match s:
        case ast.Block(statements=body) | ast.Profile(statements=body):
            return body
        case ast.If(then=then, otherwise=otherwise):
            return (*flat(then), *(flat(otherwise) if otherwise is not None else ()))
        case _:
            return flat(s.body)


def flat(s: Any) -> tuple[Any, ...]:
    return s.statements if isinstance(s, ast.Block) else (s,)


def locally(node: Any) -> Iterator[Any]:
    """What may stand in the node's place."""
    match node:
        case ast.If(otherwise=other) if other is not None:
            yield replace(node, otherwise=None)
        case ast.Declaration(value=value) if value is not None:
            yield replace(node, value=None)
        case ast.Tilde(truncation=cut) if cut is not None:
            yield replace(node, truncation=None)
        case ast.SizedType(bounds=bounds) if bounds is not None:
            yield replace(node, bounds=None)
            for keyword in ("vector", "matrix"):
                if keyword != node.keyword and node.keyword not in (
                    "int",
                    "real",
                    "vector",
                    "row_vector",
                    "matrix",
                ):
                    yield replace(node, keyword=keyword)
        case ast.SizedType(keyword=keyword) if keyword not in (
            "int",
            "real",
            "vector",
            "row_vector",
            "matrix",
        ):
            yield replace(node, keyword="vector")
            yield replace(node, keyword="matrix", sizes=(node.sizes * 2)[:2])
        case ast.Block(statements=(only,)) if not isinstance(only, ast.Declaration):
            yield only
    if isinstance(node, EXPRESSIONS):
        yield from parts(node)
        if not isinstance(node, ast.IntLiteral | ast.RealLiteral):
            yield ast.IntLiteral(node.span, 1)
            yield ast.RealLiteral(node.span, "0.5")


def parts(node: Any) -> Iterator[Any]:
    for f in fields(node):
        held = getattr(node, f.name)
        for item in held if isinstance(held, tuple) else (held,):
            if isinstance(item, EXPRESSIONS):
                yield item
