"""Incremental mixtures: weights whose mean is the integral, and no large one."""

import numpy as np
import pytest
from scipy import stats

from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target
from ppl.methods.correct.incremental_mixture import INCREMENTAL, about_heaviest, incremental_mixture


class Banana(Target):
    """x ~ N(0, 1), z ~ N(x^2, 1/4), times e^3; no density beyond x = 2.5."""

    dim = 2

    def log_densities(self, us):
        x, z = us.T
        inside = stats.norm.logpdf(x) + stats.norm.logpdf(z, x**2, 0.5) + 3
        return np.where(x < 2.5, inside, np.nan)


@pytest.mark.parametrize("seed", [1, 2])
def test_weights_of_a_curved_posterior_have_its_integral_and_its_moments(seed):
    scaled = Scaled(Banana(), np.array([0.0, 0.6]), np.array([0.8, 0.6]))  # q sees little of either end
    u, log_p, _, weights = incremental_mixture(scaled, (), np.random.default_rng(seed))
    assert weights.khat < 0.4 and len(u) < INCREMENTAL.most_draws and weights.ess > 0.4 * len(u)
    assert weights.log_mean == pytest.approx(3 + stats.norm.logcdf(2.5), abs=0.03)
    np.testing.assert_allclose(log_p, Banana().log_densities(u))
    assert np.exp(weights.log_weights) @ u[:, 0] ** 2 == pytest.approx(0.956, rel=0.04)


def test_a_gaussian_beside_q_is_one_of_the_first():
    """A spike of a hundredth of the width of q, with half of the mass, which no draw need hit."""
    spike = Gaussian(np.array([0.3, 0.3]), np.full(2, 0.01))

    class Spiked(Target):
        dim = 2

        def log_densities(self, us):
            return np.logaddexp(stats.norm.logpdf(us).sum(axis=1), spike.log_densities(us)) - np.log(2)

    scaled = Scaled(Spiked(), np.zeros(2), np.ones(2))
    u, *_, weights = incremental_mixture(scaled, (spike,), np.random.default_rng(0))
    share = np.exp(weights.log_weights) @ (np.abs(u - 0.3) < 0.05).all(axis=1)
    assert share == pytest.approx(0.5, abs=0.03) and weights.log_mean == pytest.approx(0, abs=0.05)


def test_a_gaussian_is_added_where_the_largest_weight_is_as_its_neighbours_are_spread():
    v = np.random.default_rng(0).standard_normal((4000, 2)) * [1.0, 0.01]
    weights = np.where(np.arange(4000) == 7, 0.5, 0.5 / 3999)
    gaussian = about_heaviest(v, weights)
    np.testing.assert_array_equal(gaussian.mean, v[7])
    assert gaussian.factor[1, 1] < 0.05 and gaussian.factor[0, 0] < 0.5
