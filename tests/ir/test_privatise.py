"""Which declarations move into the loop that uses them, and which must not."""

import numpy as np
import pytest

import ppl

# Each iteration fills all of w before it reads any, and nothing after the loop reads it.
FILLED = """
    array[2] real w;
    real sum = 0;
    for (i in 1:3) { w[1] = i * x; w[2] = w[1] + 1; sum += w[2]; }
"""
OF_A_VECTOR = """
    vector[2] w;
    real sum = 0;
    for (i in 1:3) { for (k in 1:2) { w[k] = i * x + k - 1; } sum += w[2]; }
"""


@pytest.mark.parametrize("filled", [FILLED, OF_A_VECTOR])
@pytest.mark.parametrize("block", ["transformed parameters", "generated quantities"])
def test_an_output_stays_where_it_is_declared(block, filled):
    """Its last values are read when the program ends: w = (3 x, 3 x + 1), and sum = 6 x + 3."""
    text = f"parameters {{ real x; }} {block} {{ {filled} }}"
    if block == "transformed parameters":
        text += " model { sum ~ normal(0, 1); }"
    else:
        text = text.replace(block, "model { x ~ normal(0, 1); } " + block)
    posterior = ppl.compile_model(text).condition()
    names = posterior.param_names(include_tp=True, include_gq=True)
    values = posterior.param_constrain(np.array([0.5]), include_tp=True, include_gq=True)
    assert len(values) == len(names) == 4
    np.testing.assert_allclose(dict(zip(names, values, strict=True))["sum"], 6.0)
    np.testing.assert_allclose(values, [0.5, 1.5, 2.5, 6.0])


def test_an_output_of_transformed_data_is_read_by_later_blocks():
    text = f"""
    data {{ real x; }}
    transformed data {{ {FILLED} }}
    parameters {{ real u; }}
    model {{ u ~ normal(w[2], sum); }}
    """
    posterior = ppl.compile_model(text).condition({"x": 0.5})
    expected = -0.5 * ((1.0 - 2.5) / 6.0) ** 2 - np.log(6.0) - 0.5 * np.log(2 * np.pi)
    assert posterior.log_density(np.array([1.0])) == pytest.approx(expected)
