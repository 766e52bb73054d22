"""Every node below a node, in the order of the text."""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from ppl.frontend import ast


def walk(root: ast.Node | Iterable[ast.Node]) -> Iterator[ast.Node]:
    """The node, or each of several, and all that they are made of."""
    stack: list[Any] = [root] if isinstance(root, ast.Node) else list(root)[::-1]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Node):
            yield item
            stack.extend(getattr(item, f.name) for f in reversed(fields(item)))
        elif isinstance(item, tuple | list):
            stack.extend(reversed(item))


def variables(root: ast.Node | Iterable[ast.Node]) -> Iterator[ast.Variable]:
    return (node for node in walk(root) if isinstance(node, ast.Variable))
