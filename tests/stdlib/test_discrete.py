"""The discrete families where it is hard: large shapes, deep tails, infinite log-odds.

Reference numbers are from 50-digit arithmetic.
"""

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.distributions import (
    bernoulli,
    beta_binomial,
    beta_neg_binomial,
    binomial,
    discrete_range,
    hypergeometric,
    neg_binomial,
    poisson,
)

NEG_BINOMIAL_2 = [  # y, mu, phi; log density and its derivatives in mu and phi
    (1500, 1400.5, 1e8, -8.0292508669153207, 0.071045059994298936, -4.1999943138002468e-13),
    (0, 3.0, 1e8, -2.9999999550000009, -0.9999999700000009, -4.4999998200000061e-16),
    (7, 3.0, 1e-6, -15.761435504476458, 4.4444429629634566e-7, 999986.2025424398),
    (10**8, 9e7, 2.3, -18.972405596877269, 2.8395061002743501e-9, 0.22711864240180035),
    (3, 2.5, 1e12, -1.5428872736069648, 0.1999999999995, 1.3749999999966667e-24),
]


@pytest.mark.parametrize("y, mu, phi, value, in_mu, in_phi", NEG_BINOMIAL_2)
def test_neg_binomial_2_at_any_shape(y, mu, phi, value, in_mu, in_phi):
    def by_mean(u):
        return neg_binomial.mean_log_density(AUTOGRAD, y, u[0], u[1])

    def by_log_mean(u):
        return neg_binomial.log_mean_log_density(AUTOGRAD, y, u[0], u[1])

    got, gradient = value_and_grad(by_mean, np.array([mu, phi]))
    assert_allclose([got, *gradient], [value, in_mu, in_phi], rtol=1e-12)
    got, gradient = value_and_grad(by_log_mean, np.array([np.log(mu), phi]))
    assert_allclose([got, *gradient], [value, in_mu * mu, in_phi], rtol=1e-11)


def test_neg_binomial_2_log_far_out():
    for eta in (-700.0, 700.0):
        value, slope = value_and_grad(lambda u: neg_binomial.log_mean_log_density(AUTOGRAD, 2, u, 3.0), eta)
        assert np.isfinite(value)
        assert slope == pytest.approx(2.0 if eta < 0 else -3.0, rel=1e-12)


@pytest.mark.parametrize("alpha", [-1000.0, -700.0, 700.0, 1000.0])
def test_bernoulli_logit_far_out(alpha):
    value, slope = value_and_grad(lambda u: bernoulli.logit_log_density(AUTOGRAD, 1, u), alpha)
    assert_allclose([value, slope], [alpha, 1.0] if alpha < 0 else [0.0, 0.0], rtol=1e-15, atol=1e-300)
    assert bernoulli.logit_log_density(NUMPY, 0, -alpha) == value


def test_poisson_log_at_a_vanishing_rate():
    value, slope = value_and_grad(lambda u: poisson.log_rate_log_density(AUTOGRAD, 4, u), -700.0)
    assert value == pytest.approx(-2800.0 - np.log(24.0), rel=1e-14)
    assert slope == 4.0


@np.errstate(all="ignore")
def test_rates_at_the_edge():
    zero_or_one = np.array([0, 1])
    assert_allclose(poisson.log_density(NUMPY, zero_or_one, 0.0), [0.0, -np.inf])
    assert_allclose(poisson.log_density(NUMPY, zero_or_one, np.inf), -np.inf)
    assert np.isnan(poisson.log_density(NUMPY, zero_or_one, -1.0)).all()
    assert_allclose(value_and_grad(lambda lam: poisson.log_density(AUTOGRAD, 0, lam), 0.0), (0.0, -1.0))


def test_a_certain_outcome_has_a_finite_slope():
    value, slope = value_and_grad(lambda p: bernoulli.log_density(AUTOGRAD, 1, p), 1.0)
    assert (value, slope) == (0.0, 1.0)
    value, slope = value_and_grad(lambda p: binomial.log_density(AUTOGRAD, 0, 3, p), 0.0)
    assert (value, slope) == (pytest.approx(0.0, abs=1e-15), -3.0)


def test_counts_beyond_the_trials_are_impossible():
    for density in (binomial.log_density, binomial.logit_log_density):
        assert density(NUMPY, 5, 3, 0.4) == -np.inf
    assert beta_binomial.log_density(NUMPY, 5, 3, 1.0, 1.0) == -np.inf


@pytest.mark.parametrize(
    "args, value",
    [((3000, 10000, 12.0, 25.0), -7.58332252078197), ((30, 100, 1e8, 2e8), -2.6988306616584263)],
)
def test_beta_binomial_at_large_arguments(args, value):
    assert beta_binomial.log_density(NUMPY, *args) == pytest.approx(value, rel=1e-11)


def test_logs_of_tails_that_underflow():
    assert poisson.POISSON.lcdf(NUMPY, 3, 1000.0) == pytest.approx(-981.06549213528388, rel=1e-13)
    assert poisson.POISSON.lccdf(NUMPY, 300, 0.001) == pytest.approx(-3499.8482958721764, rel=1e-13)
    assert binomial.BINOMIAL.lccdf(NUMPY, 39, 40, 0.1) == pytest.approx(-92.103403719761827, rel=1e-13)
    assert binomial.BINOMIAL.lccdf(NUMPY, 1499, 2000, 0.001) == pytest.approx(-9241.3451280040909, rel=1e-13)


