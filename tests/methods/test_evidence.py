"""The estimators of the evidence, on draws whose distribution is known."""

import numpy as np
import pytest
from scipy import stats

from ppl.kernel.advi.target import Target
from ppl.methods.correct.bridge import fitted, gaussian_at, of_weighted
from ppl.methods.correct.bridge_sampling import bridge_sampling
from ppl.methods.correct.evidence import Densities, Estimates, Evidence, defended, of_weights
from ppl.methods.diagnose.psis import psis, weighted_draws_of


def errors_of(estimate, seeds=60):
    """Errors of an estimate, in standard errors."""
    found = [estimate(np.random.default_rng(seed)) for seed in range(seeds)]
    return np.array([value / se for value, se in found])


def weighted(rng, degrees=5.0, n=2000):
    """Draws of a Student's t weighted towards a normal, whose density is whole."""
    u = rng.standard_t(degrees, n)
    ratios = stats.norm.logpdf(u) - stats.t(degrees).logpdf(u)
    return of_weights(psis(ratios))


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


@pytest.mark.parametrize("estimate", [weighted, heavy, half])
def test_errors_are_standard_normal_in_standard_errors(estimate):
    found = errors_of(estimate)
    assert abs(found.mean()) < 0.4 and 0.75 < found.std() < 1.25


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
        yield bridge_sampling(wide.log_p - wide.log_q, q.log_p - q.log_q, 500)

    for found, plain in zip(estimates(constant), estimates(0.0), strict=True):
        assert found.value - constant == pytest.approx(plain.value, abs=1e-7)
        assert found.se == pytest.approx(plain.se, rel=1e-6)


def test_smoothing_is_of_the_tail_alone():
    """Where nothing is smoothed, it is the mean of the weights."""
    ratios = np.random.default_rng(2).normal(size=20)
    assert of_weights(psis(ratios)).value == pytest.approx(np.log(np.exp(ratios).mean()))


def test_a_gaussian_at_each_mode_with_points_enough():
    u = np.random.default_rng(4).normal(size=(100, 3))
    u[50:] += 9
    found = fitted(u, np.repeat([0, 2], [50, 50]), gaussian_at)
    assert len(found.parts) == 2 and found.parts[1].mean == pytest.approx(u[50:].mean(axis=0))
    assert fitted(u[:3], np.zeros(3, dtype=int), gaussian_at) is None


def test_the_evidence_is_that_of_both_estimates_by_their_precision():
    found = Estimates(Evidence(1.0, 0.1), Evidence(1.3, 0.2))
    assert found.doubt == "" and found.evidence == pytest.approx((1.06, 0.12))
    shifted = Estimates(Evidence(1e8 + 1.0, 0.1), Evidence(1e8 + 1.3, 0.2)).evidence
    assert shifted.value - 1e8 == pytest.approx(1.06, abs=1e-7) and shifted.se == pytest.approx(0.12)


@pytest.mark.parametrize(
    ("estimates", "why"),
    [
        (
            Estimates(Evidence(1.0, 0.1), Evidence(1.7, 0.2)),
            "Two estimates disagree, 1.000 ± 0.100 and",
        ),
        (Estimates(Evidence(1.0, 0.1), Evidence(1.0, 1.1)), "Its standard error would be 1.1 nats"),
        (Estimates(Evidence(np.nan, 0.1), Evidence(1.0, 0.1)), "Its standard error would be"),
        (Estimates(Evidence(1.0, 0.1), Evidence(1.0, 0.1), 0.45), "weights of k-hat 0.45"),
        (Estimates(*[Evidence(1.0, 0.06)] * 2, most=0.05), "Its standard error would be 0.06 nats"),
    ],
)
def test_estimates_that_disagree_or_are_uncertain_tell_nothing(estimates, why):
    assert why in estimates.doubt


class Normals(Target):
    """Independent standard normals and a constant, which may be evaluated so many times."""

    def __init__(self, dim, most=2048):
        self.dim, self.left = dim, most

    def log_densities(self, u):
        self.left -= len(u)
        assert self.left >= 0
        return NORMAL(u).sum(axis=1) + 3.0

    def log_density_gradients(self, u):
        raise AssertionError


@pytest.mark.parametrize(("dim", "most"), [(3, 1024), (300, 0)])
def test_a_bridge_to_weighted_draws(dim, most):
    """In many dimensions from half of the draws themselves, without one evaluation; half have no weight."""
    rng = np.random.default_rng(dim)
    u = 1.02 * rng.normal(size=(4000, dim))
    log_q = stats.norm.logpdf(u, 0, 1.02).sum(axis=1) - np.log(2)
    pool = weighted_draws_of(u, NORMAL(u).sum(axis=1) + 3.0, log_q)
    found = of_weighted(Normals(dim, most), of_weights(pool.weights), pool, 8000, rng)
    one, other = found.one._replace(value=found.one.value - np.log(2)), found.other
    assert abs(one.value - 3.0) < 3 * one.se and 0 < other.se < 0.1
    assert abs(other.value - 3.0) < 3 * other.se
