"""Names say what they are: in the kernel, methods and passes no binding is `found`, `made` or `told`."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2] / "ppl"
FOLDERS = ("kernel", "methods", "optimise")
NAMELESS = ("found", "made", "told")


def bound(node: ast.AST) -> str:
    """The name that a node binds."""
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""


def nameless(tree: ast.AST) -> list[int]:
    """The lines of bindings that do not say what they are; fields of records stand with their record."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    fields = {id(s.target) for node in classes for s in node.body if isinstance(s, ast.AnnAssign)}
    return [
        getattr(node, "lineno", 0)
        for node in ast.walk(tree)
        if bound(node) in NAMELESS and id(node) not in fields
    ]


def test_names_say_what_they_are() -> None:
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 200
    assert [
        f"{file.relative_to(ROOT)}:{line}"
        for file in files
        for line in nameless(ast.parse(file.read_text("utf-8")))
    ] == []


def test_bindings_of_any_kind_are_seen() -> None:
    text = "class A:\n    made: int\n\ndef f(found):\n    made = [told for told in ()]"
    assert nameless(ast.parse(text)) == [4, 5, 5]
