"""Every model of the library: its dimension, its gradient, and fits that land on long NUTS runs."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import ppl

MODELS = Path(__file__).parents[2] / "models"
NAMES = sorted(file.stem for file in MODELS.glob("*/*.model"))


@cache
def posterior(name: str) -> ppl.Posterior:
    file = MODELS / name / f"{name}.model"
    return ppl.compile_model(file).condition(file.with_suffix(".data.json"))


def dimension_in_readme(name: str) -> int:
    row = re.search(rf"^\| \[{name}\]\(.*$", (MODELS / "README.md").read_text(), re.MULTILINE)
    assert row is not None
    return int(row[0].split("|")[4])


@pytest.mark.parametrize("name", NAMES)
def test_dimension_is_the_readmes(name: str) -> None:
    assert posterior(name).param_unc_num() == dimension_in_readme(name)


@pytest.mark.rotate
@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_the_central_difference(name: str) -> None:
    p, rng, step = posterior(name), np.random.default_rng(4), 1e-5
    for _ in range(2):
        u = rng.uniform(-0.5, 0.5, p.param_unc_num())
        value, gradient = p.log_density_gradient(u)
        assert np.isfinite(value)
        moves = step * np.eye(len(u))
        difference = [(p.log_density(u + m) - p.log_density(u - m)) / (2 * step) for m in moves]
        np.testing.assert_allclose(gradient, difference, rtol=1e-5, atol=1e-7 * np.abs(value))


@pytest.mark.parametrize("name", NAMES)
def test_values_and_their_names_agree_in_number(name: str) -> None:
    p = posterior(name)
    u = np.zeros(p.param_unc_num())
    values = p.param_constrain(u, include_tp=True, include_gq=True, rng=np.random.default_rng(5))
    assert len(values) == len(p.param_names(include_tp=True, include_gq=True))
    parameters = p.values(u, None, include_tp=False, include_gq=False)
    np.testing.assert_allclose(p.param_unconstrain(parameters), u, atol=1e-12)


FITS = [
    *(("eight_schools", "meanfield", seed, 0.35) for seed in range(1, 6)),
    ("weibull_poisson", "meanfield", 1, 0.2),
    ("linear_regression_ard", "meanfield", 1, 0.25),
    ("logistic_regression", "meanfield", 1, 0.2),
    ("logistic_regression", "fullrank", 1, 0.15),
    ("gp_regression", "fullrank", 1, 0.2),
    ("influenza_sir", "fullrank", 1, 0.2),
]


@pytest.mark.rotate
@pytest.mark.parametrize(("name", "algorithm", "seed", "tolerance"), FITS)
def test_posterior_means_land_on_the_reference(name, algorithm, seed, tolerance) -> None:
    """Every mean within so many posterior standard deviations of NUTS's."""
    fit = posterior(name).variational(algorithm=algorithm, seed=seed)
    reference = json.loads((MODELS / name / f"{name}.reference.json").read_text())
    means = dict(zip(fit.column_names, fit.draws().mean(axis=0), strict=True))
    off = {k: (means[k] - mean) / reference["sd"][k] for k, mean in reference["mean"].items()}
    assert max(map(abs, off.values())) < tolerance, off
