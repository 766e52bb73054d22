"""The Gaussian process of Poisson counts with its values integrated out, and with its values sampled."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_t

import ppl
from ppl.stdlib.laplace.likelihoods import LIKELIHOODS
from ppl.stdlib.laplace.marginal import Outcomes, problem
from ppl.stdlib.laplace.mode import NEWTON, modes

FOLDER = Path(__file__).parents[2] / "models" / "gp_poisson"
SITES = 8
POINTS = 40
VALUES = 4000
"""Importance draws of the process for each value of the hyperparameters."""
DEGREES = 8
"""Degrees of freedom of the t distribution that they are of: its tails leave no weight large."""


def small_data() -> dict[str, Any]:
    """The model's data at some of its sites."""
    data = json.loads((FOLDER / "gp_poisson.data.json").read_text())
    kept = np.linspace(0, data["S"] - 1, SITES).astype(int)
    rows = [i for i, site in enumerate(data["site"]) if site - 1 in kept]
    site = [int(np.searchsorted(kept, data["site"][i] - 1)) + 1 for i in rows]
    x, y = [data["x"][k] for k in kept], [data["y"][i] for i in rows]
    return {"S": SITES, "x": x, "N": len(y), "site": site, "y": y}


def standardised(data: dict[str, Any], u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of z given y and the hyperparameters, about."""
    x, mu, (alpha, rho) = np.array(data["x"]), u[0], np.exp(u[1:])
    k = alpha**2 * np.exp(-0.5 * ((x[:, None] - x) / rho) ** 2) + 1e-6 * np.eye(SITES)
    rows = Outcomes(np.array(data["y"]), np.array(data["site"]))
    _, p = problem(LIKELIHOODS[0], rows, np.full(SITES, mu), k, [])
    theta, _ = modes(p, NEWTON.objective, NEWTON.most_steps)
    lower = np.linalg.cholesky(k)
    precision = np.eye(SITES) + lower.T @ np.diag(p.local(theta).weight[0]) @ lower
    return np.linalg.solve(lower, theta[0]), np.linalg.inv(precision)


def log_integral(twin: ppl.Posterior, data: dict[str, Any], u: np.ndarray, rng: Any) -> tuple[float, float]:
    """The twin's log density of the hyperparameters, z integrated out by importance sampling; its error."""
    q = multivariate_t(*standardised(data, u), df=DEGREES)
    z = q.rvs(VALUES, random_state=rng)
    log_ratio = twin.log_densities(np.hstack([np.tile(u, (VALUES, 1)), z])) - q.logpdf(z)
    ratio = np.exp(log_ratio - log_ratio.max())
    return logsumexp(log_ratio) - np.log(VALUES), ratio.std() / ratio.mean() / np.sqrt(VALUES)


@pytest.mark.rotate
def test_the_posterior_of_the_hyperparameters_is_that_of_the_sampled_twin() -> None:
    """At the fit's own draws: there the two log densities differ by what means and sds do not show."""
    data = small_data()
    model = ppl.compile_model(FOLDER / "gp_poisson.model").condition(data)
    twin = ppl.compile_model(FOLDER / "sampled.stan").condition(data)
    fit, rng = model.variational(algorithm="fullrank", seed=1, draws=POINTS), np.random.default_rng(1)
    columns = [fit.stan_variable("mu"), *(np.log(fit.stan_variable(name)) for name in ("alpha", "rho"))]
    us = np.stack(columns, axis=1)
    exact, errors = np.array([log_integral(twin, data, u, rng) for u in us]).T
    gap = model.log_densities(us) - exact
    assert errors.max() < 0.01
    assert np.abs(gap).max() < 0.05  # and the constants too, as nothing is dropped
    weights = np.exp(-(gap - gap.mean()))
    shift = np.average(us, axis=0, weights=weights) - us.mean(axis=0)
    assert (np.abs(shift) < us.std(axis=0) / np.sqrt(POINTS) / 10).all()
