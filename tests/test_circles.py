"""No module needs itself: imports form no circle, also those in functions and those for types."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def module_name(path):
    """`ppl.cli.main` of cli/main.py, a package by its own name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    named = ("ppl", *parts) if parts[0] == "cli" else parts
    return ".".join(part for part in named if part != "__init__")


def imported(tree):
    """Modules, or names of modules, that a module names: in imports of any depth and in `LateModule`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Call(func=ast.Name(id="LateModule"), args=[ast.Constant(value=module)]):
                yield module


def edges(sources):
    """Of each module, the others that it needs; `sources` are texts by name of the module."""

    def module_of(name):
        return name if name in sources else name.rpartition(".")[0]

    return {
        name: {m for m in map(module_of, imported(ast.parse(text))) if m in sources} - {name}
        for name, text in sources.items()
    }


def test_no_module_needs_itself():
    paths = [path for folder in ("ppl", "cli") for path in (ROOT / folder).rglob("*.py")]
    TopologicalSorter(edges({module_name(path): path.read_text("utf-8") for path in paths})).prepare()


def test_a_circle_of_imports_in_a_function_and_for_types_is_seen():
    sources = {
        "ppl.a": "def f():\n    from ppl import b",
        "ppl.b": "if TYPE_CHECKING:\n    from ppl.c import C",
        "ppl.c": 'late = LateModule("ppl.a")',
    }
    with pytest.raises(CycleError):
        TopologicalSorter(edges(sources)).prepare()
