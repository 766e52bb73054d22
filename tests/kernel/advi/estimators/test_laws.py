"""Laws that hold for every estimator in the table, with every family."""

import numpy as np
import pytest
from toy_targets import Gaussian, HalfSpace, Quartic, correlated, numeric_gradient, params_of

from ppl.kernel.advi.estimators import ESTIMATORS
from ppl.kernel.advi.estimators.stochastic_search import _best_scales
from ppl.kernel.advi.families import FAMILIES

DIM = 3
# A constant c adds c times the score, whose mean is zero but whose variance is not.
NOT_INVARIANT = ("score-function",)


def gaussian_elbo(target, family, params):
    """The ELBO of a Gaussian q against a Gaussian target, in closed form."""
    off = family.mean(params) - target.mean
    quadratic = np.trace(target.precision @ family.covariance(params)) + off @ target.precision @ off
    log_det = np.linalg.slogdet(2 * np.pi * target.covariance)[1]
    return target.shift - 0.5 * (quadratic + log_det) + family.entropy(params)


@pytest.mark.rotate
@pytest.mark.parametrize("family_name", FAMILIES)
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_unbiased_against_the_closed_form(estimator, family_name):
    target, family = correlated(DIM), FAMILIES[family_name](DIM)
    params = params_of(family, DIM)
    rng = np.random.default_rng(5)
    estimates = np.array([estimator(target, family, params, 10, rng).gradient for _ in range(700)])
    exact = numeric_gradient(lambda p: gaussian_elbo(target, family, p), params)
    se = estimates.std(axis=0) / len(estimates) ** 0.5
    assert np.all(np.abs(estimates.mean(axis=0) - exact) < 4.5 * se + 1e-6)


@pytest.mark.rotate
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_unbiased_where_the_target_is_not_gaussian(estimator):
    """The mean-field ELBO of a quartic is in closed form: E u^4 = m^4 + 6 m^2 s^2 + 3 s^4."""
    slope = np.array([1.0, -0.5, 2.0])
    target, family = Quartic(slope), FAMILIES["meanfield"](DIM)
    params = params_of(family, DIM)

    def elbo(params):
        m, s2 = family.mean(params), family.scales(params) ** 2
        return float((slope * m - (m**4 + 6 * m**2 * s2 + 3 * s2**2) / 4).sum()) + family.entropy(params)

    rng = np.random.default_rng(9)
    estimates = np.array([estimator(target, family, params, 10, rng).gradient for _ in range(3000)])
    se = estimates.std(axis=0) / len(estimates) ** 0.5
    assert np.all(np.abs(estimates.mean(axis=0) - numeric_gradient(elbo, params)) < 4.5 * se)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in NOT_INVARIANT])
def test_a_constant_in_the_log_density_changes_nothing(name):
    target, family = correlated(DIM), FAMILIES["fullrank"](DIM)
    shifted = type(target)(target.mean, target.covariance, shift=1e5)
    params = params_of(family, DIM)
    plain, moved = (
        ESTIMATORS[name](t, family, params, 3, np.random.default_rng(0)) for t in (target, shifted)
    )
    np.testing.assert_allclose(moved.gradient, plain.gradient, atol=1e-6)


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_mean_log_density_is_that_of_draws_of_q(estimator):
    target, family = correlated(DIM), FAMILIES["meanfield"](DIM)
    params = params_of(family, DIM)
    rng = np.random.default_rng(0)
    means = np.array([estimator(target, family, params, 4, rng).log_density for _ in range(500)])
    exact = gaussian_elbo(target, family, params) - family.entropy(params)
    assert abs(means.mean() - exact) < 4.5 * means.std() / len(means) ** 0.5


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_same_seed_same_estimate(estimator):
    target, family = correlated(DIM), FAMILIES["meanfield"](DIM)
    params = params_of(family, DIM)
    one, two = (estimator(target, family, params, 4, np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one.gradient, two.gradient)


@pytest.mark.parametrize("family_name", FAMILIES)
@pytest.mark.parametrize("quiet", ["sticking-the-landing", "black-box", "stochastic-search"])
def test_no_noise_at_the_optimum_where_the_plain_estimators_have_it(quiet, family_name):
    family = FAMILIES[family_name](DIM)
    params = params_of(family, DIM)
    target = Gaussian(family.mean(params), family.covariance(params))
    rng = np.random.default_rng(6)
    landed = ESTIMATORS[quiet](target, family, params, 1, rng).gradient
    np.testing.assert_allclose(landed, 0, atol=1e-8)
    for noisy in ("reparameterised", "score-function"):
        assert np.abs(ESTIMATORS[noisy](target, family, params, 1, rng).gradient).max() > 0.01


class Counted(HalfSpace):
    """How many draws off its support it was asked about."""

    def log_densities(self, us):
        values = super().log_densities(us)
        off_support.append(int(np.isnan(values).sum()))
        return values


off_support: list[int] = []


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_every_draw_off_the_support_is_counted_as_dropped(estimator):
    target, family = Counted(2, -0.5), FAMILIES["meanfield"](2)
    off_support.clear()
    estimate = estimator(target, family, family.start(np.zeros(2)), 400, np.random.default_rng(3))
    assert estimate.dropped == sum(off_support) > 100


def test_control_by_the_score_takes_noise_away():
    target, family = correlated(DIM), FAMILIES["meanfield"](DIM)
    params = params_of(family, DIM)
    noise = {}
    for name in ("score-function", "black-box"):
        rng = np.random.default_rng(8)
        found = [ESTIMATORS[name](target, family, params, 10, rng).gradient for _ in range(500)]
        noise[name] = np.var(found, axis=0).sum()
    assert noise["black-box"] < 0.5 * noise["score-function"]


def test_the_scale_of_the_control_is_that_of_a_regression_on_the_score():
    """Ranganath, Gerrish and Blei (2014), eq. 11; a score that does not vary has nothing to take away."""
    rng = np.random.default_rng(1)
    score = np.column_stack([1e-3 * rng.normal(size=200), np.full(200, 2.0)])
    excess = rng.normal(size=200)
    noisy = excess * score[:, 0]
    expected = np.cov(noisy, score[:, 0])[0, 1] / np.var(score[:, 0], ddof=1)
    np.testing.assert_allclose(_best_scales(excess, score), [expected, 0])
