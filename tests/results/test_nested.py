"""Latent variables integrated out, from a program to its draws and files."""

import json

import numpy as np
import pytest

import ppl
from ppl.methods.correct.draw_source import DrawSource

CENTRED = """
data { int J; vector[J] y; }
parameters { real mu; real<lower=0> tau; vector[J] theta; }
model { mu ~ normal(0, 5); tau ~ normal(0, 2); theta ~ normal(mu, tau); y ~ normal(theta, 1); }
"""
DATA = {"J": 6, "y": [1.0, -2.0, 3.0, 0.5, 2.0, -1.0]}


@pytest.fixture(scope="module")
def model():
    return ppl.compile_model(CENTRED)


@pytest.fixture(scope="module")
def fit(model):
    return model.condition(DATA).variational(seed=1, draws=200)


def test_the_verdict_says_that_they_were(fit):
    assert fit.verdict.made is DrawSource.NESTED
    assert fit.judgement.startswith("Verdict: good: the latent variables were integrated out")


def test_centred_and_non_centred_programs_have_one_posterior(fit):
    moved = ppl.compile_model(
        CENTRED.replace("vector[J] theta", "vector<offset=mu, multiplier=tau>[J] theta")
    )
    other = moved.condition(DATA).variational(seed=2, draws=200)
    assert other.verdict.made is DrawSource.NESTED
    for name in ("mu", "tau", "theta"):
        a, b = fit.stan_variable(name), other.stan_variable(name)
        sd = a.std(axis=0)
        np.testing.assert_allclose(a.mean(axis=0) / sd, b.mean(axis=0) / sd, atol=0.25)


def test_a_saved_fit_has_the_same_draws(fit, model, tmp_path):
    fit.save(tmp_path / "fit.json")
    assert json.loads((tmp_path / "fit.json").read_text())["fit_draws"] == "nested"
    again = ppl.load_fit(tmp_path / "fit.json", model, DATA)
    np.testing.assert_array_equal(again.draws(), fit.draws())
    assert again.verdict.made is DrawSource.NESTED


def test_more_draws_are_others_of_the_same_posterior(fit, model, tmp_path):
    more = fit.more(300)
    more.save(tmp_path / "more.json")
    np.testing.assert_array_equal(ppl.load_fit(tmp_path / "more.json", model, DATA).draws(), more.draws())
    assert more.draws().shape[0] == 300 and more.result.path.nested
    assert not np.isin(more.draws()[:, 0], fit.draws()[:, 0]).any()
    mu, sd = fit.stan_variable("mu").mean(), fit.stan_variable("mu").std()
    assert more.stan_variable("mu").mean() == pytest.approx(mu, abs=0.3 * sd)


def test_blocks_are_found_by_both_backends(model):
    pytest.importorskip("jax")
    fit = model.condition(DATA).variational(seed=1, draws=50, backend="jax")
    assert fit.verdict.made is DrawSource.NESTED and fit.verdict.level == "good"


@pytest.mark.parametrize(("rows", "made"), [(400, DrawSource.RESAMPLED), (9, DrawSource.NESTED)])
def test_coefficients_that_all_meet_are_integrated_out_only_where_the_gaussian_at_the_mode_does_not_fit(
    rows, made
):
    x = np.random.default_rng(3).standard_normal((rows, 4))
    model = ppl.compile_model("""
        data { int n; matrix[n, 4] x; vector[n] y; }
        parameters { real a; vector[4] b; real<lower=0> s; }
        model { a ~ normal(0, 9); b ~ normal(0, 9); s ~ cauchy(0, 2); y ~ normal(a + x * b, s); }""")
    fit = model.condition({"n": rows, "x": x, "y": x.sum(axis=1) + np.cos(np.arange(rows))}).variational(
        seed=1, draws=100
    )
    assert (fit.verdict.made, fit.level) == (made, "good")
