"""Data that are nan or infinite where the target reads them are named; elsewhere they may be."""

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


INFINITE = "data { vector[3] x; %s } parameters { real b; } model { b ~ normal(0, 1); %s }"


@pytest.mark.parametrize("method", ["variational", "sample"])
def test_infinite_data_that_leave_no_start_are_named_by_their_first_entry(method):
    model = ppl.compile_model(INFINITE % ("", "x ~ normal(b * x, 1);"))
    with pytest.raises(ppl.DataError, match=r"^data: x\[2\] and 1 more of x: infinite") as caught:
        getattr(model.condition({"x": [0.1, np.inf, -np.inf]}), method)()
    assert caught.value.variable == "x" and "starting points" in str(caught.value)


def test_infinite_bounds_are_data_as_any():
    model = ppl.compile_model(INFINITE % ("vector<upper=x>[3] y;", "y ~ normal(b, 1);"))
    fit = model.condition({"x": [1.0, np.inf, np.inf], "y": [0.5, 1.0, 3.0]}).variational(seed=3)
    assert abs(np.mean(fit.stan_variable("b")) - 4.5 / 4) < 0.1
