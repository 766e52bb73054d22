"""The estimators of the evidence, on draws whose distribution is known."""

import numpy as np
import pytest
from scipy import stats

from ppl.inference.correct.bridge import gaussians_at
from ppl.inference.correct.evidence import Densities, bridge, defended, of_weights
from ppl.inference.diagnose.psis import psis


def errors_of(estimate, seeds=60):
    """Errors of an estimate, in standard errors."""
    found = [estimate(np.random.default_rng(seed)) for seed in range(seeds)]
    return np.array([value / se for value, se in found])


def weighted(rng, degrees=5.0, n=2000):
    """Draws of a Student's t weighted towards a normal, whose density is whole."""
    u = rng.standard_t(degrees, n)
    ratios = stats.norm.logpdf(u) - stats.t(degrees).logpdf(u)
    return of_weights(psis(ratios))


def bridged(rng, distance=1.5, n=512, moves=1):
    """A bridge from a normal to another, of sd 1.3 and `apart`, by points that are there `moves` times."""
    q, p = rng.normal(size=2 * n), rng.normal(distance, 1.3, n)

    def log_ratio(u):
        return stats.norm(distance, 1.3).logpdf(u) - stats.norm.logpdf(u)

    particles = np.tile(np.arange(n), moves)
    return bridge(log_ratio(q), log_ratio(np.tile(p, moves)), particles)


NORMAL, WIDE = stats.norm.logpdf, stats.t(2.1).logpdf


def of_normal(log_density, rng, n=8192, inside=np.isfinite):
    """A density by draws of a standard normal and a few of a Student's t; and how many it leaves out."""
    of_q, of_wide = rng.normal(size=n), rng.standard_t(2.1, n // 4)
    left = inside(of_q)

    def at(u):
        return Densities(np.where(inside(u), log_density(u), -np.inf), NORMAL(u), WIDE(u))

    return defended(at(of_q[left]), at(of_wide), int((~left).sum()))


def heavy(rng):
    """A Student's t, in whose tails a normal has no draws."""
    return of_normal(stats.t(4).logpdf, rng)


def half(rng):
    """Half of q is where p is zero."""
    return of_normal(lambda u: NORMAL(u) + np.log(2), rng, inside=lambda u: u > 0)


def test_where_q_is_the_posterior_there_is_no_error():
    value, se = of_normal(lambda u: NORMAL(u) + 7.25, np.random.default_rng(5))
    assert value == pytest.approx(7.25, abs=1e-12) and se < 1e-12


def test_weights_of_a_normal_alone_are_wrong_about_their_error_where_tails_are_heavy():
    def alone(rng):
        ratios = (lambda u: stats.t(4).logpdf(u) - NORMAL(u))(rng.normal(size=8192))
        return of_weights(psis(ratios))

    assert (np.abs(errors_of(alone)) > 3).mean() > 0.2
    assert (np.abs(errors_of(heavy)) > 3).mean() <= 0.03


@pytest.mark.parametrize("estimate", [weighted, bridged, heavy, half])
def test_errors_are_standard_normal_in_standard_errors(estimate):
    found = errors_of(estimate)
    assert abs(found.mean()) < 0.4 and 0.75 < found.std() < 1.25


def test_repeated_points_add_nothing():
    once, often = (bridged(np.random.default_rng(1), moves=moves) for moves in (1, 6))
    assert often == pytest.approx(once, rel=1e-9)


def test_draws_left_out_have_no_weight():
    """A uniform on (0, 1) by draws of one on (0, 4): one of four has a weight, of 4."""
    found = of_weights(psis(np.full(1000, np.log(4.0))), dropped=3000)
    assert found.value == pytest.approx(0) and found.se == pytest.approx(np.sqrt(0.75 / 1000))


def test_a_density_that_overflows_at_a_draw_changes_nothing():
    """exp(exp(u)) at a distant draw: the evidence was that of the weights alone, -log(2001)."""
    ratios = np.random.default_rng(6).normal(size=2000)
    expected = of_weights(psis(ratios))
    found = of_weights(psis(np.append(ratios, -1e31)))
    assert found.value == pytest.approx(expected.value + np.log(2000 / 2001), abs=1e-3)


@pytest.mark.parametrize("constant", [1e3, 1e8, -1e8])
def test_a_constant_of_the_target_is_one_of_the_evidence(constant):
    """To the rounding of log densities so large."""
    rng = np.random.default_rng(7)
    of_q, of_wide = rng.normal(size=2000), rng.standard_t(2.1, 500)

    def estimates(constant):
        def at(u):
            return Densities(stats.t(4).logpdf(u) + constant, NORMAL(u), WIDE(u))

        q, wide = at(of_q), at(of_wide)
        yield of_weights(psis(q.log_p - q.log_q))
        yield defended(q, wide)
        yield bridge(q.log_p - q.log_q, wide.log_p - wide.log_q, np.arange(500))

    for found, plain in zip(estimates(constant), estimates(0.0), strict=True):
        assert found.value - constant == pytest.approx(plain.value, abs=1e-7)
        assert found.se == pytest.approx(plain.se, rel=1e-6)


def test_smoothing_is_of_the_tail_alone():
    """Where nothing is smoothed, it is the mean of the weights."""
    ratios = np.random.default_rng(2).normal(size=20)
    assert of_weights(psis(ratios)).value == pytest.approx(np.log(np.exp(ratios).mean()))


def test_without_overlap_the_error_says_so():
    near, far = (bridged(np.random.default_rng(3), distance) for distance in (1.5, 9.0))
    assert near.se < 0.1 < 0.5 < far.se


def test_a_gaussian_at_each_mode_with_points_enough():
    u = np.random.default_rng(4).normal(size=(100, 3))
    u[50:] += 9
    found = gaussians_at(u, np.repeat([0, 2], [50, 50]))
    assert found.modes == 2 and found.parts[1].mean == pytest.approx(u[50:].mean(axis=0))
    assert gaussians_at(u[:3], np.zeros(3, dtype=int)) is None
