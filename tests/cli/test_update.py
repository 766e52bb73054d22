"""`ppl update`: a saved fit and new rows."""

import json

import numpy as np
import pytest

from ppl.results.files.read_csv import read_draws

PROGRAM = """data { int N; vector[N] y; }
parameters { real m; }
model { m ~ normal(0, 2); y ~ normal(m, 1); }
"""
DAYS = ([1.0, 2.0, 0.5], [0.2], [1.4, 1.1, 3.0, -0.3])


@pytest.fixture
def run(run, tmp_path):
    (tmp_path / "toy.model").write_text(PROGRAM)
    for k, y in enumerate(DAYS):
        (tmp_path / f"{k}.json").write_text(json.dumps({"N": len(y), "y": y}))
    status, _, err = run("variational", "toy.model", "0.json", "--save-fit", "fit0.json", "-q")
    assert status == 0, err
    return run


def test_days_one_after_the_other(run):
    for k in (1, 2):
        old = (f"fit{k - 1}.json", f"{k}.json")
        status, out, err = run("update", *old, "--save-fit", f"fit{k}.json", "--verbose")
        assert status == 0, err
        assert f"Updates so far: {k};" in out and f"Wrote updated.csv and fit{k}.json." in out
    y = np.concatenate(DAYS)
    found = read_draws("updated.csv")
    assert found.draws[:, 0].mean() == pytest.approx(y.sum() / (len(y) + 0.25), abs=0.02)
    assert found.draws[:, 0].std() == pytest.approx((len(y) + 0.25) ** -0.5, abs=0.02)
    assert run("summary", "fit2.json")[1].count("\nm ") == 1


def test_data_that_stay_are_kept_in_the_fit(run, tmp_path):
    (tmp_path / "toy.model").write_text(
        PROGRAM.replace("int N;", "int N; real scale;").replace(", 1)", ", scale)")
    )
    (tmp_path / "first.json").write_text(json.dumps({"N": 3, "y": DAYS[0], "scale": 1}))
    run("variational", "toy.model", "first.json", "--save-fit", "fit0.json", "-q")
    for k in (1, 2):
        status, _, err = run("update", f"fit{k - 1}.json", f"{k}.json", "--save-fit", f"fit{k}.json", "-q")
        assert status == 0, err


def test_program_and_data_of_a_fit_may_have_moved(run, tmp_path):
    (tmp_path / "toy.model").rename(tmp_path / "moved.model")
    status, _, err = run("update", "fit0.json", "1.json", "-q")
    assert status == 1 and "the program toy.model: there is no" in err
    assert run("update", "fit0.json", "1.json", "--model", "moved.model", "-q")[0] == 0
    (tmp_path / "0.json").rename(tmp_path / "old.json")
    elsewhere = ("--model", "moved.model", "--fit-data", "old.json")
    assert run("update", "fit0.json", "1.json", *elsewhere, "-q")[0] == 0
    status, _, err = run("update", "fit0.json", "1.json", *elsewhere[:3], "2.json")
    assert status == 1 and "fitted with other data" in err


@pytest.mark.rotate
def test_a_saved_fit_is_read_where_draws_are(run):
    """The same draws as those of the CSV file."""
    pytest.importorskip("matplotlib")
    assert run("summary", "fit0.json")[1] == run("summary", "output.csv")[1]
    assert run("loo", "fit0.json")[1] == run("loo", "output.csv", "--model", "toy.model")[1]
    for fit in ("fit0.json", "output.csv"):
        new = ("1.json", "--replicate", "y", "-q", "-o", f"{fit}.pred.csv")
        assert run("predict", "toy.model", fit, *new)[0] == 0
    new, old = (read_draws(f"{fit}.pred.csv").draws for fit in ("fit0.json", "output.csv"))
    np.testing.assert_allclose(new, old, rtol=1e-9)
    assert run("compare", "fit0.json", "output.csv", "--evidence")[0] == 0
    assert run("plot", "fit0.json", "--model", "toy.model", "--kind", "ppc", "-o", "a.png")[0] == 0
    assert run("doctor", "toy.model", "0.json", "fit0.json")[0] == 0
