"""Every node below a node, in the order of the text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, get_args

from ppl.frontend import ast

PARTS = MappingProxyType(
    {
        kind: tuple(f.name for f in reversed(fields(kind)) if f.name not in ("span", "name", "name_span"))
        for kind in vars(ast).values()
        if isinstance(kind, type) and issubclass(kind, ast.Node)
    }
)
"""The fields of each kind of node that may hold nodes, the last one first."""

STATEMENTS = frozenset(get_args(ast.Statement))
NESTING = frozenset(
    {ast.Program, ast.FunctionDef, ast.For, ast.ForEach, ast.While, ast.If, ast.Block, ast.Profile}
)
"""The nodes that hold statements."""


def walk(root: ast.Node | Iterable[ast.Node]) -> Iterator[ast.Node]:
    """The node, or each of several, and all that they are made of."""
    stack: list[Any] = [root] if isinstance(root, ast.Node) else list(root)[::-1]
    while stack:
        item = stack.pop()
        parts = PARTS.get(type(item))
        if parts is not None:
            yield item
            for name in parts:
                stack.append(getattr(item, name))
        elif isinstance(item, tuple | list):
            stack.extend(reversed(item))


def statements(root: ast.Node | Iterable[ast.Node]) -> Iterator[ast.Statement]:
    """Every statement and declaration, those of functions and inside other statements too."""
    stack: list[Any] = [root] if isinstance(root, ast.Node) else list(root)[::-1]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind in STATEMENTS:
            yield item
        if kind in NESTING:
            for name in PARTS[kind]:
                stack.append(getattr(item, name))
        elif isinstance(item, tuple | list):
            stack.extend(reversed(item))


def variables(root: ast.Node | Iterable[ast.Node]) -> Iterator[ast.Variable]:
    return (node for node in walk(root) if isinstance(node, ast.Variable))


def parts(e: ast.Expr) -> Sequence[ast.Expr]:
    """The expressions directly inside one, less its indices."""
    match e:
        case ast.Call(args=items) | ast.ArrayLiteral(items=items) | ast.RowVectorLiteral(items=items):
            return items
        case ast.TupleLiteral(items=items):
            return items
        case ast.Binary(left=left, right=right):
            return (left, right)
        case ast.Unary(operand=operand) | ast.Transpose(operand=operand):
            return (operand,)
        case ast.Ternary(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case ast.Indexed(base=base) | ast.Projection(base=base):
            return (base,)
        case _:
            return ()
