"""Fits to the papers' own data, where a folder holds them: PPL_SHARED, or `shared` beside the checkout."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_t

from ppl import compile_model

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("PPL_SHARED", ROOT.parent / "shared")) / "data"


def data_file(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not there; PPL_SHARED names the folder that holds data/{name}")
    return path


@pytest.fixture(scope="module")
def pima():
    """Standardised inputs and the outcome of all 768 women."""
    with data_file("pima/pima.csv").open() as lines:
        rows = np.array([list(map(float, row)) for row in list(csv.reader(lines))[1:]])
    x, y = rows[:, :-1], rows[:, -1].astype(int)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return {"N": len(y), "D": x.shape[1], "x": x, "y": y}


def importance_reference(data, draws=100_000):
    """Posterior means and sds of (alpha, beta): mode by L-BFGS, Hessian there, a t proposal, weights."""
    x = np.column_stack([np.ones(data["N"]), data["x"]])
    signs = 2 * data["y"] - 1

    def minus_log_posterior(w):
        return np.sum(np.logaddexp(0, -signs * (x @ w))) + 0.5 * w @ w

    mode = minimize(minus_log_posterior, np.zeros(x.shape[1]), method="L-BFGS-B").x
    p = 1 / (1 + np.exp(-x @ mode))
    covariance = np.linalg.inv(x.T * (p * (1 - p)) @ x + np.eye(x.shape[1]))
    proposal = multivariate_t(mode, covariance, df=10)
    w = proposal.rvs(draws, random_state=np.random.default_rng(0))
    log_weights = -np.array([minus_log_posterior(row) for row in w]) - proposal.logpdf(w)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = weights @ w
    return mean, np.sqrt(weights @ (w - mean) ** 2)


def test_fullrank_on_pima_agrees_with_importance_sampling(pima):
    posterior = compile_model(ROOT / "models/logistic_regression/logistic_regression.model").condition(pima)
    assert posterior.param_unc_num() == 9
    mean, sd = importance_reference(pima)
    for seed in (1, 2):
        draws = posterior.variational(algorithm="fullrank", seed=seed, draws=20_000).draws()[:, :9]
        assert np.all(np.abs(draws.mean(axis=0) - mean) < 0.2 * sd)
        assert np.all(np.abs(draws.std(axis=0) / sd - 1) < 0.15)


def test_the_polls_of_1988_run_to_an_outcome():
    path = data_file("election88/election88_full.data.json")
    model = compile_model(ROOT / "models/election88/election88.model")
    assert "for " not in model.python_source  # no loop over the 11,566 rows
    fit = model.condition(path).variational(
        seed=1, start="random", average=False, refine=False, correct=False
    )
    assert np.isfinite(fit.elbo)
    assert fit.outcome.sentence
