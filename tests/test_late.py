"""Modules imported when they are needed have what is asked of them: no type checker sees into them."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ppl

ROOT = Path(ppl.__file__).parent
FILES = sorted(file for file in ROOT.rglob("*.py") if "LateModule(" in file.read_text("utf-8"))


def late_modules(tree):
    """The names that are bound to late modules, and the modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            many = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            for name, call in zip(target.elts, value.elts, strict=True) if many else [(target, value)]:
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "LateModule":
                    yield ast.unparse(name), ast.literal_eval(call.args[0])


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_late_modules_have_what_is_asked_of_them(file):
    tree = ast.parse(file.read_text("utf-8"))
    modules = dict(late_modules(tree))
    asked = {
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
    }
    assert [
        f"{modules[name]}.{member}"
        for name, member in sorted(asked)
        if not hasattr(import_module(modules[name]), member)
    ] == []


def test_a_module_of_a_package_that_an_extension_stands_for():
    """scipy.linalg.lapack looks for an extension that is absent."""
    code = (
        "from ppl.late import imported; imported('scipy.linalg._flapack'); "
        "print(imported('scipy.linalg').lapack.dposv is not None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr
