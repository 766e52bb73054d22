"""The mean of effects that data tell is as wide as their scale lets it be, and straight given the scale."""

import numpy as np
import pytest

from ppl.methods.moves.necks import Necks
from ppl.methods.moves.spreads import spreads
from ppl.methods.moves.straightening import straightened

SD_OF_DATA, SD_OF_MEAN = 0.05, 2.0


@pytest.fixture
def hierarchy():
    """Draws (30, 200, 6) of a mean, the log v of a scale, and four effects of which the data say much."""
    rng = np.random.default_rng(4)
    v = rng.normal(-1, 1.2, 6000)
    variance = 1 / (SD_OF_MEAN**-2 + 4 / (SD_OF_DATA**2 + np.exp(2 * v)))
    mean = np.sqrt(variance) * rng.standard_normal(6000)
    effects = np.array([0.3, -0.2, 0.8, -0.9]) + SD_OF_DATA * rng.standard_normal((6000, 4))
    return np.column_stack([mean, v, effects]).reshape(30, 200, 6)


@pytest.fixture
def necks():
    """Effects N(mean, exp(v))."""
    slopes, features = np.zeros((2, 4, 6))
    slopes[:, 1], features[:, 0] = -2.0, 1.0
    return Necks(np.arange(2, 6), slopes, np.zeros(4), np.zeros(4), features)


def test_a_mean_is_as_wide_anywhere_given_the_scale(hierarchy, necks):
    u = hierarchy.reshape(-1, 6)
    funnels = straightened(hierarchy, necks)
    straight = funnels.straight(u)
    means = spreads(straight, funnels)
    assert means.driven.tolist() == [0] and means.by.tolist() == [1]
    v, before, after = u[:, 1], straight[:, 0], means.straight(straight)[:, 0]
    thirds = [v < np.quantile(v, 1 / 3), v > np.quantile(v, 2 / 3)]
    assert before[thirds[1]].std() > 5 * before[thirds[0]].std()
    assert [after[third].std() for third in thirds] == pytest.approx([1, 1], abs=0.15)


def test_the_log_jacobian_and_slopes_of_a_mean_that_a_scale_widens(hierarchy, necks):
    funnels = straightened(hierarchy, necks)
    means = spreads(funnels.straight(hierarchy.reshape(-1, 6)), funnels)
    assert means.least[0] > 0  # which takes part in the slopes
    z = means.straight(hierarchy[0, :3])
    u, change, shape = means.back(z)
    np.testing.assert_allclose(u, hierarchy[0, :3], atol=1e-12)
    step = 1e-6 * np.eye(6)
    ends = [means.back(z + sign * each)[:2] for sign in (1, -1) for each in step]
    at = (np.array([end[0] for end in ends[:6]]) - [end[0] for end in ends[6:]]) / 2e-6
    jacobians = np.moveaxis(at, 0, 1)  # of each point, a row for each coordinate that moves
    np.testing.assert_allclose(change, np.linalg.slogdet(jacobians)[1], atol=1e-6)
    slope = np.random.default_rng(1).standard_normal((3, 6))
    of_change = (np.array([end[1] for end in ends[:6]]) - [end[1] for end in ends[6:]]).T / 2e-6
    expected = np.einsum("nki,ni->nk", jacobians, slope) + of_change
    np.testing.assert_allclose(means.pulled_back(slope, z, shape), expected, atol=1e-5)


def test_what_is_as_wide_everywhere_is_left(hierarchy, necks):
    hierarchy[..., 0] = np.random.default_rng(5).standard_normal((30, 200))
    funnels = straightened(hierarchy, necks)
    assert spreads(funnels.straight(hierarchy.reshape(-1, 6)), funnels) is None
