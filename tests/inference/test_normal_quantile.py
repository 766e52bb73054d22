"""Normal quantiles: those of SciPy."""

import numpy as np
from scipy.special import ndtri

from ppl.inference.numerics.normal_quantile import normal_quantile


def test_quantiles_are_those_of_scipy():
    tails = np.logspace(-300, -1, 2000)
    p = np.concatenate([tails, np.linspace(0.001, 0.999, 2000), 1 - np.logspace(-15, -1, 500)])
    np.testing.assert_allclose(normal_quantile(p), ndtri(p), rtol=1e-13, atol=1e-15)


def test_any_shape_and_order():
    p = np.array([[0.5, 1e-30, 0.99], [0.125, 0.875, 0.25]])
    assert normal_quantile(p).shape == (2, 3)
    assert normal_quantile(p)[1, 0] == -normal_quantile(p)[1, 1]
