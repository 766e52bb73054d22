"""The kernel's names say what they are: no binding is called `found` or `made`."""

import ast
from pathlib import Path

KERNEL = Path(__file__).parents[2] / "ppl" / "kernel"
NAMELESS = ("found", "made")


def bound(node: ast.AST) -> str:
    """The name that a node binds."""
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""


def test_names_say_what_they_are() -> None:
    files = sorted(KERNEL.rglob("*.py"))
    assert len(files) > 100
    nameless = [
        f"{file.relative_to(KERNEL)}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if bound(node) in NAMELESS
    ]
    assert nameless == []
