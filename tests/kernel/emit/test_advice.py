"""The advice with a density that is not finite blames parameters only where parameters are in it."""

import numpy as np
import pytest

from ppl import compile_model

DECLARED = "data { real y; vector[2] v; } parameters { real mu; real s; } model { mu ~ normal(0, 1); "
DATA = {"y": -1.0, "v": [1.0, -2.0]}


def advice(statement, u=(0.3, 0.7)):
    return compile_model(DECLARED + statement + " }").condition(DATA).explain(np.array(u))


@pytest.mark.parametrize(
    "statement",
    [
        "y ~ normal(mu, -1);",
        "y ~ normal(mu, y);",
        "mu ~ normal(0, v);",
        "y ~ exponential(exp(mu));",
    ],
)
def test_what_is_the_same_for_all_parameters_is_looked_for_in_the_data(statement):
    assert "does not depend on the parameters" in advice(statement)


@pytest.mark.parametrize(
    "statement", ["y ~ normal(mu, s - 5);", "y ~ normal(log(s - 5), 1);", "target += log(mu - 5);"]
)
def test_what_moves_with_the_parameters_is_put_right_there(statement):
    found = advice(statement)
    assert "a constraint on the parameter" in found and "does not depend" not in found


def test_a_density_of_zero_points_to_the_variate():
    assert "on the edge of the support" in advice("0.0 ~ lognormal(mu, 1);")


def test_a_variate_that_rounds_to_its_bound_is_a_parameter():
    """At 40 and near it x is 1; that is not the data's fault."""
    program = "parameters { real<lower=0, upper=1> x; } model { x ~ beta(0.5, 0.5); }"
    found = compile_model(program).condition({}).explain(np.array([40.0]))
    assert "The density is infinite there" in found and "does not depend" not in found


def test_a_function_that_adds_a_jacobian_is_called_on_the_way():
    program = """
    parameters { real x; }
    transformed parameters { real s = lower_bound_jacobian(x, 0); }
    model { x ~ normal(0, s - 5); }
    """
    assert "argument 2 of `normal" in compile_model(program).condition({}).explain(np.array([0.3]))


def test_a_density_of_zero_names_the_entry_and_its_arguments():
    assert "`uniform_lpdf` of -2, -1, 5.7 is -inf at [2]" in advice("v ~ uniform(-1, s + 5);")
