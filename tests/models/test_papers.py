"""The papers' experiments: the page is what the results say, and each runs at its small size."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import poisson

from ppl import compile_model

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
PAPERS = MODELS / "papers"
SHARED = Path(os.environ.get("PPL_SHARED", ROOT.parent / "shared"))
DATA = Path(os.environ.get("PPL_DATA", SHARED / "data"))


def run(*words):
    """Standard output of run.py, which must end well."""
    line = [sys.executable, str(PAPERS / "run.py"), *map(str, words)]
    found = subprocess.run(
        line, capture_output=True, text=True, env={**os.environ, "PPL_DATA": str(DATA)}, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


NAMES = sorted(path.stem for path in PAPERS.glob("results/*.json"))
"""Those of the experiments."""


@pytest.mark.rotate
def test_the_page_is_what_the_results_say():
    run("--readme", "--check")
    assert sorted(line.split()[0] for line in run("--list").splitlines()) == NAMES


def test_every_result_is_a_full_run_and_its_picture_is_there():
    page = (PAPERS / "README.md").read_text("utf-8")
    for path in PAPERS.glob("results/*.json"):
        record = json.loads(path.read_text("utf-8"))
        assert record["size"] == "full"
        assert f"### {record['name']}\n" in page
        if record["picture"]:
            assert (PAPERS / "results" / record["picture"]).exists()


@pytest.mark.rotate
@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_runs_at_its_small_size_or_says_what_it_lacks(name, tmp_path):
    out = run(name, "--quick", "--out", tmp_path)
    assert "nan" not in re.findall(r"\w+", out)
    skipped = re.match(rf"{name} is skipped: .* not found", out)
    assert skipped or json.loads((tmp_path / f"{name}.json").read_text("utf-8"))["size"] == "quick"


def test_an_experiment_without_its_data_is_skipped_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(PAPERS))
    from frame.experiments import Experiment

    needy = Experiment("advi", "none", "None", "Figure 0", ("taxi/trips.csv",))
    assert needy.missing(tmp_path) == needy.missing(None) == ["taxi/trips.csv"]
    (tmp_path / "taxi").mkdir()
    (tmp_path / "taxi/trips.csv").touch()
    assert needy.missing(tmp_path) == []


def log_density(program, data, values):
    posterior = compile_model(program).condition(data)
    return posterior.log_density(posterior.param_unconstrain(values), jacobian=False)


def test_the_mixture_by_products_is_the_mixture_of_appendix_f5():
    rng = np.random.default_rng(0)
    data = {"N": 7, "D": 4, "K": 3, "y": rng.standard_normal((7, 4)), "alpha0": 1000}
    values = {
        "theta": rng.dirichlet(np.ones(3)),
        "mu": rng.standard_normal((3, 4)),
        "sigma": rng.gamma(5.0, size=(3, 4)),
    }
    products = log_density(PAPERS / "advi/mixture_by_products.model", data, values)
    plain = log_density(MODELS / "gaussian_mixture/gaussian_mixture.model", data, values)
    assert products == pytest.approx(plain, rel=1e-10)


@pytest.mark.parametrize(
    ("name", "hyper"),
    [
        ("gamma_poisson", {"a0": 1, "b0": 1, "c0": 1, "d0": 1}),
        ("dirichlet_exponential", {"alpha0": 1000, "lambda0": 0.1}),
    ],
)
def test_a_factorisation_of_what_is_seen_is_the_factorisation_less_what_is_not(name, hyper):
    rng = np.random.default_rng(0)
    y, sizes = rng.poisson(4.0, (5, 6)), {"U": 5, "I": 6, "K": 3}
    theta = rng.dirichlet(np.ones(3), 5) if "alpha0" in hyper else np.sort(rng.gamma(2.0, size=(5, 3)))
    values = {"theta": theta, "beta": rng.gamma(2.0, size=(3, 6))}
    seen = np.ones((5, 6))
    seen[2, 3] = 0
    rate = theta @ values["beta"]
    some = log_density(PAPERS / f"advi/{name}_held_out.model", sizes | {"y": y, "seen": seen}, values)
    plain = log_density(MODELS / f"{name}/{name}.model", sizes | hyper | {"y": y}, values)
    left_out = poisson.logpmf(y, rate)[2, 3] - gammaln(y[seen == 1] + 1).sum()
    assert some == pytest.approx(plain - left_out, rel=1e-10)
