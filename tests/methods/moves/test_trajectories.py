"""Trajectories leave their target as it is, whatever their steps."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import stats
from toy_targets import Gaussian as GaussianTarget
from toy_targets import LogGamma, line

from ppl.kernel.advi.coordinates import Scaled
from ppl.methods.moves import trajectories
from ppl.methods.moves.metric import CORRELATED_DIMENSIONS, Metric, metric_of
from ppl.methods.moves.trajectories import chains_at, move


def rng(seed=0):
    return np.random.default_rng(seed)


def unit(dim=2):
    return Metric((np.ones(dim), np.ones(dim)), 2)


SKEWED = GaussianTarget(np.array([1.0, -1.0]), np.array([[2.0, 0.6], [0.6, 0.5]]))


def test_moves_leave_the_target_as_it_is():
    u = rng().multivariate_normal(SKEWED.mean, SKEWED.covariance, size=4000)
    chains = chains_at(SKEWED, u)
    for seed in range(4):
        made = move(SKEWED, chains, unit(), 0.4, 5, rng(seed))
        chains = made.chains
        assert made.gradients >= 5 * 4000 and made.accepted > 0.8
    np.testing.assert_allclose(np.cov(chains.u.T), SKEWED.covariance, atol=0.1)
    assert abs(np.corrcoef(u[:, 1], chains.u[:, 1])[0, 1]) < 0.2


def test_moves_that_are_tried_again_leave_the_target_as_it_is(monkeypatch):
    """With steps so long, and a bound so high, that most are."""
    often = trajectories.TRAJECTORY._replace(rejected_log_chance=-0.2)
    monkeypatch.setattr(trajectories, "TRAJECTORY", often)
    u = np.log(rng().gamma(0.7, size=(20_000, 1)))
    before = chains = chains_at(LogGamma(), u)
    for seed in range(4):
        made = move(LogGamma(), chains, unit(1), 3.0, 6, rng(seed))
        assert made.accepted < 0.5 and made.divergent.mean() < 0.01
        chains = made.chains
        assert (made.energy >= -chains.log_p - 1e-9).all()
    assert (chains.u != before.u).mean() > 0.9
    assert stats.kstest(np.exp(chains.u[:, 0]), stats.gamma(0.7).cdf).pvalue > 0.01
    for ours, expected in zip(chains, chains_at(LogGamma(), chains.u), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_a_shorter_step_moves_chains_that_are_in_a_narrow_part():
    """Of 0.5 N(0, 1) + 0.5 N(0, 0.05), with a step that suits the first."""
    narrow = line((0.5, 0.0, 0.05), (0.5, 0.0, 1.0))
    u = rng().normal(0, 0.05, (4000, 1))
    made = move(narrow, chains_at(narrow, u), unit(1), 0.5, 6, rng(1))
    assert made.accepted < 0.4 and made.divergent.mean() < 0.01
    assert (made.chains.u != u).mean() > 0.6


def test_trajectories_that_diverge_even_with_short_steps_are_counted():
    needle = GaussianTarget(np.zeros(1), np.array([[1e-8]]))
    chains = chains_at(needle, rng().normal(0, 1e-4, (100, 1)))
    made = move(needle, chains, unit(1), 1.0, 6, rng(1))
    assert made.divergent.all() and made.accepted == 0 and made.gradients == 6 * 300
    np.testing.assert_array_equal(made.chains.u, chains.u)


def test_a_lost_chain_waits_where_it_began():
    """Points far out are of no use, and may take a solver long: of a wall of 1e4 nats, the one behind it."""

    class Wall(GaussianTarget):
        seen: ClassVar[list] = []

        def gradients_alone(self, us):
            self.seen.append(us)
            return np.where(us > 2.0, -1e4 * us, super().gradients_alone(us))

    target = Wall(np.zeros(1), np.eye(1))
    chains = chains_at(target, np.array([[0.0], [1.9]]))
    ends = trajectories.trajectories(target, chains, unit(1), np.ones((2, 1)), np.full((2, 1), 0.6), 6)
    np.testing.assert_array_equal(ends.log_chance == -np.inf, [False, True])
    assert target.seen[0][1] > 2.0 and all(u[1] == 1.9 for u in target.seen[1:])


def test_each_fold_moves_in_the_coordinates_of_its_own_factor():
    """As if it were alone; those of both alike, as in coordinates of the target."""
    factor, sds = np.array([[0.7, 0.0], [-0.3, 1.5]]), np.array([2.0, 0.5])
    chains = chains_at(SKEWED, rng().normal(size=(9, 2)))
    both = move(SKEWED, chains, Metric((factor, sds), 4), 0.3, 5, rng(1))
    for own, which in ((factor, slice(4)), (sds, slice(4, None))):
        alone = move(SKEWED, chains, Metric((own, own), 4), 0.3, 5, rng(1))
        np.testing.assert_allclose(both.chains.u[which], alone.chains.u[which], rtol=1e-12)
    white = Scaled(SKEWED, np.zeros(2), factor)
    there = move(white, chains_at(white, white.to_v(chains.u)), unit(), 0.3, 5, rng(1))
    alone = move(SKEWED, chains, Metric((factor, factor), 4), 0.3, 5, rng(1))
    np.testing.assert_allclose(white.to_u(there.chains.u), alone.chains.u, rtol=1e-10)
    np.testing.assert_allclose(there.chance, alone.chance, rtol=1e-10)


def test_the_metric_has_correlations_up_to_so_many_dimensions():
    u = rng().multivariate_normal(np.zeros(2), SKEWED.covariance, size=100_000)
    factor = metric_of(u)
    np.testing.assert_allclose(factor @ factor.T, SKEWED.covariance, atol=0.02)
    for dim, axes in ((CORRELATED_DIMENSIONS, 2), (CORRELATED_DIMENSIONS + 1, 1)):
        assert metric_of(rng().standard_normal((50, dim))).ndim == axes


@pytest.mark.parametrize("bad", [np.full((8, 2), np.nan), np.zeros((8, 2)), np.array([[1.0, np.inf]] * 8)])
def test_chains_without_a_spread_have_no_metric(bad):
    with np.errstate(invalid="ignore"), pytest.raises(np.linalg.LinAlgError):
        metric_of(bad)