def test_gradient_of_a_log_tail_that_underflows():
    """P(Y <= 3) is nearly the mass at 3, whose log has slope 3 / lambda - 1."""
    _, slope = value_and_grad(lambda rate: poisson.POISSON.lcdf(AUTOGRAD, 3, rate), 1e4)
    ratio = np.exp(poisson.log_density(NUMPY, 3, 1e4) - poisson.POISSON.lcdf(NUMPY, 3, 1e4))
    assert slope == pytest.approx(-ratio, rel=1e-9)
    assert slope == pytest.approx(3.0 / 1e4 - 1.0, rel=1e-6)


ENDS = [
    (poisson.POISSON, (2.0,), 10**9),
    (binomial.BINOMIAL, (5, 0.3), 5),
    (beta_binomial.BETA_BINOMIAL, (5, 1.5, 0.7), 5),
    (bernoulli.BERNOULLI, (0.3,), 1),
    (discrete_range.DISCRETE_RANGE, (0, 4), 4),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("family, parameters, most", ENDS, ids=lambda x: getattr(x, "name", ""))
def test_cumulative_functions_are_exact_beyond_the_ends(family, parameters, most):
    assert family.lcdf(NUMPY, most, *parameters) == 0.0
    assert family.lccdf(NUMPY, -1, *parameters) == 0.0
    assert family.lcdf(NUMPY, -1, *parameters) == -np.inf
    assert family.cdf(NUMPY, -1, *parameters) == 0.0


def test_hypergeometric_agrees_with_scipy():
    y, (draws, good, bad) = np.arange(-1, 14), (12, 8, 10)
    reference = scipy.stats.hypergeom(good + bad, good, draws)
    assert_allclose(hypergeometric.log_density(NUMPY, y, draws, good, bad), reference.logpmf(y), rtol=1e-12)
    rng = np.random.default_rng(3)
    several = [hypergeometric.HYPERGEOMETRIC.rng(rng, draws, good, bad) for _ in range(2000)]
    assert np.mean(several) == pytest.approx(reference.mean(), abs=5 * reference.std() / 2000**0.5)


def test_beta_neg_binomial_agrees_with_scipy():
    y, reference = np.arange(30), scipy.stats.betanbinom(3, 2.3, 0.7)
    assert_allclose(beta_neg_binomial.log_density(NUMPY, y, 3, 2.3, 0.7), reference.logpmf(y), rtol=1e-12)
    assert_allclose(beta_neg_binomial.lccdf(NUMPY, y, 3, 2.3, 0.7), reference.logsf(y), rtol=1e-10)


def test_each_draw_of_a_compound_has_its_own_chance():
    """With one chance shared by all, the counts of a beta-binomial would have the variance of a binomial."""
    draws = beta_binomial.rng(np.random.default_rng(5), np.full(20_000, 10), 1.0, 1.0)
    assert np.var(draws) == pytest.approx(scipy.stats.betabinom(10, 1.0, 1.0).var(), rel=0.05)


@pytest.mark.parametrize(
    "function, y, slope",
    [(bernoulli.lcdf, 0, -1 / 0.7), (bernoulli.lcdf, 1, 0.0), (bernoulli.lccdf, 0, 1 / 0.3)],
)
def test_the_sums_of_a_coin_have_a_slope_where_they_depend_on_its_chance(function, y, slope):
    assert value_and_grad(lambda theta: function(AUTOGRAD, y, theta), 0.3)[1] == pytest.approx(slope)


BETA_NEG_BINOMIAL_TAILS = [  # y, r, alpha, beta; log P(Y > y)
    (50, 6.54, 37.8, 8.63, -31.88109193973779),
    (500, 3.0, 5.0, 0.5, -24.696090039095534),
    (10, 80.5, 56.4, 0.3, -7.76430356378913),
    (42, 30.7, 37.56, 0.0309, -30.44639763237093),
    (3, 0.5, 10000.0, 2.0, -33.35171174540367),
    (2000, 50.0, 10.0, 20.0, -20.008415078097453),
    (10000, 0.3, 4.0, 0.3, -37.84984829959341),
]


@pytest.mark.parametrize("y, r, alpha, beta, value", BETA_NEG_BINOMIAL_TAILS)
def test_the_tail_of_a_beta_neg_binomial_is_that_of_a_power(y, r, alpha, beta, value):
    assert beta_neg_binomial.lccdf(NUMPY, y, r, alpha, beta) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(
    "args, value",
    [
        ((10**9, 3.0, 2.0, 0.7), -59.51093756442779),
        ((2 * 10**9, 300.0, 2.0, 0.7), -52.66439341219053),
        ((1000, 5.0, 1e9, 1e9), -672.1497168890435),
    ],
)
def test_beta_neg_binomial_at_large_arguments(args, value):
    assert beta_neg_binomial.log_density(NUMPY, *args) == pytest.approx(value, rel=2e-13)
