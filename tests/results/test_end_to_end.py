"""Fits of compiled programs, through the public names alone."""

import numpy as np
import pytest

import ppl
from ppl.results.fits.fit import variational

PROGRAM = """
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  vector[2] mu;
  cholesky_factor_corr[3] L;
}
transformed parameters {
  matrix[2, 3] M = mu * [1, 10, 100];
}
model {
  mu ~ std_normal();
  y ~ normal(mu[1], 1);
}
generated quantities {
  real y_rep = normal_rng(mu[1], 1);
  int late = 0;
  if (mu[2] < 0) reject("mu[2] is ", mu[2]);
  late = poisson_rng(3);
}
"""
DATA = {"N": 3, "y": [1.0, 2.0, 3.0]}
QUICK = {"iter": 300, "draws": 200, "eta": 0.1, "seed": 2}


@pytest.fixture(scope="module")
def model():
    return ppl.compile_model(PROGRAM)


@pytest.fixture(scope="module")
def fit(model):
    return variational(model.condition(DATA), **QUICK)


def test_columns_are_stans(fit):
    assert fit.column_names[:4] == ("mu.1", "mu.2", "L.1.1", "L.2.1")
    assert fit.column_names[11:14] == ("M.1.1", "M.2.1", "M.1.2")
    assert fit.column_names[-2:] == ("y_rep", "late")


def test_variables_have_their_own_shapes(fit):
    mu, matrix = fit.stan_variable("mu"), fit.stan_variable("M")
    assert np.allclose(matrix, mu[:, :, np.newaxis] * [1, 10, 100])
    lower = fit.stan_variable("L")
    assert np.allclose((lower**2).sum(axis=2), 1) and np.all(lower[:, 0, 2] == 0)


def test_a_rejected_draw_loses_its_generated_quantities_alone(fit):
    low = fit.stan_variable("mu")[:, 1] < 0
    assert 0 < low.sum() < len(low)
    assert np.array_equal(np.isnan(fit.stan_variable("y_rep")), low)
    assert np.isfinite(fit.draws()[:, :-2]).all()
    assert "mu[2] is" in fit.notes[-1]


def test_save_and_load(model, fit, tmp_path):
    fit.save(tmp_path / "fit.json")
    again = ppl.load_fit(tmp_path / "fit.json", model, DATA)
    assert np.array_equal(again.draws(), fit.draws(), equal_nan=True)
    softplus = ppl.compile_model(PROGRAM, positive_transform="softplus")
    with pytest.raises(ppl.DataError, match="positive transform"):
        ppl.load_fit(tmp_path / "fit.json", softplus, DATA)


def test_initial_values_outside_their_constraint_are_refused():
    posterior = ppl.compile_model("parameters { real<lower=0> x; } model { x ~ exponential(1); }").condition(
        {}
    )
    with pytest.raises(ppl.DataError, match="x"):
        variational(posterior, init={"x": -1.0})
