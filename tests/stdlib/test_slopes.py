"""Slopes at places that the points of the laws do not reach, and of what only other slopes call."""

import numpy as np
import pytest
from scipy import special

import ppl
from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.distributions.exp_mod_normal import log_density as log_exp_mod_normal
from ppl.stdlib.distributions.normal import standard_lcdf
from ppl.stdlib.functions.elementary import power
from ppl.stdlib.functions.gamma_functions import beta
from ppl.stdlib.functions.steps import fmax, fmin
from ppl.stdlib.special.mills import inverse_mills, mills_excess
from ppl.stdlib.special.polygamma import digamma, log_gamma, trigamma
from ppl.stdlib.truncation import _log_difference


def slope_of(function, *at, of=0):
    return value_and_grad(lambda x: function(AUTOGRAD, *at[:of], x, *at[of + 1 :]), at[of])[1]


def difference(function, *at, of=0, step=1e-5):
    ahead, behind = (function(NUMPY, *at[:of], at[of] + way, *at[of + 1 :]) for way in (step, -step))
    return (ahead - behind) / (2 * step)


@pytest.mark.parametrize("x", [-2.7, -0.3, 0.4, 3.5])
def test_gamma_functions_on_the_whole_line(x):
    assert digamma(NUMPY, x) == pytest.approx(special.psi(x))
    for function in (log_gamma, digamma, trigamma):
        assert slope_of(function, x) == pytest.approx(difference(function, x), rel=1e-6)


@pytest.mark.parametrize(("a", "b"), [(-0.07, 0.6), (-1.3, 0.4), (-0.4, -2.3), (0.3, -0.7), (0.3, 2.0)])
def test_the_beta_function_of_negative_numbers(a, b):
    """Its log1p of b / a is nan from -b to 0."""
    for k in range(2):
        assert slope_of(beta, a, b, of=k) == pytest.approx(difference(beta, a, b, of=k), rel=1e-6)


def test_digamma_at_its_poles():
    with np.errstate(divide="ignore"):
        assert np.isnan(digamma(NUMPY, -1.0)) and digamma(NUMPY, 0.0) == -np.inf


@pytest.mark.parametrize("t", [-30.0, -1.5, 0.7, 3.0])
def test_the_ratio_of_mills(t):
    assert slope_of(inverse_mills, t) == pytest.approx(difference(inverse_mills, t), rel=1e-6)


@pytest.mark.parametrize("z", [1e5, 1e10])
def test_slopes_in_the_far_tail_of_a_normal(z):
    """There the slope of log Phi is z, and log phi and log Phi are equal but for rounding."""
    assert slope_of(standard_lcdf, -z) == pytest.approx(z, rel=1e-9)
    posterior = ppl.compile_model(
        "parameters { real y; } model { 2 ~ ordered_probit(y, [0, 1]'); 1 ~ ordered_probit(y, [0, 1]'); }"
    ).condition()
    assert posterior.log_density_gradient(np.array([z]))[1] == pytest.approx(-2 * z, rel=2e-5)


@pytest.mark.parametrize("t", [-59.9, -60.1, -1e3, -1e8])
def test_the_ratio_of_mills_less_its_asymptote(t):
    series = sum(c / t ** (2 * k + 1) for k, c in enumerate((-1, 2, -10, 74, -706)))
    assert mills_excess(NUMPY, t) == pytest.approx(series, rel=1e-11)
    assert slope_of(mills_excess, t) == pytest.approx(1 / t**2, rel=10 / t**2)


@pytest.mark.parametrize("sigma", [1e5, 1e8])
def test_a_wide_exp_mod_normal_has_the_slope_of_a_normal_in_its_scale(sigma):
    slope = slope_of(log_exp_mod_normal, 1.5, 0.5, sigma, 0.75, of=2)
    assert slope == pytest.approx(-1 / sigma, rel=10 / sigma**2 + 1e-9)


@pytest.mark.parametrize("a, b", [(-0.1, -3.0), (-2.0, -2.3)])
def test_the_log_of_a_difference_of_chances(a, b):
    assert _log_difference(NUMPY, a, b) == pytest.approx(np.log(np.exp(a) - np.exp(b)))
    for of in (0, 1):
        assert slope_of(_log_difference, a, b, of=of) == pytest.approx(
            difference(_log_difference, a, b, of=of), rel=1e-6
        )


@pytest.mark.parametrize("function", [fmax, fmin])
def test_of_two_equal_numbers_one_has_the_whole_slope(function):
    assert sorted(slope_of(function, 1.5, 1.5, of=of) for of in (0, 1)) == [0.0, 1.0]


@pytest.mark.parametrize("x, slope", [(0.0, 0.0), (3.0, 3.0**2.5 * np.log(3.0))])
def test_a_power_of_zero_does_not_change_with_its_exponent(x, slope):
    assert slope_of(power, x, 2.5, of=1) == pytest.approx(slope)
