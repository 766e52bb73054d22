"""`--missing model`, and the commands that read such a fit."""

import json

import pytest

from ppl.results.files.read_csv import read_draws

PROGRAM = """data { int N; vector[N] x; array[N] int<lower=0, upper=1> y; }
parameters { real a; real b; }
model { a ~ normal(0, 1); b ~ normal(0, 1); x ~ normal(0, 1); y ~ bernoulli_logit(a + b * x); }
"""
DATA = {"N": 6, "x": [1, None, 0, -1, 0.5, 2], "y": [1, 0, None, 0, 1, 1]}


@pytest.fixture
def run(run, tmp_path):
    (tmp_path / "toy.model").write_text(PROGRAM)
    (tmp_path / "toy.json").write_text(json.dumps(DATA))
    return run


@pytest.fixture
def fitted(run):
    status, out, err = run("variational", "toy.model", "toy.json", "--missing", "model", "--seed", 1)
    assert status == 0, err
    return out


def test_the_report_says_how_many_and_where(fitted):
    assert "1 missing value is a parameter: x[2]." in fitted
    assert "1 missing value is a parameter, marginalised and drawn afterwards: y[3]." in fitted
    found = read_draws("output.csv")
    assert found.columns == ("a", "b", "x.2", "y.3") and found.parameters == ("a", "b", "x.2")


@pytest.mark.rotate
def test_commands_on_the_fit_read_which_values_were_missing(fitted, run, tmp_path):
    status, out, err = run("loo", "output.csv", "--model", "toy.model")
    assert status == 0 and "elpd_loo" in out, err
    assert run("predict", "toy.model", "output.csv", "-q")[0] == 0
    assert read_draws("predicted.csv").columns[-6:] == tuple(f"y_rep.{n}" for n in range(1, 7))
    (tmp_path / "new.json").write_text('{"N": 1, "x": [3]}')
    assert run("predict", "toy.model", "output.csv", "new.json", "-q")[0] == 0
    (tmp_path / "more.model").write_text(PROGRAM + "generated quantities { real top = max(x); }")
    status, out, err = run("generate", "more.model", "toy.json", "output.csv")
    assert status == 0 and "1000 rows of" in out, err
    assert "top" in read_draws("generated.csv").columns
    assert run("summary", "output.csv")[0] == 0


def test_without_it_the_option_is_named(run):
    status, _, err = run("variational", "toy.model", "toy.json")
    assert status == 1 and "x[2] is null" in err and "--missing model" in " ".join(err.split())


def test_chains_too(run):
    pytest.importorskip("nutpie")
    chains = ("--num-chains", 1, "--num-warmup", 100, "--num-samples", 50)
    status, out, err = run("sample", "toy.model", "toy.json", "--missing", "model", *chains)
    assert status == 0 and "missing value is a parameter: x[2]." in out, err
    assert read_draws("output.csv").columns[-2:] == ("x.2", "y.3")
