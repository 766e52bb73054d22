"""CmdStanPy's names on a fit, and columns by either spelling."""

import numpy as np
import pytest

import ppl
from ppl.kernel.draws.columns import bracketed, chosen, in_columns

PROGRAM = """
parameters { real mu; matrix[2, 2] b; }
model { mu ~ normal(0, 1); to_vector(b) ~ normal(0, 1); }
generated quantities { tuple(real, vector[2]) t = (mu, b[, 1]); }
"""
COLUMNS = ["mu", "b.1.1", "b.2.1", "b.1.2", "b.2.2", "t:1", "t:2.1", "t:2.2"]
CMDSTANPY = ["mu", "b[1,1]", "b[2,1]", "b[1,2]", "b[2,2]", "t.1", "t.2[1]", "t.2[2]"]


@pytest.fixture(scope="module")
def fit():
    return ppl.compile_model(PROGRAM).condition().laplace(draws=20, correct=False, seed=4)


def test_columns_are_spelt_as_cmdstanpy_does(fit):
    assert list(fit.column_names) == COLUMNS and list(map(bracketed, COLUMNS)) == CMDSTANPY
    munge = pytest.importorskip("cmdstanpy.utils.stancsv").munge_varname
    assert [munge(name) for name in COLUMNS] == CMDSTANPY


@pytest.mark.parametrize(
    "dotted, other", [*zip(COLUMNS[:5], CMDSTANPY[:5], strict=True), ("b.2.1", "b[2, 1]")]
)
def test_either_spelling_will_do(dotted, other, fit):
    assert in_columns(COLUMNS, other) == dotted == in_columns(COLUMNS, dotted)
    assert fit.summary()[other] == fit.summary()[dotted]
    assert np.array_equal(fit.stan_variable(other), fit.draws()[:, COLUMNS.index(dotted)])
    assert chosen(COLUMNS, [other], ()) == (dotted,)


def test_draws_of_some_variables(fit):
    pytest.importorskip("pandas")
    assert list(fit.draws_pd().columns) == CMDSTANPY == list(fit.variational_sample_pd.columns)
    assert list(fit.draws_pd("b").columns) == CMDSTANPY[1:5]
    assert list(fit.draws_pd(vars=["b.2.1", "mu"]).columns) == ["mu", "b[2,1]"]
    with pytest.raises(ppl.DataError, match="no variable nu among the draws; there are mu, b, t"):
        fit.draws_pd(vars="nu")


def test_names_of_cmdstanpy(fit):
    assert {name: draws.shape for name, draws in fit.stan_variables().items()} == {
        "mu": (20,),
        "b": (20, 2, 2),
        "t:1": (20,),
        "t:2": (20, 2),
    }
    assert np.array_equal(fit.variational_sample, fit.draws())
    assert np.array_equal(fit.variational_params_np, fit.at_mean())
    assert fit.variational_params_dict == dict(zip(CMDSTANPY, fit.at_mean(), strict=True))
    pytest.importorskip("pandas")
    assert fit.variational_params_pd.iloc[0].to_dict() == fit.variational_params_dict


def test_values_at_the_mean_of_q(fit):
    at = fit.stan_variables(mean=True)
    assert {name: value.shape for name, value in at.items()} == {
        "mu": (),
        "b": (2, 2),
        "t:1": (),
        "t:2": (2,),
    }
    assert at["mu"] == fit.at_mean()[0] and fit.stan_variable("b[2,1]", mean=True) == fit.at_mean()[2]
    assert np.array_equal(at["b"].ravel(order="F"), fit.at_mean()[1:5])


def test_what_inference_says_of_each_draw(fit):
    variables = fit.method_variables()
    assert variables["log_p__"] == pytest.approx(fit.posterior.log_densities(fit.draws_u))
    assert variables["log_g__"] == pytest.approx(-0.5 * (fit.draws_u**2).sum(axis=1), abs=1e-5)


def test_inits_are_draws(fit):
    one, several = fit.create_inits(seed=5, chains=1), fit.create_inits(seed=5, chains=3)
    assert list(one) == ["mu", "b"] and len(several) == 3 and len(fit.create_inits()) == 4
    rows = [[init["mu"], *init["b"].ravel(order="F")] for init in (one, *several)]
    assert all((fit.draws()[:, :5] == row).all(axis=1).sum() == 1 for row in rows)
    assert len({float(row[0]) for row in rows[1:]}) == 3
    with pytest.raises(ppl.InferenceError, match="There are 20 different draws, fewer than 21 chains"):
        fit.create_inits(chains=21)


def test_inits_of_a_mode_are_the_mode(fit):
    mode = fit.posterior.optimize(draws=7)
    assert mode.create_inits()["mu"] == mode.stan_variable("mu", mean=True) == pytest.approx(0)


def test_generated_quantities_of_an_edited_program(fit):
    edited = PROGRAM.replace("generated quantities {", "generated quantities { vector[2] twice = 2 * b[, 2];")
    found = ppl.compile_model(edited).condition().generate_quantities(previous_fit=fit)
    assert list(found) == ["twice", "t:1", "t:2"]
    np.testing.assert_allclose(found["twice"], 2 * fit["b"][:, :, 1])


def test_metadata(fit):
    about = fit.metadata
    assert about.cmdstan_config["seed"] == about.cmdstan_config["random"]["seed"] == 4
    assert about.cmdstan_config["random"] == {"seed": 4}
    assert about.cmdstan_config["method"]["variational"]["output_samples"] == 20
    assert about.stan_vars["b"] == (2, 2) and about.stan_vars["mu"] == ()


def test_the_hessian_is_that_of_the_log_density():
    program = "parameters { vector[2] b; real<lower=0> s; } "
    program += "model { b ~ normal(0, 2); s ~ exponential(b[1]^2 + 1); }"
    posterior, u = ppl.compile_model(program).condition(), np.array([0.3, -0.2, 0.5])
    for jacobian in (True, False):
        value, gradient, hessian = posterior.log_density_hessian(u, jacobian=jacobian)
        assert (value, gradient.tolist()) == (
            posterior.log_density(u, jacobian=jacobian),
            posterior.log_density_gradient(u, jacobian=jacobian)[1].tolist(),
        )
        s, b = np.exp(0.5), 0.3
        rate = b * b + 1
        first = -0.25 + 2 / rate - 4 * b * b / rate**2 - 2 * s
        expected = [[first, 0, -2 * b * s], [0, -0.25, 0], [-2 * b * s, 0, -rate * s]]
        assert hessian == pytest.approx(np.array(expected), abs=1e-7)
