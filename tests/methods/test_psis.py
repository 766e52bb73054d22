import math

import numpy as np
import pytest
from scipy import stats

from ppl.methods.correct.standard_errors import heaviness
from ppl.methods.correct.weight_quality import is_reliable
from ppl.methods.diagnose.psis import (
    Psis,
    fit_pareto,
    khat_se,
    khat_threshold,
    pareto_midpoints,
    pareto_survival,
    psis,
)


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
    assert np.exp(smooth.log_weights).sum() == pytest.approx(1)


def ratios_of(seed):
    """Log ratios of another tail and number with each seed."""
    rng = np.random.default_rng(seed)
    n = int(np.geomspace(100, 8000, 20)[seed])
    scale = (0.05, 0.5, 1.0, 2.0)[seed % 4]
    match seed % 5:
        case 0:
            return scale * rng.exponential(size=n)  # a Pareto tail of that shape
        case 1:
            return scale * rng.normal(size=n)
        case 2:
            return np.log(rng.uniform(size=n))  # bounded
        case 3:
            return -0.5 * (scale * rng.standard_t(5, size=n)) ** 2  # bounded, the largest alike
        case _:
            return 1000 * rng.normal(size=n)  # nearly all weight on one


@pytest.mark.parametrize("seed", range(20))
def test_weights_and_khat_are_those_of_arviz(seed):
    from laws.arviz import psislw

    ratios = ratios_of(seed)
    smooth = psis(ratios)
    expected, khat = psislw(ratios)
    assert smooth.khat == pytest.approx(float(khat), abs=1e-8, rel=1e-8)
    np.testing.assert_allclose(smooth.log_weights, expected, rtol=0, atol=1e-8)


def test_equal_ratios_at_the_edge_of_the_tail_get_equal_weights_as_in_arviz():
    from laws.arviz import psislw

    ratios = np.round(np.random.default_rng(7).normal(size=4000), 1)
    smooth = psis(ratios)
    expected, khat = psislw(ratios)
    assert smooth.khat == pytest.approx(float(khat), abs=1e-8)
    # Of draws with equal ratios in the tail either may come first.
    np.testing.assert_allclose(np.sort(smooth.log_weights), np.sort(expected), rtol=0, atol=1e-8)
    edge = np.sort(ratios)[-math.ceil(3 * 4000**0.5) - 1]
    assert len(np.unique(smooth.log_weights[ratios == edge])) == 1


@pytest.mark.parametrize("low", [-1000.0, -math.inf])
@pytest.mark.parametrize("heavy", [1, 4])
def test_a_few_draws_with_all_the_weight_are_never_reliable(heavy, low):
    ratios = np.full(4000, low)
    ratios[:heavy] = np.linspace(0, 0.1, heavy)
    smooth = psis(ratios)
    assert smooth.khat == math.inf and not smooth.reliable
    assert smooth.ess == pytest.approx(heavy, rel=0.01)


def test_five_draws_in_the_tail_are_needed_and_enough():
    ratios = np.random.default_rng(8).normal(size=21)
    assert math.isfinite(psis(ratios).khat)
    few = psis(ratios[:20])
    assert math.isnan(few.khat)
    np.testing.assert_allclose(np.exp(few.log_weights), np.exp(ratios[:20]) / np.exp(ratios[:20]).sum())
    five = psis(np.append(np.full(95, -1000.0), np.linspace(-2, 0, 5)))
    assert math.isfinite(five.khat) and five.ess < 5


def test_most_weights_equal_and_the_rest_lower_is_no_tail():
    smooth = psis(np.append(np.zeros(500), np.full(500, -3.0)))
    assert smooth.khat == -math.inf
    assert np.exp(smooth.log_weights).sum() == pytest.approx(1)


def test_no_smoothed_weight_is_above_the_largest_raw_one():
    """A heavy tail whose last quantile lies beyond every draw is cut off (Vehtari et al. 2024, section 3)."""
    ratios = -0.9 * np.log(np.random.default_rng(9).uniform(size=1000))
    ratios = np.minimum(ratios, np.sort(ratios)[-5])
    smoothed = psis(ratios).log_weights
    unchanged = np.argmin(ratios)
    assert (smoothed - smoothed[unchanged]).max() == pytest.approx(
        (ratios - ratios[unchanged]).max(), abs=1e-9
    )


