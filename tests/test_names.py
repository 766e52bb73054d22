"""Names say what they are: no binding is `found`, `made` or `told`."""

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = sorted(file for folder in ("ppl", "cli") for file in (ROOT / folder).rglob("*.py"))
NOT_YET = ("density", "run")  # of ppl
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
    files = [file for file in FILES if file.relative_to(ROOT).parts[1] not in NOT_YET]
    assert len(files) > 600
    texts = {file.relative_to(ROOT): file.read_text("utf-8") for file in files}
    named = {file: text for file, text in texts.items() if re.search(rf"\b({'|'.join(NAMELESS)})\b", text)}
    assert [f"{file}:{line}" for file, text in named.items() for line in nameless(ast.parse(text))] == []


def test_bindings_of_any_kind_are_seen() -> None:
    text = "class A:\n    made: int\n\ndef f(found):\n    made = [told for told in ()]"
    assert nameless(ast.parse(text)) == [4, 5, 5]


def test_docstrings_name_their_subject() -> None:
    """They begin with what a function returns or does, as "The ...", not with a clause, as "What ..."."""
    files = [file for file in FILES if not {"density", "run", "moves"} & {*file.relative_to(ROOT).parts[1:3]}]
    assert [file.name for file in files if '"""What ' in file.read_text("utf-8")] == []


def test_a_class_name_has_at_most_two_meanings() -> None:
    names = Counter(
        name for file in FILES for name in re.findall(r"^class (\w+)", file.read_text("utf-8"), re.MULTILINE)
    )
    assert [name for name, count in names.items() if count > 2] == ["Program"]


def test_arrays_of_real_numbers_have_one_name_and_one_place() -> None:
    aliases = (re.findall(r"^(\w+) = NDArray\[np.float64\]$", f.read_text("utf-8"), re.M) for f in FILES)
    assert [name for names in aliases for name in names] == ["Floats"]
