"""`ppl predict`, from the prior and at a fit, and `model.prior_predictive`."""

import json

import numpy as np
import pytest

import ppl
from ppl.results.files.read_csv import read_draws

PROGRAM = """data { int N; vector[N] y; }
parameters { real m; vector<lower=0>[2] s; }
transformed parameters { real twice = 2 * m; }
model { m ~ normal(3, 2); s ~ exponential(1); y ~ normal(m, s[1]); }
"""


@pytest.fixture
def run(run, tmp_path):
    (tmp_path / "toy.model").write_text(PROGRAM)
    (tmp_path / "toy.json").write_text(json.dumps({"N": 3, "y": [1, 2, 3]}))
    return run


def test_draws_of_all_that_the_program_draws(run):
    status, out, _ = run("predict", "toy.model", "toy.json", "--prior", "--draws", 400)
    assert status == 0 and "Wrote prior.csv: 400 draws of m, s, y." in out
    found = read_draws("prior.csv")
    assert found.columns == ("m", "s.1", "s.2", "y.1", "y.2", "y.3", "twice")
    assert found.parameters == ("m", "s.1", "s.2")
    assert found.draws[:, 0].mean() == pytest.approx(3, abs=0.5)
    assert (found.draws[:, 6] == 2 * found.draws[:, 0]).all()
    by_name = ppl.compile_model(PROGRAM).prior_predictive({"N": 3}, draws=400)
    assert by_name["y"].shape == (400, 3)
    np.testing.assert_array_equal(by_name["s"], found.draws[:, 1:3])
    run("predict", "toy.model", "toy.json", "--prior", "--draws", 400, "-q", "-o", "again.csv")
    assert (read_draws("again.csv").draws == found.draws).all()


def test_the_picture_of_a_predictive_check_reads_them(run, tmp_path):
    pytest.importorskip("matplotlib")
    run("predict", "toy.model", "toy.json", "--prior", "--draws", 60, "-q")
    status, _, err = run("plot", "prior.csv", "--kind", "ppc", "--replicated", "y", "-o", "ppc.png")
    assert status == 0, err
    assert (tmp_path / "ppc.png").exists()


def test_without_prior_the_way_is_told(run):
    status, _, err = run("predict", "toy.model", "toy.json")
    assert status == 2 and "ppl generate" in err


def test_at_a_fit_the_data_are_drawn_anew_and_new_rows_predicted(run, tmp_path):
    run("variational", "toy.model", "toy.json", "-o", "fit.csv", "-q")
    status, out, _ = run("predict", "toy.model", "fit.csv")
    assert status == 0 and "Wrote predicted.csv: 1000 rows of 3 columns." in out
    found = read_draws("predicted.csv")
    assert found.columns == ("y_rep.1", "y_rep.2", "y_rep.3")
    (tmp_path / "new.json").write_text('{"N": 2}')
    assert run("predict", "toy.model", "fit.csv", "new.json", "-q", "-o", "new.csv")[0] == 0
    new = read_draws("new.csv")
    assert new.columns == ("y.1", "y.2") and len(new.draws) == 1000
    assert new.draws.mean() == pytest.approx(found.draws.mean(), abs=0.2)
    assert found.config["method.generate_quantities.fitted_params"] == "fit.csv"
    (tmp_path / "toy.json").unlink()
    status, _, err = run("predict", "toy.model", "fit.csv", "new.json")
    assert status == 1 and "--fit-data FILE" in err


def test_a_program_that_cannot_be_read_forward_takes_a_simulator(run, tmp_path):
    (tmp_path / "flat.model").write_text(
        "data { real y; } parameters { real m; } model { y ~ normal(m, 1); }"
    )
    (tmp_path / "sim.stan").write_text(
        "generated quantities { real m = normal_rng(5, 1); real y = normal_rng(m, 1); }"
    )
    status, _, err = run("predict", "flat.model", "--prior")
    assert status == 1 and "PPL979" in err
    assert run("predict", "flat.model", "--prior", "--simulator", "sim.stan", "-q")[0] == 0
    assert read_draws("prior.csv").draws[:, 0].mean() == pytest.approx(5, abs=0.2)
