"""Ratios of gamma functions against 50-digit arithmetic, and their derivatives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.special.log_gamma_ratio import (
    CUTOFF,
    digamma_excess,
    digamma_rise,
    log_beta,
    log_choose,
    log_rise,
)

KNOWN = [  # a, b; log B(a, b), lgamma(a + b) - lgamma(a), digamma(a + b) - digamma(a)
    (5.0, 1e9, -100.43827536438411, 19723265927.941992, 19.217148173014611),
    (1e8, 3.0, -54.568895081297151, 55.262042261857096, 2.9999999700000005e-8),
    (1e6, 2e6, -1909548.290968533, 28926857.432626677, 1.0986126220015171),
]


@pytest.mark.parametrize("a, b, beta, rise, slope", KNOWN)
def test_known_values(a, b, beta, rise, slope):
    assert log_beta(NUMPY, a, b) == pytest.approx(beta, rel=1e-13)
    assert log_beta(NUMPY, b, a) == pytest.approx(beta, rel=1e-13)
    assert log_rise(NUMPY, a, b) == pytest.approx(rise, rel=1e-13)
    assert digamma_rise(NUMPY, a, b) == pytest.approx(slope, rel=1e-13)


def test_the_two_formulas_meet_at_the_cutoff():
    below, above = np.nextafter(CUTOFF, 0.0), CUTOFF
    for n in (0.5, 3.0, 40.0):
        for f in (log_rise, log_beta, digamma_excess):
            assert f(NUMPY, below, n) == pytest.approx(f(NUMPY, above, n), rel=2e-13)


def test_the_digamma_excess_of_a_large_argument():
    """n / (2 a^2) to first order, far below the rounding of digamma itself."""
    assert digamma_excess(NUMPY, 1e8, 6.0) == pytest.approx(3e-16, rel=1e-7)


def test_binomial_coefficients():
    n = np.array([0, 5, 5, 52, 1000])
    k = np.array([0, 0, 2, 5, 500])
    expected = [0.0, 0.0, np.log(10), np.log(2598960), 689.4672615678512]
    assert_allclose(log_choose(NUMPY, n, k), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("f", [log_rise, log_beta], ids=["log_rise", "log_beta"])
@pytest.mark.parametrize("a, b", [(0.4, 2.0), (3.0, 25.0), (40.0, 0.7), (300.0, 80.0)])
def test_gradients_are_central_differences(f, a, b):
    at = np.array([a, b])
    _, gradient = value_and_grad(lambda u: f(AUTOGRAD, u[0], u[1]), at)
    steps = np.diag(1e-5 * at)
    slopes = [(f(NUMPY, *(at + s)) - f(NUMPY, *(at - s))) / (2 * s.sum()) for s in steps]
    assert_allclose(gradient, slopes, rtol=1e-7)
