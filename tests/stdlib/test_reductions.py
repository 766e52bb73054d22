"""Reductions where they are hard: empty containers, ties, zeros, infinities, huge numbers."""

import autograd.numpy as anp
import numpy as np
import pytest
import scipy.special
from autograd import grad
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.functions import log_sums, products, sums

INF = np.inf


@pytest.mark.parametrize(
    "reduce, expected",
    [
        (sums.total, 0.0),
        (sums.product, 1.0),
        (sums.least, INF),
        (sums.greatest, -INF),
        (log_sums.log_sum_exp, -INF),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_nothing(reduce, expected):
    assert reduce(NUMPY, np.zeros(0)) == expected


@pytest.mark.parametrize("x", [[2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 3.0, 0.0]])
def test_slope_of_a_product_is_the_product_of_the_others(x):
    _, slope = value_and_grad(lambda x: sums.product(AUTOGRAD, x), np.array(x))
    assert_allclose(slope, [x[1] * x[2], x[0] * x[2], x[0] * x[1]])


def test_moments_agree_with_numpy():
    x = np.random.default_rng(1).normal(1e6, 1.0, 50)
    assert sums.variance(NUMPY, x) == pytest.approx(np.var(x, ddof=1), rel=1e-12)
    assert sums.sd(NUMPY, x) == pytest.approx(np.std(x, ddof=1), rel=1e-12)
    assert sums.variance(NUMPY, x[:1]) == 0.0


def test_sd_of_equal_elements_has_a_finite_slope():
    _, slope = value_and_grad(lambda x: sums.sd(AUTOGRAD, x), np.ones(4))
    assert_allclose(slope, 0.5)


def test_norm_at_the_origin_has_a_finite_slope():
    value, slope = value_and_grad(lambda x: products.distance(AUTOGRAD, x, np.ones(3)), np.ones(3))
    assert value == 0.0
    assert_allclose(slope, 0.0)


def test_quantiles_are_of_type_7():
    x = np.array([9.0, 1.0, 4.0, 7.0, 2.0])
    p = np.array([0.0, 0.1, 0.5, 0.77, 1.0])
    assert_allclose(sums.quantile(NUMPY, x, p), np.quantile(x, p), rtol=1e-14)


@pytest.mark.parametrize(
    "x, expected",
    [
        ([1000.0, 1000.0], 1000.0 + np.log(2.0)),
        ([-1000.0, -1000.0], -1000.0 + np.log(2.0)),
        ([-INF, 3.0], 3.0),
        ([-INF, -INF], -INF),
        ([INF, 3.0], INF),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_log_sum_exp_at_the_ends(x, expected):
    assert log_sums.log_sum_exp(NUMPY, np.array(x)) == pytest.approx(expected, rel=1e-15)
    assert log_sums.log_sum_exp_pair(NUMPY, *x) == pytest.approx(expected, rel=1e-15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_log_sum_exp_of_impossible_terms_has_no_slope():
    _, slope = value_and_grad(lambda x: log_sums.log_sum_exp(AUTOGRAD, x), np.array([-INF, -INF]))
    assert_allclose(slope, 0.0)
    _, slope = value_and_grad(lambda x: log_sums.log_sum_exp(AUTOGRAD, x), np.array([-INF, 2.0]))
    assert_allclose(slope, [0.0, 1.0])


def test_softmax_of_huge_numbers():
    x = np.array([1e4, 1e4 - 1.0, -1e4])
    share = 1.0 / (1.0 + np.exp(-1.0))
    assert_allclose(log_sums.softmax(NUMPY, x), [share, 1.0 - share, 0.0], rtol=1e-14)
    assert_allclose(log_sums.log_softmax(NUMPY, x), [np.log(share), np.log(share) - 1.0, np.log(share) - 2e4])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_mixture_may_have_weight_zero_or_impossible_components():
    assert log_sums.log_mix_pair(NUMPY, 0.0, 5.0, -800.0) == -800.0
    assert log_sums.log_mix_pair(NUMPY, 1.0, -800.0, 5.0) == -800.0
    value, slope = value_and_grad(lambda t: log_sums.log_mix_pair(AUTOGRAD, t, -INF, -2.0), 0.25)
    assert value == pytest.approx(np.log(0.75) - 2.0)
    assert slope == pytest.approx(-1.0 / 0.75)


def slope_of_mix(k, *given):
    """That of log_mix in argument k, summed over its entries."""

    def mixed(a):
        return anp.sum(log_sums.log_mix_pair(AUTOGRAD, *given[:k], a, *given[k + 1 :]))

    return grad(mixed)(given[k])


@pytest.mark.parametrize("theta", [1e-12, 0.3, 1.0 - 1e-9])
@pytest.mark.parametrize("x", [np.array([-800.0, -40.0, -1.0, 0.0, 3.0, 700.0]), np.full(100, -2.0)])
def test_the_slopes_of_a_pair_keep_both_shares(theta, x):
    """Of few numbers and of many, whose logarithms are taken differently."""
    y = np.full(len(x), -3.0)
    total = np.logaddexp(np.log(theta) + x, np.log1p(-theta) + y)
    in_theta, in_x, in_y = (slope_of_mix(k, np.full(len(x), theta), x, y) for k in range(3))
    assert_allclose(in_x, np.exp(np.log(theta) + x - total), rtol=1e-12)
    assert_allclose(in_y, np.exp(np.log1p(-theta) + y - total), rtol=1e-12)
    assert_allclose(in_theta, np.exp(x - total) - np.exp(y - total), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("theta", [0.0, 1.0])
def test_a_mixture_of_weight_zero_or_one_has_finite_slopes(theta):
    assert slope_of_mix(1, theta, 0.5, -0.5) == theta
    assert slope_of_mix(2, theta, 0.5, -0.5) == 1.0 - theta
    assert np.isfinite(slope_of_mix(0, theta, 0.5, -0.5))


def test_log_mix_of_an_array_is_the_sum_over_it():
    theta, lps = np.array([0.2, 0.5, 0.3]), np.random.default_rng(2).normal(size=(4, 3))
    each = [log_sums.log_mix(NUMPY, theta, row) for row in lps]
    assert log_sums.log_mix_rows(NUMPY, theta, lps) == pytest.approx(sum(each), rel=1e-14)
    assert each[0] == pytest.approx(np.log(np.sum(theta * np.exp(lps[0]))), rel=1e-14)


@pytest.mark.parametrize("terms", [2, 3])
def test_log_sum_exp_of_rows(terms):
    """Two terms go by one exponential, more by the largest."""
    x = np.random.default_rng(1).normal(scale=300.0, size=(40, terms))
    expected = scipy.special.logsumexp(x, axis=-1)
    np.testing.assert_allclose(log_sums.log_sum_exp(NUMPY, x), expected, rtol=1e-14)
    weights = np.arange(1.0, 41.0)
    value, slope = value_and_grad(lambda x: AUTOGRAD.np.sum(weights * log_sums.log_sum_exp(AUTOGRAD, x)), x)
    assert value == pytest.approx(weights @ expected, rel=1e-13)
    np.testing.assert_allclose(slope, weights[:, None] * scipy.special.softmax(x, axis=-1), atol=1e-12)
