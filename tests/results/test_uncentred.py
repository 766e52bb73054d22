"""Data far from zero for their spread are named where a fit cannot be believed."""

import numpy as np
import pytest

import ppl
from ppl.results.fits.notes import advice_on, uncentred

YEARS = np.arange(1975.0, 2006.0)


def test_arrays_and_columns_of_reals_far_from_zero_are_found() -> None:
    data = {
        "year": YEARS,
        "X": np.column_stack([YEARS - 1990, YEARS**2, np.ones(31)]),
        "count": np.arange(1975, 2006),
        "two": np.array([1e6, 1e6 + 1]),
        "offset": 1990.0,
        "none": np.zeros((0, 3)),
    }
    found = {name: (mean, sd) for name, mean, sd in uncentred(data)}
    assert found == {
        "year": pytest.approx((1990, YEARS.std())),
        "X[, 2]": pytest.approx(((YEARS**2).mean(), (YEARS**2).std())),
    }
    assert advice_on({"x": YEARS - 1990}) == ()


def test_a_poor_fit_names_them_and_a_good_one_does_not() -> None:
    model = ppl.compile_model("""
        data { int N; array[N] int c; vector[N] year; } parameters { real a; real b; }
        model { a ~ normal(0, 10); c ~ poisson_log(a + b * year); }
    """)
    counts = np.random.default_rng(1).poisson(np.exp(2 + 0.02 * (YEARS - 1990)))
    raw = model.condition({"N": 31, "c": counts, "year": YEARS}).variational(
        algorithm="meanfield", iter=100, refine=False
    )
    good = model.condition({"N": 31, "c": counts, "year": YEARS - 1990}).variational(seed=1)
    assert raw.verdict.level.value == "poor" and "`year` (mean 1990, sd 8.9)" in raw.notes[-1]
    assert good.verdict.level.value == "good" and not any("Far from zero" in note for note in good.notes)
