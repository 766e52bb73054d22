"""Importance sampling from several Gaussians, on targets whose integral is known."""

import numpy as np
import pytest
from scipy import stats
from toy_targets import HalfSpace, line

from ppl.kernel.advi.gaussian import Gaussian
from ppl.methods.diagnose.mixture_sampling import Proposal, integral, log_weights, missed


def log_of(found):
    return np.log(found.value) + found.scale


def batch(target, at, sd, n=1000, seed=0):
    """n draws of N(at, sd^2) over one dimension, for the target."""
    z = np.random.default_rng(seed).standard_normal((n, 1))
    return Proposal.of(Gaussian(np.array([at]), np.array([[sd]])), target, z)


def test_a_batch_knows_its_draws_the_target_there_and_its_own_density():
    target = line((1.0, 1.0, 2.0), shift=3.0)
    found = batch(target, -1.0, 0.5)
    assert found.u.mean() == pytest.approx(-1, abs=0.05) and found.u.std() == pytest.approx(0.5, rel=0.1)
    np.testing.assert_allclose(found.log_p, 3 + stats.norm.logpdf(found.u[:, 0], 1, 2))
    at = np.array([[0.0], [7.0]])
    np.testing.assert_allclose(found.log_density(at), stats.norm.logpdf(at[:, 0], -1, 0.5))


def test_where_the_target_is_not_defined_it_has_no_mass():
    found = batch(HalfSpace(1, 0.0), 0.0, 1.0, n=4000)
    assert np.isneginf(found.log_p[found.u[:, 0] <= 0]).all()
    assert log_of(integral([found])) == pytest.approx(np.log(np.sqrt(np.pi / 2)), abs=0.05)


@pytest.mark.parametrize("counts", [(1000, 1000), (900, 300)])
def test_the_mean_of_the_weights_is_the_integral(counts):
    """Exactly where the parts, far apart, are those of the target: each weight is share over proportion."""
    target = line((0.3, -40.0, 0.5), (0.7, 40.0, 1.0), shift=7.0)
    batches = [batch(target, -40.0, 0.5, counts[0]), batch(target, 40.0, 1.0, counts[1])]
    weights = log_weights(batches)
    assert [len(each) for each in weights] == [*counts]
    own = np.array(counts) / sum(counts)
    for each, share, part in zip(weights, (0.3, 0.7), own, strict=True):
        np.testing.assert_allclose(each, 7 + np.log(share / part))
    assert log_of(integral(batches)) == pytest.approx(7, abs=1e-12)


def test_parts_that_overlap_in_any_number_give_the_integral_too():
    target = line((0.6, 0.0, 1.0), (0.4, 1.0, 2.0), shift=-2.0)
    batches = [batch(target, 0.5, 1.5, 5000), batch(target, 2.0, 3.0, 500, 1), batch(target, 0.0, 9.0, 50, 2)]
    assert log_of(integral(batches)) == pytest.approx(-2, abs=0.03)


SHARES = [0.01, 0.3, 0.99]


@pytest.mark.parametrize("share", SHARES)
def test_what_q_misses_is_the_share_of_a_part_that_it_does_not_see(share):
    target = line((1 - share, -40.0, 0.5), (share, 40.0, 1.0), shift=100.0)
    q, beside = batch(target, -40.0, 0.5, 2048), batch(target, 40.0, 1.0, 256, seed=1)
    assert missed(q, beside) == pytest.approx(share)
    assert missed(beside, q) == pytest.approx(1 - share)


@pytest.mark.parametrize("at, sd", [(0.0, 1.0), (0.0, 2.0), (1.5, 0.5), (3.0, 1.0)])
def test_nothing_is_missed_where_both_lie_over_the_same_mass(at, sd):
    """q is the target: its weights are all equal, so that what is left is the noise of the other's draws."""
    target = line((1.0, 0.0, 1.0))
    assert 0 <= missed(batch(target, 0.0, 1.0, 2048), batch(target, at, sd, 256, seed=1)) < 0.01


def test_nothing_is_missed_where_the_other_sees_nothing():
    target = line((1.0, 0.0, 1.0))
    assert missed(batch(target, 0.0, 1.0, 2048), batch(target, 500.0, 1.0, 256)) == pytest.approx(0, abs=1e-9)


def test_a_spike_within_q_is_missed_by_it_and_seen_by_a_gaussian_as_narrow():
    target = line((0.5, 0.0, 1e-6), (0.5, 0.0, 10.0))
    assert missed(batch(target, 0.0, 10.0, 2048), batch(target, 0.0, 1e-6, 256, 1)) == pytest.approx(
        0.5, abs=0.02
    )
