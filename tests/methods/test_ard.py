import numpy as np
import pytest
from regressions import LogisticRows, simulated
from toy_targets import correlated, numeric_gradient, params_of

from ppl.kernel.advi.families.mean_field import ArdDiagonal, Diagonal
from ppl.kernel.advi.families.standard import Logistic
from ppl.methods.numerics.fixed_noise import fixed_noise
from ppl.methods.objective import ArdTarget, WithPrior
from ppl.methods.refine.fixed_draws import fit_fixed_draws

ARD = np.array([0, 2])


@pytest.fixture
def family():
    return ArdDiagonal(3, ard=ARD)


@pytest.fixture
def params(family):
    return params_of(family, 3)


def test_prior_variances_are_c_squared_plus_mu_squared(family, params):
    mu, c = params[:3], params[3:]
    np.testing.assert_allclose(family.prior_variances(params), (c**2 + mu**2)[ARD])


def bound(target, family, params):
    """The bound, exact where the log density is quadratic: these draws have the moments of the noise."""
    z = fixed_noise(64, 3, np.random.default_rng(0))
    return np.mean([target.log_density(u) for u in family.transform(params, z)]) + family.entropy(params)


def test_prior_variances_are_the_best_there_are(family, params):
    """Equation 13 as a function of the variances alone has its maximum at c^2 + mu^2."""
    target, best = ArdTarget(correlated(3), ARD), family.prior_variances(params)

    def of_variances(log_variances):
        return bound(target.with_prior(np.exp(log_variances)), Diagonal(3), params)

    np.testing.assert_allclose(numeric_gradient(of_variances, np.log(best)), 0, atol=1e-7)
    assert np.all(numeric_gradient(of_variances, np.log(2 * best)) < -0.1)


def test_the_bound_is_that_of_the_whole_joint_at_those_variances(family, params):
    target = ArdTarget(correlated(3), ARD)
    whole = target.with_prior(family.prior_variances(params))
    assert bound(target, family, params) == pytest.approx(bound(whole, Diagonal(3), params), abs=1e-10)


@pytest.mark.parametrize("standard", [Diagonal(1).standard, Logistic()])
def test_entropy_gradient_is_the_finite_difference(standard):
    family = ArdDiagonal(3, standard, ard=ARD)
    params = params_of(family, 3)
    numeric = numeric_gradient(family.entropy, params)
    np.testing.assert_allclose(family.entropy_gradient(params), numeric, rtol=1e-7, atol=1e-7)


def test_entropy_gradient_has_the_terms_of_algorithm_2(family, params):
    mu, c = params[:3], params[3:]
    found = family.entropy_gradient(params)
    np.testing.assert_allclose(found[ARD], (-mu / (c**2 + mu**2))[ARD])
    np.testing.assert_allclose(found[3:][ARD], (1 / c - c / (c**2 + mu**2))[ARD])
    np.testing.assert_allclose(found[[1, 4]], [0, 1 / c[1]])


def test_with_prior_adds_the_normal_density_and_its_gradient():
    target = WithPrior(correlated(3), ARD, np.array([4.0, 0.25]))
    u = np.array([0.5, -1.0, 2.0])
    log_normal = -0.5 * (u[ARD] ** 2 / [4.0, 0.25] + np.log([4.0, 0.25]) + np.log(2 * np.pi)).sum()
    assert target.log_density(u) == pytest.approx(correlated(3).log_density(u) + log_normal)
    numeric = numeric_gradient(target.log_density, u)
    np.testing.assert_allclose(target.log_density_gradient(u)[1], numeric, rtol=1e-6, atol=1e-7)


def test_the_collapsed_optimum_is_a_fixed_point_of_variational_em():
    """At the best q of eq. 14, q is also best for the whole joint with l^2 = c^2 + mu^2 held."""
    regression = simulated(60, 3)
    likelihood = LogisticRows(regression.x, regression.y, with_prior=False)
    every = np.arange(3)
    target, family = ArdTarget(likelihood, every), ArdDiagonal(3, ard=every)
    rng = np.random.default_rng(2)
    params = fit_fixed_draws(target, family, family.start(np.full(3, 0.5), scale=0.2), rng).params
    whole = target.with_prior(family.prior_variances(params))
    again = fit_fixed_draws(whole, Diagonal(3), params, np.random.default_rng(3)).params
    np.testing.assert_allclose(np.abs(again), np.abs(params), atol=0.01)
