"""Every signature of Stan 2.37 that the language has resolves to Stan's return type.

The list of signatures is not part of the project: the test reads language/functions.csv in the folder that
the environment variable PPL_SHARED names, or in ../shared, and is skipped where there is none.
"""

import csv
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppl.stdlib import signatures
from ppl.stdlib.library import standard

SHARED = Path(os.environ.get("PPL_SHARED", Path(__file__).parents[3] / "shared"))
LISTING = SHARED / "language" / "functions.csv"

pytestmark = pytest.mark.skipif(not LISTING.exists(), reason="Stan's list of signatures is not here")

SOLVERS = ("algebra_solver", "integrate_1d", "integrate_ode")
"""Beginnings of the names of solvers, which the language refuses."""

TAKES_A_FUNCTION = ("map_rect",)
"""Names that the checker knows by themselves, because a signature cannot say what they take."""


def rows() -> Iterator[tuple[str, str, str]]:
    """(name, argument types, return type), without solvers and variadic functions."""
    with LISTING.open(newline="") as file:
        for row in csv.DictReader(file):
            name, arguments, returns = row["name"], row["arg_types"], row["return_type"]
            if (
                "<" not in arguments + returns
                and not name.startswith(SOLVERS)
                and name not in TAKES_A_FUNCTION
            ):
                yield name, arguments, returns


def read(text: str) -> signatures.Type:
    return signatures.as_type(signatures.parse_pattern(text.removeprefix("data ").strip()))


def resolve(name: str, arguments: str) -> str:
    """The return type by our records, or why there is none."""
    callee = standard().callees.get(name)
    if callee is None:
        return "no such name"
    match = signatures.choose(callee, [read(part) for part in signatures.split_commas(arguments)])
    return str(match.returns) if match else "no such overload"


def test_every_signature_resolves():
    wrong: dict[str, list[str]] = {}
    for name, arguments, returns in rows():
        found = resolve(name, arguments)
        if found != returns:
            wrong.setdefault(name, []).append(f"({arguments}) => {returns}, here {found}")
    assert not wrong, "\n".join(f"{name}: {len(bad)}, first {bad[0]}" for name, bad in wrong.items())
