import numpy as np
import pytest
from scipy import stats
from toy_targets import correlated, path_of

from ppl.kernel.advi.gaussian import WIDEST_SD, Gaussian, made_positive


def test_precision_in_units_gives_the_covariance():
    target, units = correlated(4), np.array([0.1, 1.0, 3.0, 100.0])
    precision = target.precision * np.outer(units, units)
    q = Gaussian.with_precision(target.mean, precision, units)
    np.testing.assert_allclose(q.factor @ q.factor.T, target.covariance, atol=1e-12)
    np.testing.assert_allclose(q.precisions, np.diag(target.precision))
    assert np.all(np.triu(q.factor, 1) == 0)
    assert q.half_log_det == pytest.approx(0.5 * np.linalg.slogdet(target.covariance)[1])


def test_draws_have_its_moments():
    target = correlated(3)
    q = Gaussian.with_covariance(target.mean, target.covariance)
    u = q.draws(np.random.default_rng(0).normal(size=(100_000, 3)))
    np.testing.assert_allclose(u.mean(axis=0), target.mean, atol=0.03)
    np.testing.assert_allclose(np.cov(u.T), target.covariance, atol=0.1)


def test_a_saddle_is_made_a_hill_and_counted():
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    made, repaired = made_positive((vectors * [2.0, -0.5, -1e-9]) @ vectors.T)
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(made)), [WIDEST_SD**-2, 0.5, 2.0])
    assert repaired == 2
    assert made_positive(np.eye(2))[1] == 0


def test_a_curvature_agrees_with_scipy():
    curvature = path_of(correlated(5), np.ones(5))[-1].curvature
    off = np.random.default_rng(0).normal(size=(4, 5))
    expected = stats.multivariate_normal(np.zeros(5), curvature.dense()).logpdf(off)
    np.testing.assert_allclose(curvature.log_density(off), expected, rtol=1e-6)
    np.testing.assert_allclose(curvature.precisions, np.diag(np.linalg.inv(curvature.dense())), rtol=1e-6)
