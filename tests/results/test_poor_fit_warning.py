"""A poor fit warns at the line that asked for it, which a filter may make an error; a good one is silent."""

import warnings

import numpy as np
import pytest

import ppl

NORMAL = ppl.compile_model("parameters { vector[2] x; } model { x ~ normal(0, 1); }").condition({})
RIDGE = ppl.compile_model(
    "parameters { vector[2] x; } model { x[1] ~ normal(0, 1); x[2] ~ normal(x[1], 0.001); }"
).condition({})
UNCORRECTED = {"algorithm": "meanfield", "correct": False, "seed": 1}


def test_a_poor_fit_warns_where_it_was_asked_for():
    with pytest.warns(ppl.PoorFitWarning, match="Verdict: poor") as caught:
        fit = RIDGE.variational(**UNCORRECTED)
    assert fit.verdict.level == "poor" and str(caught[0].message) == fit.judgement
    assert caught[0].filename == __file__


def test_standard_errors_of_a_poor_fit_are_not_known():
    with pytest.warns(ppl.PoorFitWarning):
        fit = RIDGE.variational(**UNCORRECTED)
    row = fit.summary()["x[1]"]
    assert (
        np.isnan([row.se, row.se_q5, row.se_q50, row.se_q95]).all() and np.isfinite([row.mean, row.sd]).all()
    )
    assert row.texts[1] == "nan" and not fit.provenance.se
    assert NORMAL.variational(seed=1).summary()["x[1]"].se > 0


def test_a_filter_makes_it_an_error_and_a_good_fit_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ppl.PoorFitWarning)
        assert NORMAL.variational(seed=1).verdict.level == "good"
        with pytest.raises(ppl.PoorFitWarning):
            RIDGE.variational(**UNCORRECTED)


@pytest.mark.parametrize("method", ["pathfinder", "laplace"])
def test_other_methods_warn_at_the_same_line(method):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = getattr(RIDGE, method)(seed=1)
    poor = [w for w in caught if w.category is ppl.PoorFitWarning]
    assert len(poor) == (fit.verdict.level == "poor")
    assert all(w.filename == __file__ for w in poor)
