"""Directions in which many dimensions are wider, and chains that move in them."""

import numpy as np
import pytest
from toy_targets import Gaussian

from ppl.methods.moves.metric import CORRELATED_DIMENSIONS, Directions, Metric, directions_of, learnt
from ppl.methods.moves.sampler import Sampler
from ppl.methods.moves.trajectories import chains_at

DIM = CORRELATED_DIMENSIONS + 100


def shared(shares: float, n: int, seed: int = 1) -> np.ndarray:
    """Points (n, DIM) of unit variances, of which a mean has that share."""
    rng = np.random.default_rng(seed)
    return np.sqrt(shares) * rng.normal(size=(n, 1)) + np.sqrt(1 - shares) * rng.normal(size=(n, DIM))


def dense(directions: Directions) -> np.ndarray:
    return directions.times(np.eye(DIM)).T


def test_a_transpose_is_that_of_the_map():
    directions = directions_of(shared(0.1, 400), np.linspace(1, 2, DIM))
    x = np.random.default_rng(2).normal(size=(3, DIM))
    np.testing.assert_allclose(directions.times(x), x @ dense(directions).T)
    np.testing.assert_allclose(directions.transposed_times(x), x @ dense(directions))


@pytest.mark.parametrize("n", [128, 600, 5000])
def test_a_mean_that_all_share_is_a_direction(n):
    factor = learnt(shared(0.1, n), np.ones(DIM))
    assert isinstance(factor, Directions)
    mean = np.ones(DIM) / np.sqrt(DIM)
    variance = 0.1 * DIM + 0.9
    learned = ((mean @ dense(factor)) ** 2).sum()
    assert 0.35 * variance < learned < 1.35 * variance
    assert abs(mean @ factor.axes[:, -1]) > 0.8


@pytest.mark.parametrize("n", [64, 256, 2000])
def test_noise_is_none(n):
    u = np.random.default_rng(n).normal(size=(n, DIM)) * np.linspace(0.1, 10, DIM)
    factor = learnt(u, np.ones(DIM))
    assert isinstance(factor, np.ndarray)
    np.testing.assert_allclose(factor, u.std(axis=0))


def test_chains_forget_a_shared_mean_in_as_few_moves_as_the_rest():
    """By sds alone the mean takes some ten moves for each independent draw."""
    target = Gaussian(np.zeros(DIM), 0.9 * np.eye(DIM) + 0.1)
    start = shared(0.1, 128, seed=3)
    sampler = Sampler(target, chains_at(target, start), np.random.default_rng(4))
    for moves in (2, 4, 6, 10):
        sampler.stage(moves)
    means = sampler.stage(30).u.mean(axis=2)
    before, after = means[:-1].ravel(), means[1:].ravel()
    assert np.corrcoef(before, after)[0, 1] < 0.5
    assert means.var() == pytest.approx(0.1 + 0.9 / DIM, rel=0.2)


def test_variances_are_those_of_the_map():
    directions = directions_of(shared(0.1, 400), np.linspace(1, 2, DIM))
    both = Metric((directions, directions), 2)
    np.testing.assert_allclose(both.variances, (dense(directions) ** 2).sum(axis=1))
