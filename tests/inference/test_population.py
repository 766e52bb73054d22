"""Population Monte Carlo: mixtures of Student's t fitted to weighted draws."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_t
from toy_targets import correlated

from ppl.inference.correct import population as module
from ppl.inference.correct.population import (
    POPULATION,
    StudentTs,
    em_step,
    fitted,
    moments,
    population,
)
from ppl.inference.diagnose.psis import psis
from ppl.inference.numerics.gaussian import Gaussian


def rng(seed=0):
    return np.random.default_rng(seed)


def two():
    narrow = Gaussian(np.array([1.0, -2.0]), np.array([[0.5, 0.0], [0.3, 0.8]]))
    return StudentTs(np.array([0.25, 0.75]), (narrow, Gaussian(np.zeros(2), 2 * np.eye(2))))


def weighted(target, sd=1.0, n=8192):
    """Draws of a normal about the origin, and their weights for the target."""
    q = Gaussian(np.zeros(target.dim), sd * np.eye(target.dim))
    u = q.draws(rng().standard_normal((n, target.dim)))
    return u, psis(target.log_densities(u) - q.log_density_gradients(u)[0])


class Values:
    """Log densities at many points, whose gradients nobody asks for."""

    dim = 2

    def log_density_gradients(self, us):
        raise AssertionError("values will do")


class Banana(Values):
    """x ~ N(0, 1), y ~ N((x^2 - 1) / 2, 0.5): of mean 0 and variances 1 and 0.75."""

    def log_densities(self, us):
        x, y = us.T
        return -0.5 * x**2 - 2 * (y - (x**2 - 1) / 2) ** 2


class HeavyTailed(Values):
    """Independent coordinates whose tails fall off like a power."""

    def __init__(self, degrees):
        self.degrees = degrees

    def log_densities(self, us):
        return -(self.degrees + 1) / 2 * np.log1p(us**2 / self.degrees).sum(axis=1)


def test_the_density_of_a_mixture_is_that_of_its_parts():
    mixture, u = two(), rng().normal(0, 3, (50, 2))
    expected = sum(
        share * multivariate_t(p.mean, p.factor @ p.factor.T, df=mixture.degrees).pdf(u)
        for share, p in zip(mixture.shares, mixture.parts, strict=True)
    )
    np.testing.assert_allclose(np.exp(mixture.log_density(u)), expected, rtol=1e-12)


def test_draws_of_a_mixture_are_worth_all_of_their_number_under_its_density():
    mixture, n = two(), 100_000
    u = mixture.draws(n, rng())
    np.testing.assert_allclose(u.mean(axis=0), 0.25 * np.array([1, -2]), atol=0.03)
    parts = [p.factor @ p.factor.T + np.outer(p.mean, p.mean) / 2 for p in mixture.parts]
    expected = 2 * (0.25 * parts[0] + 0.75 * parts[1])  # the variance of t is 4 / (4 - 2) of its scale
    np.testing.assert_allclose(u.T @ u / n, expected, atol=0.25)
    # Another density, of which the draws give the integral.
    other = Gaussian(np.array([0.5, -1.0]), np.eye(2))
    ratios = np.exp(other.log_density_gradients(u)[0] - mixture.log_density(u))
    assert ratios.mean() == pytest.approx(1, abs=5 * ratios.std() / np.sqrt(n))


def test_every_step_of_em_makes_the_draws_likelier(monkeypatch):
    monkeypatch.setattr(module, "POPULATION", POPULATION._replace(prior_draws=0.0))
    truth = two()
    u = truth.draws(2000, rng())
    weights = np.full(2000, 1 / 2000)
    _, covariance = moments(u, weights)
    mixture = StudentTs(
        np.array([0.5, 0.5]), tuple(Gaussian.with_covariance(u[k], covariance) for k in (0, 1))
    )
    likelihoods = [mixture.log_density(u).mean()]
    for _ in range(100):
        mixture = em_step(mixture, u, weights, covariance)
        likelihoods.append(mixture.log_density(u).mean())
    assert (np.diff(likelihoods) > -1e-12).all()
    assert likelihoods[-1] > truth.log_density(u).mean() - 0.002


def test_a_fitted_mixture_has_the_moments_of_the_weighted_draws():
    target = correlated(3)
    u = Gaussian(np.zeros(3), 3 * np.eye(3)).draws(rng().standard_normal((20_000, 3)))
    log_weights = target.log_densities(u) + 0.5 * (u**2).sum(axis=1) / 9
    found = fitted(u, log_weights - logsumexp(log_weights), rng())
    assert found.shares.sum() == pytest.approx(1)
    assert found.shares[-1] == POPULATION.defensive_share and len(found.parts) == POPULATION.components + 1
    mean = sum(share * part.mean for share, part in zip(found.shares, found.parts, strict=True))
    np.testing.assert_allclose(mean, target.mean, atol=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_weighted_draws_of_a_bent_posterior_have_its_moments(seed):
    target = Banana()
    u, weights = weighted(target)
    assert not weights.khat < POPULATION.good_khat
    found, _ = population(target, u, weights, len(u), rng(seed))
    assert found.weights.khat < POPULATION.good_khat and found.weights.ess >= len(u) / 2
    np.testing.assert_array_equal(found.log_p, target.log_densities(found.u))
    shares = np.exp(found.weights.log_weights)
    mean, covariance = moments(found.u, shares)
    np.testing.assert_allclose(mean, 0, atol=0.05)
    np.testing.assert_allclose(covariance, np.diag([1.0, 0.75]), atol=0.08)


def test_no_mixture_is_good_for_tails_that_are_heavier_than_its_own():
    assert population(HeavyTailed(0.5), *weighted(HeavyTailed(0.5), 2.0), 8192, rng()) is None


def test_nothing_is_fitted_to_few_draws_or_in_many_dimensions():
    class Unseen(Values):
        def log_densities(self, us):
            raise AssertionError("nothing is drawn")

    u = rng().standard_normal((8192, POPULATION.most_dimensions + 1))
    even = psis(np.zeros(8192) + rng().normal(0, 0.1, 8192))
    assert population(Unseen(), u, even, 8192, rng()) is None
    few = psis(10 * rng().standard_normal(8192))
    assert few.ess < POPULATION.fewest_start_ess and population(Unseen(), u[:, :2], few, 8192, rng()) is None


def test_draws_that_fell_together_fit_no_mixture():
    u = np.ones((8192, 2))
    assert population(Banana(), u, psis(rng().normal(0, 0.1, 8192)), 8192, rng()) is None


def test_draws_without_a_density_count_for_none():
    class Half(Banana):
        def log_densities(self, us):
            return np.where(us[:, 0] > 0, super().log_densities(us), np.nan)

    u = np.abs(weighted(Banana())[0])
    found, _ = population(Half(), u, psis(rng().normal(0, 0.1, len(u))), 8192, rng())
    assert (np.exp(found.weights.log_weights)[found.u[:, 0] <= 0] == 0).all()
