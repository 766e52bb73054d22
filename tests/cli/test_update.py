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
        old = (f"fit{k - 1}.json", f"{k}.json", "--fit-data", f"{k - 1}.json")
        status, out, err = run("update", "toy.model", *old, "--save-fit", f"fit{k}.json", "--verbose")
        assert status == 0, err
        assert f"Updates so far: {k};" in out and f"Wrote updated.csv and fit{k}.json." in out
    y = np.concatenate(DAYS)
    found = read_draws("updated.csv")
    assert found.draws[:, 0].mean() == pytest.approx(y.sum() / (len(y) + 0.25), abs=0.02)
    assert found.draws[:, 0].std() == pytest.approx((len(y) + 0.25) ** -0.5, abs=0.02)


def test_other_data_of_the_fit_are_refused(run):
    status, _, err = run("update", "toy.model", "fit0.json", "1.json", "--fit-data", "2.json")
    assert status == 1 and "fitted with other data" in err
    status, _, err = run("update", "toy.model", "fit0.json", "1.json")
    assert status == 2 and "--fit-data" in err
