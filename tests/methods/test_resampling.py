"""Resampling takes draws in proportion to their weights, and with the moments of all."""

import numpy as np
import pytest
from scipy.special import logsumexp

from ppl.methods.correct.resampling import balanced, systematic


def rng(seed=0):
    return np.random.default_rng(seed)


def test_systematic_resampling_takes_each_draw_as_often_as_expected_to_within_one():
    log_weights = rng().normal(size=50)
    expected = 200 * np.exp(log_weights - logsumexp(log_weights))
    counts = np.bincount(systematic(log_weights, 200, rng(1)), minlength=50)
    assert (np.abs(counts - expected) < 1).all()


def test_a_balanced_sample_has_the_moments_of_the_weighted_pool():
    u, log_weights = rng().normal(size=(5000, 4)), rng(1).normal(size=5000)
    weights = np.exp(log_weights - logsumexp(log_weights))
    chosen = balanced(u, log_weights, 1000, rng(2))
    off = u[chosen].mean(axis=0) - weights @ u
    assert np.abs(off).max() < 0.003
    assert np.abs((u[chosen] ** 2).mean(axis=0) - weights @ u**2).max() < 0.01
    counts = np.bincount(chosen, minlength=5000)
    # Exchanges touch no more than a third of the draws: the rest is systematic.
    assert np.abs(counts - 1000 * weights).sum() < 1200


class Counted(np.random.Generator):
    """Counts its rounds of uniform numbers."""

    rounds = 0

    def random(self, *size):
        self.rounds += 1
        return super().random(*size)


def test_rounds_end_when_exchanges_gain_no_more():
    u, counted = rng().normal(size=(5000, 4)), Counted(np.random.PCG64(2))
    chosen = balanced(u, np.zeros(5000), 1000, counted)
    assert counted.rounds < 200, "of 300"
    assert np.abs(u[chosen].mean(axis=0) - u.mean(axis=0)).max() < 0.003, "a tenth of the standard error"


def test_tails_of_balanced_samples_differ_as_little_as_those_of_independent_draws():
    """The sds of exp(u), whose standard error is 0.059 of them for 1,000 draws of this gamma distribution."""
    x = rng(2).gamma(0.5, 1.0, (8192, 1))
    sds = [x[balanced(np.log(x), np.zeros(8192), 1000, rng(k))].std() for k in range(40)]
    assert np.std(sds) < 0.075 * x.std() and np.mean(sds) == pytest.approx(x.std(), rel=0.03)


def test_tails_of_balanced_samples_are_those_of_the_pool():
    """Of z = x^2 + e / 2, whose tails follow from no mean or sd; a share has an error of 0.0069 by chance."""
    x, e = rng().normal(size=(2, 8192))
    u = np.column_stack([x, x**2 + e / 2])
    low, high = np.quantile(u, [0.05, 0.95], axis=0)
    samples = [u[balanced(u, np.zeros(8192), 1000, rng(k))] for k in range(10)]
    shares = np.array([[(own < low).mean(axis=0), (own > high).mean(axis=0)] for own in samples])
    assert np.sqrt(((shares - 0.05) ** 2).mean(axis=0)).max() < 0.0035


@pytest.mark.rotate
def test_every_seed_draws_the_pool_in_proportion():
    u, log_weights = np.linspace(-1, 1, 20)[:, None], np.log(np.arange(1, 21.0))
    counts = sum(np.bincount(balanced(u, log_weights, 50, rng(k)), minlength=20) for k in range(200))
    np.testing.assert_allclose(counts / 10_000, np.arange(1, 21) / 210, atol=0.012)
