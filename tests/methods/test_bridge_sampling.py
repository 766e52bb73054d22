"""Bridge sampling: the ratio of integrals that are known, and its error."""

import numpy as np
import pytest
from scipy import special, stats

from ppl.methods.correct.bridge_sampling import bridge_sampling, effective_size, variance_of_sets
from ppl.methods.numerics.fixed_noise import sobol


def log_ratio(u, distance=1.5):
    """Of a normal of sd 1.3 to a standard one."""
    return stats.norm.logpdf(u, distance, 1.3) - stats.norm.logpdf(u)


def estimate(seed, distance=1.5, n=512, m=1024):
    rng = np.random.default_rng(seed)
    of_p, of_q = rng.normal(distance, 1.3, n), rng.normal(size=m)
    return bridge_sampling(log_ratio(of_p, distance), log_ratio(of_q, distance), n)


def test_where_the_ratio_is_constant_there_is_no_error():
    assert bridge_sampling(np.full(7, 4.25), np.full(9, 4.25), 7) == pytest.approx((4.25, 0.0), abs=1e-12)


def test_the_equation_of_meng_and_wong_holds():
    """Their optimal bridge at the ratio that was found gives this ratio again."""
    rng = np.random.default_rng(3)
    of_p, of_q = (log_ratio(u) for u in (rng.normal(1.5, 1.3, 40), rng.normal(size=90)))
    r = np.exp(bridge_sampling(of_p, of_q, 20).value)
    s, t = 20 / 110, 90 / 110
    upper = np.mean(np.exp(of_q) / (s * np.exp(of_q) + t * r))
    assert r == pytest.approx(upper / np.mean(1 / (s * np.exp(of_p) + t * r)), rel=1e-10)


@pytest.mark.rotate
@pytest.mark.parametrize("distance", [0.5, 1.5, 3.0])
def test_errors_are_standard_normal_in_standard_errors(distance):
    found = np.array([value / se for value, se in (estimate(seed, distance) for seed in range(100))])
    assert abs(found.mean()) < 0.3 and 0.8 < found.std() < 1.2


def test_the_error_of_sets_of_quasi_random_points_is_that_of_their_means():
    """As of independent points it would be four times as large."""

    def logs(seed):
        rng = np.random.default_rng(seed)
        u = special.ndtri(np.concatenate([sobol(64, 1, rng) for _ in range(16)])[:, 0])
        return special.log_expit(log_ratio(u))

    every = [logs(seed) for seed in range(100)]
    true = np.var([special.logsumexp(each) for each in every])
    told, as_independent = (np.mean([variance_of_sets(each, n) for each in every]) for n in (16, 1024))
    assert 0.7 < told / true < 1.4 and as_independent > 10 * true


def test_densities_that_are_zero_or_overflow_are_part_of_the_mean():
    """A uniform on (0, 1) by draws of one on (0, 4), where p may be 0 or exp(-1e31)."""
    of_q = np.where(np.arange(400) % 4, -np.inf, np.log(4.0))
    for nothing in (-np.inf, -1e31):
        found = bridge_sampling(np.full(300, np.log(4.0)), np.where(of_q > 0, of_q, nothing), 300)
        assert found.value == pytest.approx(0.0, abs=1e-9) and 0.05 < found.se < 0.1


def test_without_overlap_the_error_says_so():
    assert estimate(3, 1.5).se < 0.1 < 0.5 < estimate(3, 30.0).se


def test_repeated_draws_are_worth_one():
    rng = np.random.default_rng(1)
    values, groups = rng.normal(size=600), np.arange(600)
    assert effective_size(np.tile(values, 5), np.tile(groups, 5)) == 600
    assert effective_size(values, groups) == 600
    independent = effective_size(rng.normal(size=3000), np.tile(groups, 5))
    assert 2400 < independent <= 3000
