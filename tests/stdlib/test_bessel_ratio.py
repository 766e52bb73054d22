"""The Bessel functions of the von Mises distribution and their slopes, at zero and far out too."""

import numpy as np
import pytest
from scipy import special

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.special.log_bessel import bessel_ratio, log_scaled_i0


@pytest.mark.parametrize("k", [0.3, 2.0, 40.0])
def test_slopes_are_finite_differences(k):
    for function in (bessel_ratio, log_scaled_i0):
        value, slope = value_and_grad(lambda x, f=function: f(AUTOGRAD, x), k)
        ahead, behind = (function(NUMPY, k + step) for step in (1e-5, -1e-5))
        assert slope == pytest.approx((ahead - behind) / 2e-5, rel=1e-6)
        assert value == function(NUMPY, k)


def test_values_are_those_of_scipy():
    assert bessel_ratio(NUMPY, 2.0) == pytest.approx(special.iv(1, 2.0) / special.iv(0, 2.0))
    assert log_scaled_i0(NUMPY, 2.0) == pytest.approx(np.log(special.iv(0, 2.0)) - 2.0)


def test_at_zero_the_ratio_is_zero_with_slope_a_half():
    assert value_and_grad(lambda k: bessel_ratio(AUTOGRAD, k), 0.0) == (0.0, 0.5)
    assert value_and_grad(lambda k: log_scaled_i0(AUTOGRAD, k), 0.0) == (0.0, -1.0)
