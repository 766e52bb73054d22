"""Laws that hold for every family in the table, over every standard distribution that it takes."""

from dataclasses import replace

import numpy as np
import pytest
from algorithm_one import advi
from toy_targets import Gaussian, Quartic, numeric_gradient, params_of

from ppl.kernel.advi.elbo import estimate_elbo
from ppl.kernel.advi.estimators.reparameterised import sticking_the_landing
from ppl.kernel.advi.families import FAMILIES
from ppl.kernel.advi.families.standard import STANDARDS, StudentT
from ppl.kernel.advi.target import Target

DIM = 3
ELLIPTICAL = ("normal", "student_t")
MEMBERS = [(name, phi) for name in FAMILIES for phi in (ELLIPTICAL if name == "lowrank" else STANDARDS)]


@pytest.fixture(params=MEMBERS, ids="-".join)
def family(request):
    name, phi = request.param
    return replace(FAMILIES[name](DIM), standard=STANDARDS[phi]())


@pytest.fixture
def params(family):
    return params_of(family, DIM)


def test_params_have_the_size_the_family_says(family):
    assert family.start(np.zeros(DIM)).shape == (family.size,)
    assert family.noise(4, np.random.default_rng(0)).shape == (4, family.noise_dim)


def test_start_has_the_mean_and_scale_asked_for(family):
    params = family.start(np.array([1.0, -2.0, 0.5]), scale=0.3)
    np.testing.assert_allclose(family.mean(params), [1.0, -2.0, 0.5])
    np.testing.assert_allclose(family.covariance(params), 0.09 * np.eye(DIM), atol=1e-15)


def test_moments_agree_with_draws(family, params):
    n = 200_000
    u = family.transform(params, family.noise(n, np.random.default_rng(1)))
    sd = family.scales(params)
    np.testing.assert_allclose(u.mean(axis=0), family.mean(params), atol=5 * sd.max() / n**0.5)
    np.testing.assert_allclose(np.cov(u.T), family.covariance(params), atol=0.04 * sd.max() ** 2)


def test_scales_are_the_diagonal_of_the_covariance(family, params):
    np.testing.assert_allclose(family.scales(params) ** 2, np.diag(family.covariance(params)))


def test_entropy_is_minus_the_mean_log_density_of_draws(family, params):
    u = family.transform(params, family.noise(100_000, np.random.default_rng(2)))
    log_q = family.log_density(params, u)
    assert abs(family.entropy(params) + log_q.mean()) < 5 * log_q.std() / len(u) ** 0.5


def test_density_integrates_to_one_by_importance_sampling(family, params):
    wide, z = StudentT(3.0), StudentT(3.0).noise(100_000, DIM, np.random.default_rng(3))
    ratio = 8 * np.exp(family.log_density(params, family.mean(params) + 2 * z) - wide.log_density(z))
    assert abs(ratio.mean() - 1) < 5 * ratio.std() / len(z) ** 0.5


def test_params_score_is_the_finite_difference_with_the_point_held(family, params):
    u = np.array([[0.3, -1.0, 2.0], [1.0, 1.0, -0.5]])
    found = family.params_score(params, u)
    for point, score in zip(u, found, strict=True):
        numeric = numeric_gradient(lambda p, at=point: family.log_density(p, at[None])[0], params)
        np.testing.assert_allclose(score, numeric, rtol=1e-6, atol=1e-7)


def test_params_score_has_mean_zero_over_q(family, params):
    u = family.transform(params, family.noise(50_000, np.random.default_rng(6)))
    score = family.params_score(params, u)
    assert np.all(np.abs(score.mean(axis=0)) < 4.5 * score.std(axis=0) / len(u) ** 0.5)


def test_entropy_gradient_is_the_finite_difference(family, params):
    numeric = numeric_gradient(family.entropy, params)
    np.testing.assert_allclose(family.entropy_gradient(params), numeric, atol=1e-7)


def test_score_is_the_finite_difference_of_the_log_density(family, params):
    u = np.array([0.3, -1.0, 2.0])
    numeric = numeric_gradient(lambda v: family.log_density(params, v[None])[0], u)
    np.testing.assert_allclose(family.score(params, u[None])[0], numeric, rtol=1e-6, atol=1e-7)


def test_pull_back_is_the_finite_difference_with_the_noise_held(family, params):
    target = Quartic(np.array([1.0, -0.5, 2.0]))
    z = family.noise(5, np.random.default_rng(4))

    def mean_log_density(params):
        return np.mean([target.log_density(u) for u in family.transform(params, z)])

    gradients = np.array([target.log_density_gradient(u)[1] for u in family.transform(params, z)])
    numeric = numeric_gradient(mean_log_density, params)
    np.testing.assert_allclose(family.pull_back(params, z, gradients), numeric, rtol=1e-5, atol=1e-6)


def test_push_forward_maps_every_draw(family, params):
    centre, factor = np.array([1.0, -2.0, 3.0]), np.array([0.1, 1.0, 20.0])
    z = family.noise(4, np.random.default_rng(5))
    expected = centre + factor * family.transform(params, z)
    np.testing.assert_allclose(family.transform(family.push_forward(params, centre, factor), z), expected)


class Itself(Target):
    """The member of a family with these params, as a target."""

    def __init__(self, family, params):
        self.family, self.params, self.dim = family, params, family.dim

    def log_density(self, u):
        return float(self.family.log_density(self.params, u[None])[0])

    def log_density_gradient(self, u):
        return self.log_density(u), self.family.score(self.params, u[None])[0]


@pytest.mark.rotate
def test_every_member_is_its_own_optimum(family, params):
    """At q = p the path gradient of log p - log q is zero draw by draw, and the ELBO is zero."""
    target = Itself(family, params)
    landed = sticking_the_landing(target, family, params, 3, np.random.default_rng(7))
    np.testing.assert_allclose(landed.gradient, 0, atol=1e-12)
    elbo = estimate_elbo(target, family, params, 20_000, np.random.default_rng(8))
    assert abs(elbo.value) < 5 * elbo.se


def test_no_method_changes_params(family, params):
    before = params.copy()
    z = family.noise(2, np.random.default_rng(0))
    u = family.transform(params, z)
    family.pull_back(params, z, u), family.score(params, u), family.entropy_gradient(params)
    np.testing.assert_array_equal(params, before)


@pytest.mark.rotate
@pytest.mark.parametrize("name", FAMILIES)
def test_recovers_a_gaussian_that_it_contains(name, monkeypatch):
    family = FAMILIES[name](DIM)
    inside = params_of(family, DIM, seed=8)
    mean, covariance = family.mean(inside), family.covariance(inside)
    settings = {"grad_samples": 10, "iter": 4000, "tol_rel_obj": 1e-9, "average": True}
    monkeypatch.setattr("ppl.methods.recipes.advi.family_of", lambda *_: family)  # no algorithm's own name
    fit = advi(Gaussian(mean, covariance), seed=3, **settings)
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(fit.mean_u / sd, mean / sd, atol=0.03)
    found = fit.family.covariance(fit.params)
    np.testing.assert_allclose(found / np.outer(sd, sd), covariance / np.outer(sd, sd), atol=0.06)
