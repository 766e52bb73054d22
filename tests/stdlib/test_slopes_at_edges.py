"""Slopes where a formula breaks off: those that the real Stan has there."""

import numpy as np
import pytest

import ppl

# target += this of x, at which x, and the slope there.
SLOPES = [
    ("sqrt(x)", 0.0, 0.0),
    ("sqrt(x)", 4.0, 0.25),
    ("sqrt(x^2 + 0)", 0.0, 0.0),
    ("sqrt(dot_self([x, 0]'))", 0.0, 0.0),
    ("pow(x, 0.5)", 0.0, 0.0),
    ("pow(x, 0.7)", 0.0, 0.0),
    ("x^1.5", 0.0, 0.0),
    ("x^2", 0.0, 0.0),
    ("pow(x, 1)", 0.0, 1.0),
    ("pow(x, 3)", 2.0, 12.0),
    ("log_mix(x, -2, -1)", 0.0, np.exp(-1) - 1),
    ("log_mix(x, -2, -1)", 1.0, 1 - np.exp(1)),
    ("log_mix(x, -6.7, 0)", 0.0, np.exp(-6.7) - 1),
    ("log_mix(x, 0.03, 0)", 0.0, np.exp(0.03) - 1),
    ("log_mix(x, -2, -1)", 0.3, (np.exp(-2) - np.exp(-1)) / (0.3 * np.exp(-2) + 0.7 * np.exp(-1))),
    ("pareto_lccdf(x | 2, 3)", 2.0, -1.5),
    ("pareto_lccdf(x | 2, 3)", 1.5, 0.0),
    ("pareto_type_2_lccdf(x | 2, 3, 4)", 2.0, -4 / 3),
    ("pareto_type_2_lccdf(x | 2, 3, 4)", 1.0, 0.0),
]


@pytest.mark.parametrize(("term", "x", "slope"), SLOPES, ids=[f"{term} at {x}" for term, x, _ in SLOPES])
def test_slope(term, x, slope):
    posterior = ppl.compile_model(f"parameters {{ real x; }} model {{ target += {term}; }}").condition({})
    found = posterior.log_density_gradient(np.array([x]))[1]
    np.testing.assert_allclose(found, [slope], rtol=1e-12, atol=1e-14)
    together = posterior.log_density_gradients(np.full((5, 1), x))[1]
    np.testing.assert_allclose(together, np.full((5, 1), slope), rtol=1e-12, atol=1e-14)
