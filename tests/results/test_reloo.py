"""Rows that importance sampling cannot leave out, left out by moved draws: exact predictive densities."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import log_expit
from scipy.stats import multivariate_normal, norm

import ppl
from ppl import compile_model
from ppl.cli.main import app
from ppl.records import replace
from ppl.results.fits.reloo import RowRemoval
from ppl.results.report.loo import Loo

SCHOOLS = """
data { int J; vector[J] y; vector[J] s; }
parameters { real mu; vector[J] t; }
model { mu ~ normal(0, 5); t ~ normal(mu, 3); y ~ normal(t, s); }
"""
Y = np.array([28, 8, -3, 7, -1, 1, 18, 12.0])
S = np.array([15, 10, 16, 11, 9, 11, 10, 18]) / 8.0
DATA = {"J": 8, "y": Y, "s": S}
ERROR = 0.1 * np.sqrt(8)
"""The stated standard error of eight rows."""


def invoke(*words):
    return CliRunner().invoke(app, [*map(str, words)])


def exact(y, covariance):
    """log p(y_n | the others), of a normal vector with mean 0."""
    precision = np.linalg.inv(covariance)
    variances = 1 / np.diag(precision)
    return -0.5 * np.log(2 * np.pi * variances) - 0.5 * (precision @ y) ** 2 * variances


@pytest.mark.rotate
def test_each_row_has_a_parameter_of_its_own():
    fit = compile_model(SCHOOLS).condition(DATA).variational(seed=1)
    right = exact(Y, 25 + np.diag(9 + S**2))
    by_weights, loo = fit.loo(), fit.loo(reloo=True)
    assert by_weights.elpd > right.sum() + 10 and len(by_weights.bad) > 5
    assert not loo.bad and "left out by moving" in loo.reading
    done = loo.khats == 0
    assert np.flatnonzero(done).tolist() == [*by_weights.uncertain]
    assert done.sum() > (by_weights.khats > by_weights.threshold).sum()
    assert loo.elpds[done] == pytest.approx(right[done], abs=0.3)
    assert loo.elpd == pytest.approx(right.sum(), abs=4 * ERROR)
    assert loo.elpds[~done] == pytest.approx(by_weights.elpds[~done])
    again = fit.loo(reloo=True)
    assert (again.elpds == loo.elpds).all() and (fit.loo(reloo=True, seed=2).elpds != loo.elpds).any()


@pytest.mark.rotate
def test_rows_whose_khat_is_just_below_the_threshold_are_left_out_too():
    """The tail of each row has shape 0.92, and its k-hat a standard error of 0.2."""
    program = """data { int J; vector[J] x; vector[J] y; } parameters { vector[J] t; }
        model { t ~ normal(0, 3); x ~ normal(t, 2); y ~ normal(t, 0.5); }"""
    x, y, variance = Y / 3 + 1, Y / 3, 1 / (1 / 9 + 1 / 4)
    fit = compile_model(program).condition({"J": 8, "x": x, "y": y}).variational(seed=7)
    by_weights, loo = fit.loo("y"), fit.loo("y", reloo=True)
    right = norm.logpdf(y, variance * x / 4, (variance + 0.25) ** 0.5)
    below = by_weights.khats < by_weights.threshold
    assert below.any() and np.abs(by_weights.elpds - right)[below].max() > 0.4
    assert loo.elpds == pytest.approx(right, abs=0.3) and "8 of 8 rows" in loo.reading


def test_rows_within_a_standard_error_of_the_threshold_are_uncertain():
    khats = np.array([0.4, 0.6, 0.7, np.nan, np.inf, -np.inf])
    loo = Loo(tuple("abcdef"), khats, khats, khats, 1000)
    assert loo.threshold == pytest.approx(2 / 3) and loo.uncertain == (1, 2, 3, 4)
    assert replace(loo, draws=10**6).uncertain == (2, 3, 4)


def test_a_fit_without_such_rows_is_not_changed():
    program = "data { vector[9] y; } parameters { real m; } model { m ~ normal(0, 9); y ~ normal(m, 1); }"
    fit = compile_model(program).condition({"y": np.linspace(-1, 1, 9)}).variational(seed=1)
    assert str(fit.loo(reloo=True)) == str(fit.loo())


@pytest.mark.rotate
def test_the_command(tmp_path):
    (tmp_path / "m.stan").write_text(SCHOOLS)
    (tmp_path / "d.json").write_text(json.dumps({"J": 8, "y": [*Y], "s": [*S]}))
    out = tmp_path / "o.csv"
    assert invoke("variational", tmp_path / "m.stan", tmp_path / "d.json", "-o", out, "-q").exit_code == 0
    fit = compile_model(SCHOOLS).condition(DATA).variational(seed=1)
    for seed in (1, 2):
        found = invoke("loo", out, "--reloo", "--seed", seed, "--csv", tmp_path / "rows.csv")
        assert found.exit_code == 0 and "left out by moving" in found.output
        rows = np.genfromtxt(tmp_path / "rows.csv", delimiter=",", names=True, dtype=None, encoding=None)
        assert rows["elpd_loo"] == pytest.approx(fit.loo(reloo=True, seed=seed).elpds)
    assert rows["elpd_loo"].sum() == pytest.approx(exact(Y, 25 + np.diag(9 + S**2)).sum(), abs=4 * ERROR)
    assert "--reloo" in invoke("loo", out).output


@pytest.mark.rotate
def test_models_are_compared_with_such_rows_left_out(tmp_path):
    (tmp_path / "d.json").write_text(json.dumps({"J": 8, "y": [*Y], "s": [*S]}))
    loos, files = {}, []
    for name, sd in (("wide", 3), ("narrow", 6)):
        program, out = tmp_path / f"{name}.stan", tmp_path / f"{name}.csv"
        program.write_text(SCHOOLS.replace("normal(mu, 3)", f"normal(mu, {sd})"))
        fitting = ("variational", program, tmp_path / "d.json", "--seed", 1, "-o", out, "-q")
        assert invoke(*fitting).exit_code == 0
        loos[name] = compile_model(program).condition(DATA).variational(seed=1).loo(reloo=True)
        files.append(out)
    found = json.loads(invoke("compare", *files, "--reloo", "--format", "json").output)["models"]
    for model, own in zip(found, ppl.compare(loos).models, strict=True):
        assert model["name"] == own.name and model["bad"] == 0
        assert model["elpd"] == pytest.approx(own.elpd) and model["se_diff"] == pytest.approx(own.se_diff)
    gain = [exact(Y, 25 + np.diag(sd**2 + S**2)).sum() for sd in (3, 6)]
    assert found[1]["elpd_diff"] == pytest.approx(min(gain) - max(gain), abs=8 * ERROR)


@pytest.mark.rotate
def test_a_row_of_two_outcomes_of_which_one_may_be_missing():
    program = """data { int J; vector[J] y; vector[J] z; } parameters { vector[J] t; }
        model { t ~ normal(0, 3); y ~ normal(t, 1); z ~ normal(t, 0.7); }"""
    y, z = Y / 3, np.array([9, 3, np.nan, 2, 0, 0, 5, 4.5])
    fit = compile_model(program).condition({"J": 8, "y": y, "z": z}, missing="model").variational(seed=1)
    loo = fit.loo(["y", "z"], reloo=True)
    pair = 9 + np.diag([1, 0.49])
    right = [
        multivariate_normal.logpdf([a, b], cov=pair)
        if np.isfinite(b)
        else multivariate_normal.logpdf(a, cov=10)
        for a, b in zip(y, z, strict=True)
    ]
    assert not loo.bad and loo.elpds == pytest.approx(np.array(right), abs=0.4)
    assert (loo.khats == 0).sum() > 3


def test_a_term_that_cannot_be_read_stays_in_the_posterior_without_a_row():
    program = """data { vector[3] x; vector[3] y; } parameters { vector[3] t; }
        model { t ~ normal(0, 3); x - t ~ normal(0, 2); y ~ normal(t, 0.5); }"""
    y, us = np.array([1.0, -2, 4]), np.random.default_rng(1).normal(size=(20, 3))
    posterior = compile_model(program).condition({"x": [2.0, 0, 1], "y": y})
    without = RowRemoval.of(posterior).target({"y": (2,)}, 0.0).log_densities(us)
    row = norm.logpdf(y[1], us[:, 1], 0.5)
    assert without == pytest.approx(posterior.log_densities(us) - row, rel=1e-12)


def test_without_the_row_its_outcome_may_be_impossible():
    program = """data { vector[2] y; } parameters { real<lower=0> b; }
        model { b ~ exponential(0.3); y ~ uniform(0, b); }"""
    posterior = compile_model(program).condition({"y": [0.2, 3.0]})
    without = RowRemoval.of(posterior).target({"y": (2,)}, 0.0)
    u = np.log([2.0])  # b is below y[2]
    assert posterior.log_density(u) == -np.inf
    assert without.log_density(u) == pytest.approx(np.log(0.3) - 0.6 - np.log(2) + u[0])


@pytest.mark.rotate
def test_rows_of_discrete_parameters_are_summed_out():
    program = """data { vector[6] y; } parameters { vector[6] t; array[6] int<lower=0, upper=1> k; }
        model { t ~ normal(0, 4); k ~ bernoulli(0.3); for (n in 1:6) y[n] ~ normal(t[n] + 2 * k[n], 0.5); }"""
    y = np.array([9, -8, 0.5, 2, 4, -4.0])
    loo = compile_model(program).condition({"y": y}).variational(seed=1).loo(reloo=True)
    parts = [norm.logpdf(y, m, 16.25**0.5) for m in (0, 2)]
    right = np.logaddexp(np.log(0.7) + parts[0], np.log(0.3) + parts[1])
    assert not loo.bad and loo.elpds == pytest.approx(right, abs=0.4)


def test_what_a_prior_adds_stays_in_the_posterior_without_a_row():
    program = """functions { void own_lp(real t) { target += -square(t); } }
        data { int n; array[5] int y; } parameters { vector[5] t; }
        model { for (k in 1:5) own_lp(t[k]); target += -0.5 * dot_self(t) / 9;
                for (k in 1:5) target += bernoulli_logit_lpmf(y[k] | 6 * t[k]) + 0.1 * t[k]; }"""
    fit = compile_model(program).condition({"n": 1, "y": [0, 1, 1, 1, 0]}).variational(seed=1)
    t = np.linspace(-6, 6, 20_001)
    prior = np.exp(-(t**2) * (1 + 0.5 / 9))
    for loo in (fit.loo(), fit.loo(reloo=True)):
        right = [np.log(prior @ np.exp(log_expit(sign * 6 * t) + 0.1 * t) / prior.sum()) for sign in (-1, 1)]
        assert loo.elpds == pytest.approx(np.array(right)[[0, 1, 1, 1, 0]], abs=0.3)


def test_the_posterior_without_no_row_is_the_posterior():
    program = """data { int N; vector[N] y; vector[N] c; }
        parameters { real m; real<lower=0> s; vector[N] t; }
        model { m ~ normal(0, 2); target += normal_lpdf(y | m, s) + log1p(s) - 0.3 * s;
                for (n in 1:N) if (c[n] > 0) target += log1m(inv_logit(t[n])); t ~ student_t(3, m, 1);
                target += normal_lcdf(s | 1, 2) + sum(t); }"""
    posterior = compile_model(program).condition({"N": 3, "y": [1.0, 2, 4], "c": [1.0, 0, 1]})
    removal, us = RowRemoval.of(posterior), np.random.default_rng(1).normal(size=(20, 5))
    assert removal.target({}, 1.0).log_densities(us) == pytest.approx(posterior.log_densities(us), rel=1e-12)


def test_discrete_data_that_are_missing_are_refused():
    program = """data { array[3] int<lower=0, upper=9> y; } parameters { vector[3] t; }
        model { t ~ normal(0, 9); y ~ poisson_log(t); }"""
    fit = compile_model(program).condition({"y": [9, None, 0]}, missing="model").variational(seed=1)
    with pytest.raises(ppl.DataError, match="reloo leaves out no rows where discrete data are missing"):
        fit.loo(reloo=True)
