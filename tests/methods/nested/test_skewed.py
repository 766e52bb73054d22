"""Student's t of skewed coordinates."""

import numpy as np
import pytest
from scipy import stats

from ppl.kernel.advi.gaussian import Gaussian
from ppl.methods.nested.outer import one_and_skewed
from ppl.methods.nested.skewed import SinhArcsinh, SkewedTs
from ppl.methods.nested.student_ts import StudentTs

MAP = SinhArcsinh(np.array([1.0, -2.0]), np.array([0.5, 3.0]), np.array([-1.0, 0.4]))
NARROW = StudentTs(np.ones(1), (Gaussian(np.zeros(1), np.eye(1)),), 10)
SKEWED = SkewedTs(NARROW, NARROW, SinhArcsinh(np.array([1.0]), np.array([0.7]), np.array([-0.8])))


def test_coordinates_and_slopes_of_the_map():
    u = np.random.default_rng(1).normal(size=(5, 2))
    np.testing.assert_allclose(MAP.skewed(MAP.symmetric(u)), u)
    h = 1e-6
    slopes = (MAP.symmetric(u + h) - MAP.symmetric(u - h)) / (2 * h)
    np.testing.assert_allclose(MAP.log_slopes(u), np.log(slopes).sum(axis=1), atol=1e-7)


def test_a_map_is_had_again_from_draws():
    z = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    u = MAP.skewed(np.column_stack([z, z]))
    found = SinhArcsinh.of_draws(u, np.full(len(u), 1 / len(u)))
    for got, expected in zip(vars(found).values(), vars(MAP).values(), strict=True):
        np.testing.assert_allclose(got, expected, atol=2e-3)


def test_the_map_of_normal_halves_has_their_median_and_tails():
    below, above = np.array([1.0, 0.5]), np.array([1.0, 2.0])
    found = SinhArcsinh.of_halves(np.array([0.0, 3.0]), below, above)
    x = np.linspace(-20, 30, 500_001)[:, None]
    off = x - np.array([0.0, 3.0])
    density = np.exp(-0.5 * (off / np.where(off < 0, below, above)) ** 2)
    cdf = np.cumsum(density, axis=0) / density.sum(axis=0)
    for share in (0.05, 0.5, 0.95):
        place = found.skewed(np.full((1, 2), stats.norm.ppf(share)))[0]
        expected = [np.interp(share, each, x[:, 0]) for each in cdf.T]
        np.testing.assert_allclose(place, expected, atol=1e-3)


def test_no_map_of_draws_that_are_all_the_same():
    found = SinhArcsinh.of_draws(np.ones((9, 2)), np.full(9, 1 / 9))
    assert np.isfinite(found.symmetric(np.ones((1, 2)))).all()


def test_draws_have_their_density():
    x = np.linspace(-60, 40, 400_001)
    density = np.exp(SKEWED.log_density(x[:, None]))
    cdf = np.cumsum(density) * (x[1] - x[0])
    assert cdf[-1] == pytest.approx(1.0, abs=1e-5)
    draws = SKEWED.draws(4000, np.random.default_rng(1))[:, 0]
    assert stats.kstest(draws, lambda u: np.interp(u, x, cdf)).pvalue > 0.01


def test_weights_of_a_long_tail_are_even():
    """Of five coordinates of which one is the log of a scale whose density near 0 is not 0."""
    rng = np.random.default_rng(2)
    scales = np.abs(rng.normal(size=4000))
    u = np.column_stack([np.log(scales), rng.normal(size=(4000, 4))])
    found = one_and_skewed(u, np.full(4000, 1 / 4000))
    v = found.draws(4000, rng)
    log_p = stats.norm.logpdf(np.exp(v[:, 0])) + v[:, 0] + stats.norm.logpdf(v[:, 1:]).sum(axis=1)
    both, plain = (np.exp(log_p - each.log_density(v)) for each in (found, found.plain))
    assert both.max() < 0.6 * plain.max()
