import math

import numpy as np
import pytest
from scipy import stats

from ppl.inference.psis import fit_pareto, khat_threshold, psis


@pytest.mark.parametrize("shape", [-0.3, 0.2, 0.5, 0.8, 1.2])
def test_fit_recovers_a_generalised_pareto(shape):
    excess = np.sort(stats.genpareto(shape, scale=2.0).rvs(20_000, random_state=1))
    found_shape, found_scale = fit_pareto(excess)
    assert found_shape == pytest.approx(shape, abs=0.04)
    assert found_scale == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("shape", [0.3, 0.6, 0.9])
def test_khat_is_the_tail_shape_of_pareto_ratios(shape):
    uniform = np.random.default_rng(2).uniform(size=100_000)
    assert psis(-shape * np.log(uniform)).khat == pytest.approx(shape, abs=0.08)


def test_a_narrow_q_has_a_high_khat_and_a_wide_one_a_low():
    def khat(scale):
        q = stats.norm(scale=scale)
        u = q.rvs(4000, random_state=3)
        return psis(stats.norm.logpdf(u) - q.logpdf(u)).khat

    # For N(0, 1) / N(0, s^2) the ratio has tail shape 1 - s^2 for s < 1, and is bounded for s > 1.
    assert khat(0.5) > 0.6
    assert khat(1.5) < 0.3


def test_weights_estimate_moments():
    q = stats.norm(loc=0.5, scale=1.3)
    u = q.rvs(20_000, random_state=4)
    smooth = psis(stats.norm.logpdf(u) - q.logpdf(u))
    weights = np.exp(smooth.log_weights)
    assert weights.sum() == pytest.approx(1)
    assert weights @ u == pytest.approx(0, abs=0.03)
    assert weights @ u**2 == pytest.approx(1, abs=0.05)
    assert smooth.reliable and 5000 < smooth.ess < 20_000


def test_a_constant_changes_nothing_and_overflows_nothing():
    ratios = np.random.default_rng(5).normal(size=1000)
    np.testing.assert_allclose(psis(ratios + 1e5).log_weights, psis(ratios).log_weights, atol=1e-8)


def test_order_is_kept_and_only_the_tail_is_touched():
    ratios = np.random.default_rng(6).normal(size=1000)
    smooth = psis(ratios)
    np.testing.assert_array_equal(np.argsort(smooth.log_weights), np.argsort(ratios))
    tail = math.ceil(3 * 1000**0.5)
    shift = np.sort(smooth.log_weights - ratios.max()) - np.sort(ratios - ratios.max())
    np.testing.assert_allclose(shift[:-tail], shift[0], atol=1e-12)
    assert np.abs(shift[-tail:] - shift[0]).max() > 0.01


def test_equal_weights_and_too_few_draws_are_told_apart():
    equal = psis(np.full(500, 3.0))
    assert equal.khat == -math.inf and equal.reliable and equal.ess == pytest.approx(500)
    few = psis(np.arange(10.0))
    assert math.isnan(few.khat) and not few.reliable


def test_threshold_follows_the_number_of_draws():
    assert khat_threshold(100) == pytest.approx(0.5)
    assert khat_threshold(4000) == 0.7


@pytest.mark.parametrize("worst", [math.inf, math.nan])
def test_a_ratio_that_is_not_finite_has_no_tail_to_fit(worst):
    smooth = psis(np.append(np.zeros(99), worst))
    assert smooth.khat == math.inf and not smooth.reliable
    assert np.isfinite(smooth.log_weights).all()
