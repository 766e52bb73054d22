"""Skewed Gaussians are densities that fit draws and slopes, and a bridge from one tells the evidence."""

import numpy as np
import pytest
from scipy import special, stats
from toy_targets import Gammas

from ppl.methods.correct.bridge import bridges_between_chains
from ppl.methods.correct.sinh_arcsinh import SinhArcsinh
from ppl.methods.correct.skewed_gaussian import SkewedGaussian, by_slopes
from ppl.methods.moves.ending import moved


def test_quantiles_tell_the_map_that_draws_come_from():
    u = SinhArcsinh(*np.array([[1.0, -5.0], [0.3, 20.0], [0.6, -0.2], [0.8, 1.4]]))
    scores = np.sort(special.ndtri((np.arange(20_000) + 0.5) / 20_000))[:, None].repeat(2, axis=1)
    found = SinhArcsinh.of(u.back(scores))
    for name in ("place", "scale", "skew", "tail"):
        np.testing.assert_allclose(getattr(found, name), getattr(u, name), rtol=0.01, err_msg=name)


def test_weights_count_as_so_many_draws():
    generator = np.random.default_rng(2)
    u, times = generator.gamma(2.0, size=(4000, 2)), generator.integers(1, 6, size=4000)
    by_weights, repeated = (
        SinhArcsinh.of_weighted(u, times / times.sum()),
        SinhArcsinh.of(u.repeat(times, axis=0)),
    )
    points = generator.gamma(2.0, size=(50, 2))
    np.testing.assert_allclose(by_weights.normal(points)[0], repeated.normal(points)[0], atol=0.02)


def test_scores_and_back_with_the_change_of_densities_and_of_slopes():
    u = np.log(np.random.default_rng(1).gamma(0.7, size=(500, 3)))
    margins, target, steps = SinhArcsinh.of(u), Gammas(3), 1e-6 * np.eye(3)
    scores, change = margins.normal(u)
    np.testing.assert_allclose(margins.back(scores), u, rtol=1e-9, atol=1e-9)
    slopes = [(margins.back(scores + step) - margins.back(scores - step)) @ step / 2e-12 for step in steps]
    np.testing.assert_allclose(-np.log(slopes).sum(axis=0), change, atol=1e-6)

    def log_densities(scores):
        at = margins.back(scores)
        return target.log_densities(at) - margins.normal(at)[1]

    found = margins.pushed_forward(u, target.log_density_gradients(u)[1])
    known = [(log_densities(scores + step) - log_densities(scores - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found.T, known, rtol=1e-5, atol=1e-6)


def test_quantiles_that_are_the_same_are_rejected():
    with pytest.raises(np.linalg.LinAlgError):
        SinhArcsinh.of(np.ones((500, 1)))


@pytest.mark.parametrize("dim", [30, 501])
def test_slopes_tell_a_gaussian_from_few_draws(dim):
    """Above 500 dimensions without correlations."""
    rng = np.random.default_rng(2)
    factor = (
        np.tril(rng.normal(size=(30, 30))) / 8 + np.eye(30) if dim == 30 else np.diag(1.0 + np.arange(dim))
    )
    precision = np.linalg.inv(factor @ factor.T)
    u = 3 + rng.normal(size=(2 * dim, dim)) @ factor.T
    found = by_slopes(u, (3 - u) @ precision)
    np.testing.assert_allclose(found.mean, 3.0, rtol=1e-6)
    covariance = found.factor @ found.factor.T if dim == 30 else np.diag(found.factor**2)
    np.testing.assert_allclose(covariance, factor @ factor.T, rtol=1e-6, atol=1e-9)


def test_its_draws_have_its_density():
    target, rng = Gammas(2), np.random.default_rng(5)
    found = SkewedGaussian.of(target, np.log(rng.gamma(0.7, size=(1000, 2))) @ [[1.0, 0.4], [0.0, 1.0]])
    u = found.draws(rng.normal(size=(4000, 2)))
    wide = stats.multivariate_t(u.mean(axis=0), 1.5 * np.cov(u.T), df=5)
    at = wide.rvs(20_000, random_state=6)
    assert np.exp(found.log_densities(at) - wide.logpdf(at)).mean() == pytest.approx(1.0, abs=0.03)


@pytest.mark.rotate
@pytest.mark.parametrize("dim", [40, 80])
def test_the_evidence_of_skewed_coordinates(dim):
    """A Gaussian with covariances of draws was 0.2 nats low in 80 dimensions, with an error of 0.07."""
    target, rng = Gammas(dim), np.random.default_rng(2)
    found = moved(target, np.log(rng.gamma(2.0, size=(128, dim))), rng, 40_000)
    evidence = bridges_between_chains(target, found, rng).evidence
    assert evidence.se < 0.05
    assert evidence.value == pytest.approx(dim * special.gammaln(0.7), abs=3 * evidence.se)
