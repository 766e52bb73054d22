"""Lines of code by folder, without blank lines, comments and docstrings.

    python tests/lines.py              # of the commit that is checked out
    python tests/lines.py A..B         # of B, and what changed since A

The core is what a reader needs to follow a program to its draws; satellites stand around it.
"""

import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter

SATELLITES = ("ppl/cmdstan", "ppl/testing", "cli/lsp", "cli/vscode", "cli/site", "models", "tests")


def code_lines(text: str) -> int:
    """How many lines hold code."""
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return len({n for n, line in lines if line and line[0] != "#"} - docstring_lines(ast.parse(text)))


def docstring_lines(tree: ast.Module) -> set[int]:
    """Lines of strings that stand alone: docstrings, and those below a field."""
    alone = (node for node in ast.walk(tree) if isinstance(node, ast.Expr))
    strings = (e for e in alone if isinstance(e.value, ast.Constant) and isinstance(e.value.value, str))
    return {n for e in strings for n in range(e.lineno, (e.end_lineno or e.lineno) + 1)}


def room(path: str) -> str:
    """The satellite of a file, or its first two folders."""
    own = next((s for s in SATELLITES if path.startswith(f"{s}/")), None)
    return own or "/".join(path.split("/")[:-1][:2])


def lines_by_room(commit: str) -> Counter[str]:
    """Lines of code of every room at a commit."""
    found: Counter[str] = Counter()
    archive = subprocess.run(["git", "archive", commit], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            if member.name.endswith(".py") and (file := files.extractfile(member)):
                found[room(member.name)] += code_lines(file.read().decode())
    return found


def table(found: Counter[str]) -> dict[str, int]:
    """The rooms by name, then sums of them."""
    core = sum(n for name, n in found.items() if name not in SATELLITES)
    package = found.total() - found["tests"]
    return {**dict(sorted(found.items())), "core": core, "all but tests": package, "all": found.total()}


def main(words: list[str]) -> None:
    before, _, now = words[0].rpartition("..") if words else ("", "", "HEAD")
    then = table(lines_by_room(before)) if before else {}
    for name, n in table(lines_by_room(now)).items():
        print(f"{name:16} {n:7,}" + (f" {n - then.get(name, 0):+7,}" if before else ""))


if __name__ == "__main__":
    main(sys.argv[1:])
