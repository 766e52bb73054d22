import numpy as np
import pytest
from toy_targets import HalfSpace, correlated, numeric_gradient, params_of

from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.elbo import estimate_elbo
from ppl.kernel.advi.families import FAMILIES
from ppl.methods.refine.fixed_draws import fit_fixed_draws

CENTRE = np.array([1.0, -2.0, 0.5])
FACTORS = {
    "diagonal": np.array([0.1, 2.0, 30.0]),
    "triangle": np.array([[2.0, 0, 0], [0.5, 0.1, 0], [1, 2, 3]]),
}


@pytest.fixture(params=FACTORS)
def scaled(request):
    return Scaled(correlated(3), CENTRE, FACTORS[request.param])


def test_density_is_the_targets_with_the_jacobian(scaled):
    v = np.array([0.3, -0.2, 0.1])
    jacobian = np.array([scaled.to_u(e) - CENTRE for e in np.eye(3)])
    expected = scaled.target.log_density(scaled.to_u(v)) + np.log(abs(np.linalg.det(jacobian)))
    assert scaled.log_density(v) == pytest.approx(expected)
    np.testing.assert_allclose(scaled.log_densities(v[None]), [expected])


def test_gradient_is_the_finite_difference(scaled):
    v = np.array([0.3, -0.2, 0.1])
    value, gradient = scaled.log_density_gradient(v)
    assert value == scaled.log_density(v)
    np.testing.assert_allclose(gradient, numeric_gradient(scaled.log_density, v), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(scaled.gradients_alone(v[None]), [gradient])


@pytest.mark.parametrize("name", FAMILIES)
def test_elbo_is_the_same_in_both_coordinates(name):
    family, scaled = FAMILIES[name](3), Scaled(correlated(3), CENTRE, FACTORS["diagonal"])
    params = params_of(family, 3)
    inside = estimate_elbo(scaled, family, params, 20, np.random.default_rng(0))
    carried = family.push_forward(params, CENTRE, scaled.factor)
    outside = estimate_elbo(scaled.target, family, carried, 20, np.random.default_rng(0))
    assert inside.value == pytest.approx(outside.value)


def test_blame_falls_on_the_point_of_the_target():
    assert Scaled(HalfSpace(1, 0.0), np.array([-5.0]), np.ones(1)).explain(np.zeros(1)).endswith("of -5.")


def test_a_fit_in_units_of_a_thousand_comes_back():
    target = correlated(3)
    units = np.array([1e3, 1.0, 1e-3])
    wild = type(target)(units * target.mean, np.outer(units, units) * target.covariance)
    family, scaled = FAMILIES["fullrank"](3), Scaled(wild, np.zeros(3), units)
    fit = fit_fixed_draws(scaled, family, family.start(np.zeros(3)), np.random.default_rng(0))
    params = family.push_forward(fit.params, scaled.centre, scaled.factor)
    np.testing.assert_allclose(family.mean(params) / units, target.mean, atol=5e-3)
    np.testing.assert_allclose(
        family.covariance(params) / np.outer(units, units), target.covariance, atol=0.02
    )