def test_the_prior_of_ten_draws_pulls_khat_to_a_half():
    """Of 10 excesses half of what is said is the prior's; of 10,000 a thousandth."""
    excess = stats.genpareto(-0.9).ppf((np.arange(1, 11) - 0.5) / 10)
    found, scale = fit_pareto(excess)
    # The scale is that of the shape before the prior: -shape / scale is the same theta in the sorted profile.
    before = 2 * found - 0.5
    assert np.log1p(before / scale * excess).mean() == pytest.approx(before)
    assert found > before


def test_smoothed_tails_are_the_quantiles_of_scipy():
    for shape in (-0.4, 0.0, 1e-9, 0.8):
        expected = stats.genpareto(shape, scale=2.0).ppf((np.arange(1, 8) - 0.5) / 7)
        np.testing.assert_allclose(pareto_midpoints(7, shape, 2.0), expected, rtol=1e-6)


def test_at_the_threshold_itself_draws_do_not_suffice():
    weights = np.full(4000, -math.log(4000))
    assert Psis(weights, 0.69).reliable and not Psis(weights, 0.7).reliable
    assert khat_threshold(1) == khat_threshold(2) == pytest.approx(1 - 1 / math.log10(2))


@pytest.mark.parametrize("tied", [90, 100, 111, 120])
def test_ratios_that_differ_by_rounding_alone_keep_their_weights(tied):
    """Of a tail of 100 to 120 equal excesses a candidate for theta is 0; the likelihood has a limit there."""
    shape, scale = fit_pareto(np.ones(tied))
    assert shape < -1 and scale > 0
    found = psis(np.concatenate([np.zeros(2097 - tied), np.full(tied, 1e-12)]))
    assert found.khat == pytest.approx(shape) and found.ess == pytest.approx(2097)


def test_a_heavy_tail_of_next_to_no_weight_makes_weights_no_less_reliable():
    """Draws of Student's t of which a few have larger weights, up to five, as those by latent blocks have."""
    rare = ((np.arange(28_000) + 0.5) / 28_000) ** -1.1
    found = psis(np.log(1 + 4 * rare / rare.max()))
    assert found.khat > 0.9 and found.ess > 0.98 * 28_000 and not found.reliable
    assert found.light_tail and is_reliable(found) and heaviness(found) == 1
    uneven = psis(np.log(1 + 200 * rare / rare.max()))  # 2% of all weight is above the cutoff
    assert uneven.khat > 0.9 and not uneven.light_tail and not is_reliable(uneven)


def test_a_ratio_far_beyond_the_tail_of_the_others_is_no_tail():
    """One draw in a peak with half of the mass: smoothing by the others would take its weight away."""
    log_ratios = np.random.default_rng(1).normal(0, 0.1, 4096)
    log_ratios[17] = np.log(4096)
    found = psis(log_ratios)
    assert found.khat == np.inf and np.exp(found.log_weights[17]) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("shape", [0.1, 0.4, 0.7, 1.0])
def test_no_tail_that_falls_off_like_a_power_has_such_a_ratio(shape):
    rng = np.random.default_rng(2)
    found = [psis(shape * rng.standard_exponential(1000)).khat for _ in range(300)]
    assert np.isfinite(found).all()


def test_the_chance_of_a_pareto_tail_is_that_of_scipy():
    for shape in (-0.3, 0.0, 0.6):
        found = [pareto_survival(x, shape, 2.0) for x in (0.0, 1.0, 6.0, 9.0)]
        np.testing.assert_allclose(found, stats.genpareto.sf([0.0, 1.0, 6.0, 9.0], shape, scale=2.0))


@pytest.mark.parametrize("shape", [0.2, 0.7])
def test_the_standard_error_of_khat_is_its_spread(shape):
    log_ratios = shape * np.random.default_rng(4).exponential(size=(300, 1000))
    khats = np.array([psis(each).khat for each in log_ratios])
    assert khats.std() == pytest.approx(khat_se(np.array(shape), 1000), rel=0.25)
    assert khat_se(np.array([-np.inf, np.inf]), 1000) == pytest.approx([0.5 / np.sqrt(95), np.inf])
