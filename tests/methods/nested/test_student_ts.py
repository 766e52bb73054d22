"""Mixtures of Student's t over scores of skewed coordinates: their density, and what they are fitted to."""

import numpy as np
import pytest
from scipy import integrate, stats

from ppl.kernel.advi.gaussian import Gaussian
from ppl.methods.diagnose.psis import psis
from ppl.methods.nested.outer import fitted_to, one_over, spread_of

SHAPES = np.array([0.7, 2.0, 5.0, 1.0, 3.0, 0.8])


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def log_gammas(n: int) -> np.ndarray:
    """Logarithms of gamma variates (n, 6), whose left tails are exponential."""
    return np.log(rng().gamma(SHAPES, size=(n, len(SHAPES))))


def log_densities(u: np.ndarray) -> np.ndarray:
    return (stats.gamma.logpdf(np.exp(u), SHAPES) + u).sum(axis=1)


def evenly(n: int):
    return psis(np.zeros(n))


def test_its_density_over_scores_integrates_to_one_and_is_that_of_its_draws():
    mixture = fitted_to(log_gammas(2000)[:, :1], evenly(2000))
    assert mixture.margins is not None

    def density(x):
        return np.exp(mixture.log_density(np.array([[x]]))[0])

    assert integrate.quad(density, -np.inf, np.inf, limit=200)[0] == pytest.approx(1, abs=1e-6)
    draws = mixture.draws(20_000, rng())[:, 0]
    for low, high in ((-8.0, -3.0), (-1.0, 0.0), (1.0, 2.0)):
        share = np.mean((draws > low) & (draws < high))
        assert share == pytest.approx(integrate.quad(density, low, high)[0], abs=0.015)


def test_its_draws_over_scores_of_skewed_coordinates_have_more_even_weights():
    u = log_gammas(2000)
    scored, plain = fitted_to(u, evenly(len(u))), one_over(spread_of(u))
    weights = {}
    for mixture in (scored, plain):
        draws = mixture.draws(4000, rng())
        weights[mixture is scored] = psis(log_densities(draws) - mixture.log_density(draws))
    assert weights[True].khat < 0.4
    assert weights[True].ess > 1.3 * weights[False].ess


def test_few_draws_do_not_tell_scores():
    assert fitted_to(log_gammas(150), evenly(150)).margins is None
    assert fitted_to(np.hstack([log_gammas(500), np.ones((500, 1))]), evenly(500)).margins is None


def test_some_draws_are_far_along_one_coordinate_and_what_is_correlated_with_it_alone():
    """As where a scale of many coordinates goes to zero; the density of the draws counts these."""
    dim = 12
    factor = np.eye(dim)
    factor[1, 0] = 0.8
    gaussian = Gaussian(np.zeros(dim), factor)
    mixture = one_over(gaussian)
    u = mixture.draws(20_000, rng())
    far = np.abs(u[:, 0]) > 6
    assert 0.002 < np.mean(far & (np.abs(u[:, 2:]).max(axis=1) < 5)) < 0.02
    assert np.corrcoef(u[far, 0], u[far, 1])[0, 1] > 0.8
    ratios = np.exp(gaussian.log_densities(u) - mixture.log_density(u))
    assert ratios.mean() == pytest.approx(1, abs=0.02)


def test_its_density_is_that_of_its_components():
    mixture = one_over(Gaussian(np.arange(3.0), np.array([[1.0, 0, 0], [0.7, 0.5, 0], [-2.0, 0.3, 2.0]])))
    u = mixture.draws(50, rng())
    parts = [mixture.part(k) for k in range(5)]
    laws = [stats.multivariate_t(p.mean, p.factor @ p.factor.T, df=mixture.degrees) for p in parts]
    known = np.log(mixture.shares @ np.array([law.pdf(u) for law in laws]))
    np.testing.assert_allclose(mixture.log_density(u), known, rtol=1e-10)
