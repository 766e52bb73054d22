"""Laws that hold for every estimator in the table, with every family."""

import numpy as np
import pytest
from toy_targets import Gaussian, correlated, numeric_gradient, params_of

from ppl.inference.estimators import ESTIMATORS
from ppl.inference.families import FAMILIES

DIM = 3


def gaussian_elbo(target, family, params):
    """The ELBO of a Gaussian q against a Gaussian target, in closed form."""
    off = family.mean(params) - target.mean
    quadratic = np.trace(target.precision @ family.covariance(params)) + off @ target.precision @ off
    log_det = np.linalg.slogdet(2 * np.pi * target.covariance)[1]
    return target.shift - 0.5 * (quadratic + log_det) + family.entropy(params)


@pytest.mark.parametrize("family_name", FAMILIES)
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_unbiased_against_the_closed_form(estimator, family_name):
    target, family = correlated(DIM), FAMILIES[family_name](DIM)
    params = params_of(family, DIM)
    rng = np.random.default_rng(5)
    estimates = np.array([estimator(target, family, params, 10, rng).gradient for _ in range(2000)])
    exact = numeric_gradient(lambda p: gaussian_elbo(target, family, p), params)
    se = estimates.std(axis=0) / len(estimates) ** 0.5
    assert np.all(np.abs(estimates.mean(axis=0) - exact) < 4.5 * se + 1e-6)


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_a_constant_in_the_log_density_changes_nothing(estimator):
    target, family = correlated(DIM), FAMILIES["fullrank"](DIM)
    shifted = type(target)(target.mean, target.covariance, shift=1e5)
    params = params_of(family, DIM)
    plain = estimator(target, family, params, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(
        plain.gradient, estimator(shifted, family, params, 3, np.random.default_rng(0)).gradient
    )


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_mean_log_density_is_that_of_its_draws(estimator):
    target, family = correlated(DIM), FAMILIES["meanfield"](DIM)
    params = params_of(family, DIM)
    estimate = estimator(target, family, params, 4, np.random.default_rng(0))
    draws = family.transform(params, family.noise(4, np.random.default_rng(0)))
    assert estimate.log_density == pytest.approx(np.mean([target.log_density(u) for u in draws]))


@pytest.mark.parametrize("family_name", FAMILIES)
def test_sticking_the_landing_has_no_noise_at_the_optimum_and_the_plain_estimator_has(family_name):
    family = FAMILIES[family_name](DIM)
    params = params_of(family, DIM)
    target = Gaussian(family.mean(params), family.covariance(params))
    rng = np.random.default_rng(6)
    landed = ESTIMATORS["sticking-the-landing"](target, family, params, 1, rng).gradient
    np.testing.assert_allclose(landed, 0, atol=1e-12)
    assert np.abs(ESTIMATORS["reparameterised"](target, family, params, 1, rng).gradient).max() > 0.01
