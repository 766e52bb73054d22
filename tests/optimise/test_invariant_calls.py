"""A call that is the same in every iteration of a loop is made once, not once an iteration."""

import numpy as np
import pytest
from laws.passes import reference

import ppl

PROGRAM = """
functions {{ real weighed(vector a) {{ real s = 0; for (j in 1:size(a)) s += j * a[j]; return s; }} }}
data {{ int N; vector[N] y; }}
parameters {{ vector[3] v; }}
model {{ for (n in 1:N) {{ {} }} }}
"""
DATA = {"N": 4, "y": [0.5, -1.0, 2.0, 0.1]}


@pytest.mark.parametrize(
    "body, once",
    [
        ("y[n] ~ normal(weighed(v), 1);", True),
        ("if (y[n] > 0) target += weighed(v) * n;", True),
        ("y[n] ~ normal(weighed(v * y[n]), 1);", False),
    ],
)
def test_calls_of_what_no_iteration_changes(body: str, once: bool) -> None:
    text = PROGRAM.format(body)
    model, u = ppl.compile_model(text), np.array([0.3, -0.2, 1.1])
    assert ("weighed" in model.python_source.split("def log_joint")[1].split("\ndef ")[0]) is once
    got, expected = model.condition(DATA), reference(text, DATA)
    np.testing.assert_allclose(got.log_density(u), expected.log_density(u), rtol=1e-13)
    np.testing.assert_allclose(
        got.log_density_gradient(u)[1], expected.log_density_gradient(u)[1], rtol=1e-12
    )
