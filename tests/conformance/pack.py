"""The cases of the conformance pack, and what it means for a posterior to agree with Stan at a point."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ppl.posterior import Posterior
from ppl.records import dataclass, field

HERE = Path(__file__).parent
DENSITY, GRADIENT, VALUES = (1e-8, 1e-8), (1e-6, 1e-7), (1e-8, 1e-8)
"""Tolerances, relative and absolute."""


@dataclass(frozen=True)
class Case:
    """A program with data and Stan's numbers at some points of the unconstrained space.

    `names` are the flat names of the constrained values where the points list them without; `tolerance`
    replaces the default where Stan itself is not accurate.
    """

    id: str
    program: str
    data: Mapping[str, Any]
    points: Sequence[Mapping[str, Any]]
    names: Sequence[str] = ()
    tolerance: Mapping[str, float] = field(default_factory=dict)


def cases(group: str) -> list[Case]:
    """A file of cases/, one case a line."""
    lines = (HERE / "cases" / f"{group}.jsonl").read_text().splitlines()
    return [
        Case(c["id"], c["program"], c["data"], c["points"], tolerance=c.get("tol", {}))
        for c in map(json.loads, lines)
    ]


def programs() -> list[Case]:
    """The whole programs, each with its data and golden numbers."""
    return [program(file) for file in sorted((HERE / "programs").glob("*.stan"))]


def program(file: Path) -> Case:
    golden = json.loads(file.with_suffix(".golden.json").read_text())
    data = json.loads(file.with_suffix(".data.json").read_text())
    names, tolerance = golden["param_names"], golden.get("tol", {})
    return Case(file.stem, file.read_text(), data, golden["points"], names, tolerance)


def manifest(folder: str) -> list[dict[str, str]]:
    """The rows of a folder's manifest.csv."""
    with (HERE / folder / "manifest.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def assert_close(got: Any, want: Any, tolerance: tuple[float, float], what: str = "") -> None:
    """|got - want| <= absolute + relative |want|, entry by entry; nan and infinities must be the same."""
    relative, absolute = tolerance
    np.testing.assert_allclose(got, np.asarray(want, dtype=float), relative, absolute, err_msg=what)


def assert_agrees(posterior: Posterior, point: Mapping[str, Any], case: Case) -> None:
    """Density, gradient and values of one point as Stan has them; a point may leave some of them out."""
    u = np.array(point["u"], dtype=float)
    density = (case.tolerance.get("lp", DENSITY[0]), case.tolerance.get("lp", DENSITY[1]))
    slope = case.tolerance.get("grad")
    assert posterior.param_unc_num() == len(u)
    assert_close(posterior.log_density(u), point["lp"], density, "log density")
    if "grad" in point:
        value, gradient = posterior.log_density_gradient(u)
        assert_close(value, point["lp"], density, "log density, with its gradient")
        assert_close(gradient, point["grad"], (slope or GRADIENT[0], slope or GRADIENT[1]), "gradient")
    if "lp_nojac" in point:
        without = posterior.log_density(u, jacobian=False)
        assert_close(without, point["lp_nojac"], density, "log density without Jacobian")
    if "constrained" in point:
        assert_values_agree(posterior, u, point["constrained"], case.names)


def assert_values_agree(posterior: Posterior, u: np.ndarray, want: Any, names: Sequence[str]) -> None:
    """Parameters and transformed parameters, by name and in Stan's order."""
    if isinstance(want, dict):
        names, want = list(want), list(want.values())
    assert posterior.param_names(include_tp=True) == list(names)
    assert_close(posterior.param_constrain(u, include_tp=True), want, VALUES, "constrained values")
