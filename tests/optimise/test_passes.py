"""Every pass leaves the meaning of every program alone: the conformance programs and the model library."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance.pack import Case, programs
from laws.passes import assert_law, posterior

from ppl.stages import show_stage

MODELS = sorted((Path(__file__).parents[2] / "models").glob("*/*.model"))


FEW = 24
PARAMETERS_OF_ROWS = (
    "bivariate_probit_latent",
    "gp_logistic_matern",
    "local_level_missing",
    "measurement_error",
    "poisson_offset_overdispersed",
    "ppca_ard",
    "stochastic_volatility",
    "supervised_ppca_ard",
)
"""Programs whose points have entries for every row, or whose rows other sizes count: they keep all rows."""


def few_rows(data: dict[str, Any]) -> dict[str, Any]:
    """The data with the first rows only: without passes, the loops over all take minutes."""
    many = {size for size in ("N", "T", "I") if isinstance(data.get(size), int) and data[size] > FEW}
    lengths = {data[size] for size in many}
    cut = {name: x[:FEW] for name, x in data.items() if isinstance(x, list) and len(x) in lengths}
    return {**data, **dict.fromkeys(many, FEW), **cut}


def library_model(file: Path) -> Case:
    """A model with some of its data, its discrete parameters summed out."""
    data = few_rows(json.loads(file.with_suffix(".data.json").read_text()))
    return Case(f"models/{file.stem}", show_stage(file, "program", data=data), data, ())


@pytest.mark.rotate
@pytest.mark.parametrize("case", programs(), ids=lambda case: case.id)
def test_passes_change_nothing(case: Case) -> None:
    hold(case if case.id in PARAMETERS_OF_ROWS else replace(case, data=few_rows(case.data)))


@pytest.mark.rotate
@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.stem)
def test_passes_change_nothing_of_a_model(file: Path) -> None:
    hold(library_model(file))


def hold(case: Case) -> None:
    """Hold a program to the law, at the points it has."""
    dim = posterior(case.program, case.data).param_unc_num()
    points = [p["u"] for p in case.points[:2]] or [np.random.default_rng(1).uniform(-0.5, 0.5, dim)]
    assert_law(case.program, case.data, *map(np.array, points))
