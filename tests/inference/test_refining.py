import numpy as np
import pytest
from toy_targets import Gaussian as GaussianTarget
from toy_targets import correlated

from ppl.inference.coordinates import Scaled
from ppl.inference.families.full_rank import FullRank
from ppl.inference.families.point import Point
from ppl.inference.fixed_draws import MOST_GRADIENTS, gradients_for
from ppl.inference.modes import other_modes
from ppl.inference.refining import (
    Made,
    anneal_from,
    gaussian_of,
    is_affordable,
    points_for,
    pool_of,
    refine,
    will_anneal,
)
from ppl.inference.settings import Settings


class Wide(GaussianTarget):
    """A target whose evaluation works through many numbers."""

    width = 60_000


def rng():
    return np.random.default_rng(0)


def exact(target):
    family = FullRank(target.dim)
    return gaussian_of(family, family.of(target.mean, np.linalg.cholesky(target.covariance)))


def test_what_a_gradient_costs_limits_points_and_gradients():
    assert points_for(1) == 1024 and points_for(4000) == 512
    assert points_for(50_000) == 256 and points_for(60_000) == 0
    wide, narrow = Wide(np.zeros(2), np.eye(2)), correlated(2)
    assert is_affordable(narrow) and will_anneal(narrow, Settings())
    assert not is_affordable(wide) and not will_anneal(wide, Settings(anneal=True))
    assert gradients_for(narrow) == MOST_GRADIENTS and gradients_for(wide) == 1666
    assert gradients_for(Scaled(wide, np.zeros(2), np.ones(2))) == 1666


def test_a_point_has_no_gaussian_and_q_gives_its_own():
    assert gaussian_of(Point(3), np.zeros(3)) is None
    q = exact(correlated(4))
    np.testing.assert_allclose(q.factor @ q.factor.T, correlated(4).covariance)


def test_draws_of_the_posterior_are_resampled_and_stay_what_they_are():
    target = correlated(3)
    q = exact(target)
    u = q.draws(rng().standard_normal((8192, 3)))
    log_p = target.log_densities(u)
    refined = refine(target, Settings(), q, pool_of(u, log_p, log_p - 7.0), rng())
    assert refined.made is Made.RESAMPLED and refined.u.shape == (1000, 3)
    assert len(np.unique(refined.u, axis=0)) > 950
    np.testing.assert_allclose(refined.log_p, target.log_densities(refined.u))


def test_annealed_draws_come_back_in_the_coordinates_of_the_model():
    target = correlated(3)
    sd = np.sqrt(np.diag(target.covariance))
    scaled = Scaled(target, target.mean + sd, np.diag(0.5 * sd))
    refined = anneal_from(scaled, (), 1000, rng())
    np.testing.assert_allclose((refined.u.mean(axis=0) - target.mean) / sd, 0, atol=0.1)
    np.testing.assert_allclose(refined.log_p, target.log_densities(refined.u))
    assert refined.annealed.log_evidence == pytest.approx(0, abs=0.3)


def test_one_mode_is_found_to_be_alone():
    target = correlated(3)
    q = exact(target)
    assert other_modes(Scaled(target, q.mean, q.factor), 0.0, rng()) == ()
