"""Data that are nan where the target reads them are refused by name, before a fit; elsewhere they may be."""

import numpy as np
import pytest

import ppl

NORMAL = "data { int N; vector[N] y; } parameters { real m; } model { m ~ normal(0, 1); %s }"
DATA = {"N": 4, "y": [1.0, np.nan, 0.5, np.nan]}


@pytest.mark.parametrize("method", ["variational", "sample", "optimize"])
def test_nan_that_is_read_is_named_by_its_first_entry(method):
    posterior = ppl.compile_model(NORMAL % "y ~ normal(m, 1);").condition(DATA)
    with pytest.raises(ppl.DataError, match=r"y\[2\] and 1 more of y: not a number") as caught:
        getattr(posterior, method)()
    assert caught.value.variable == "y"


def test_nan_that_a_program_tests_for_is_let_through():
    program = NORMAL % "for (n in 1:N) if (!is_nan(y[n])) y[n] ~ normal(m, 1);"
    fit = ppl.compile_model(program).condition(DATA).variational(seed=1)
    assert abs(np.mean(fit.stan_variable("m")) - 0.5) < 0.1
